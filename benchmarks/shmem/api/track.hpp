// Positions of a sample's messages: each keeps at least a part of its place that no later message overwrites, so every
// message can be verified afterwards. Pure arithmetic; all lengths are in elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace plumb::shmem_api {

// Successive messages cycle through `places`, `step` places apart; in each pass over them messages are shifted by
// `block` elements (backwards: by -block), until after `passes` the cycle repeats. A message leaves its first `block`
// elements, or all of it in the last pass.
struct Track {
  std::size_t length = 1;  // of a message, including gaps between its elements
  std::size_t places = 1, pitch = 1, step = 1;
  std::size_t passes = 1, block = 0;
  bool backwards = false;

  std::size_t elements() const { return places * pitch; }
  // Contiguous messages.
  bool is_packed() const { return passes == 1 && step == 1 && pitch == length; }

  std::size_t place_of(std::uint64_t message) const { return message % places * step % places; }
  std::size_t shift_of(std::uint64_t message) const {
    const std::size_t pass = message / places % passes;
    return (backwards ? passes - 1 - pass : pass) * block;
  }
  // Position of a message.
  std::size_t begin_of(std::uint64_t message) const { return place_of(message) * pitch + shift_of(message); }

  // The first message at a place.
  std::uint64_t first_at(std::size_t place) const {
    if (step == 1) return place;
    std::size_t inverse = step;  // modulo a power of two, each round doubles the number of right digits
    for (int round = 0; round < 6; ++round) inverse *= 2 - step * inverse;
    return place * inverse % places;
  }

  // Calls part(begin, end, message, offset) for the parts of a place, in order and without gaps: elements [begin, end)
  // of the place hold the elements from `offset` on of that message of `count`; no message for unwritten parts. For
  // forward tracks.
  template <class Use>
  void for_parts(std::size_t place, std::uint64_t count, Use part) const;
};

template <class Use>
void Track::for_parts(std::size_t place, std::uint64_t count, Use part) const {
  const std::uint64_t first = first_at(place);
  if (first >= count) {
    part(std::size_t{0}, pitch, std::optional<std::uint64_t>{}, std::size_t{0});
    return;
  }
  const std::uint64_t visits = (count - 1 - first) / places + 1;
  const std::size_t last = (visits - 1) % passes;  // pass of the last message
  const auto message_of = [&](std::uint64_t visit) { return std::optional(first + visit * places); };
  const std::uint64_t round = visits - 1 - last;  // first visit of this cycle of passes
  std::size_t at = 0;
  for (std::size_t pass = 0; pass <= last; ++pass) {
    const std::size_t end = pass == last ? pass * block + length : (pass + 1) * block;
    part(at, end, message_of(round + pass), at - pass * block);
    at = end;
  }
  if (round > 0)  // remainder of the previous cycle
    for (std::size_t pass = block == 0 ? passes : at / block; at < (passes - 1) * block + length; ++pass) {
      pass = std::min(pass, passes - 1);
      const std::size_t end = pass == passes - 1 ? pass * block + length : (pass + 1) * block;
      part(at, end, message_of(round - passes + pass), at - pass * block);
      at = end;
    }
  if (at < pitch) part(at, pitch, std::optional<std::uint64_t>{}, std::size_t{0});
}

// Iterates over a track message by message, in the timed loop.
template <class T>
class Walker {
 public:
  Walker(T* base, const Track& track)
      : first_(base + track.shift_of(0)),
        base_(first_),
        at_(first_),
        step_(track.step * track.pitch),
        around_(track.elements()),
        shift_(track.backwards ? -static_cast<std::ptrdiff_t>(track.block) : static_cast<std::ptrdiff_t>(track.block)),
        places_(track.places),
        passes_(track.passes),
        places_left_(places_),
        passes_left_(passes_) {}

  T* at() const { return at_; }

  void next() {
    if (--places_left_ == 0) {
      places_left_ = places_;
      base_ += shift_;
      if (--passes_left_ == 0) {
        passes_left_ = passes_;
        base_ = first_;
      }
      at_ = base_;
      return;
    }
    at_ += step_;
    if (at_ >= base_ + around_) at_ -= around_;
  }

 private:
  T *first_, *base_, *at_;
  std::size_t step_, around_;
  std::ptrdiff_t shift_;
  std::uint64_t places_, passes_, places_left_, passes_left_;
};

}  // namespace plumb::shmem_api
