#include "transport/accl/collectives.hpp"

#include <algorithm>
#include <cstring>

namespace plumb::accl {

namespace {

constexpr int flat_broadcast = 3, flat_reduction = 4;  // ranks; ACCL's own settings

std::size_t element_bytes(std::uint32_t type) {
  switch (static_cast<Type>(type)) {
    case Type::int8:
      return 1;
    case Type::float16:
      return 2;
    case Type::float32:
    case Type::int32:
      return 4;
    case Type::float64:
    case Type::int64:
      return 8;
  }
  return 0;
}

bool reduces(Call call) {
  return call == Call::combine || call == Call::reduce || call == Call::allreduce || call == Call::reduce_scatter;
}

// Builds the stages of one rank.
class Builder {
 public:
  Builder(const Command& command, int rank, int ranks, bool eager)
      : rank_(rank),
        ranks_(ranks),
        root_(static_cast<int>(command.peer)),
        eager_(eager),
        bytes_(bytes_of(command)),
        element_(element_bytes(command.type)),
        operand_(command.get_address(0)),
        result_(command.get_address(2)) {}

  Schedule take() { return std::move(made_); }

  void broadcast() { broadcast_from(root_, operand_); }

  void scatter() { scatter_from(root_, operand_); }

  void gather() {
    if (!eager_) return gather_at_root();
    const int after_root = distance(root_);
    if (after_root == 0) {
      copy(operand_, result_ + offset(rank_));
      for (int i = 1; i < ranks_; ++i) stage({{before(), result_ + offset(wrapped(rank_ - i)), bytes_}}, {});
      return;
    }
    stage({}, {{next(), operand_, bytes_}});
    std::byte* const passing = scratch(bytes_);
    for (int i = 1; i < after_root; ++i) {
      stage({{before(), passing, bytes_}}, {});
      stage({}, {{next(), passing, bytes_}});
    }
  }

  void allgather() {
    copy(operand_, result_ + offset(rank_));
    around(result_, 0, [&](int part) { return extent(offset(part), bytes_); });
  }

  void reduce() { reduce_to(root_, operand_, bytes_, result_); }

  void allreduce() {
    if (!eager_ || ranks_ == 1) {
      reduce_to(0, operand_, bytes_, result_);
      return broadcast_from(0, result_);
    }
    // Parts of equal size, but the last ones shorter.
    const std::uint64_t elements = bytes_ / element_,
                        part = (elements + static_cast<std::uint64_t>(ranks_) - 1) / static_cast<std::uint64_t>(ranks_);
    const auto part_of = [&](int number) {
      const std::uint64_t begin = std::min(elements, part * static_cast<std::uint64_t>(wrapped(number)));
      return extent(begin * element_, (std::min(elements, begin + part) - begin) * element_);
    };
    copy(operand_, result_);
    std::byte* const came = scratch(part * element_);
    for (int i = 0; i + 1 < ranks_; ++i) {
      const Extent out = part_of(rank_ - i), in = part_of(rank_ - i - 1);
      Stage& made = stage({{before(), came, in.bytes}}, {{next(), result_ + out.begin, out.bytes}});
      made.then.push_back({result_ + in.begin, came, result_ + in.begin, in.bytes});
    }
    around(result_, 1, part_of);
  }

  void reduce_scatter() {
    const std::uint64_t all = bytes_ * static_cast<std::uint64_t>(ranks_);
    if (!eager_ || ranks_ == 1) {
      std::byte* const sum = scratch(all);
      reduce_to(0, operand_, all, sum);
      return scatter_from(0, sum);
    }
    std::byte *const came = scratch(bytes_), *const sum = scratch(bytes_);
    for (int i = 0; i + 1 < ranks_; ++i) {
      const bool first = i == 0, last = i + 2 == ranks_;
      std::byte* const out = first ? operand_ + offset(wrapped(rank_ - 1)) : sum;
      Stage& made = stage({{before(), came, bytes_}}, {{next(), out, bytes_}});
      made.then.push_back({operand_ + offset(wrapped(rank_ - i - 2)), came, last ? result_ : sum, bytes_});
    }
  }

  void barrier() {
    std::vector<Part> others;
    for (int rank = 1; rank < ranks_; ++rank) others.push_back({rank, nullptr, 0});
    const std::vector<Part> first{{0, nullptr, 0}};
    if (rank_ == 0) {
      stage(others, {});
      stage({}, others);
    } else {
      stage({}, first);
      stage(first, {});
    }
  }

  void all_to_all() {
    copy(operand_ + offset(rank_), result_ + offset(rank_));
    std::vector<Part> receives, sends;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_) continue;
      receives.push_back({rank, result_ + offset(rank), bytes_});
      sends.push_back({rank, operand_ + offset(rank), bytes_});
    }
    stage(receives, sends);
  }

 private:
  struct Extent {
    std::uint64_t begin, bytes;
  };
  static Extent extent(std::uint64_t begin, std::uint64_t bytes) { return {begin, bytes}; }

  int wrapped(int rank) const { return (rank % ranks_ + ranks_) % ranks_; }
  int next() const { return wrapped(rank_ + 1); }
  int before() const { return wrapped(rank_ - 1); }
  int distance(int root) const { return wrapped(rank_ - root); }
  std::uint64_t offset(int part) const { return bytes_ * static_cast<std::uint64_t>(part); }

  Stage& stage(std::vector<Part> receives, std::vector<Part> sends) {
    return made_.stages.emplace_back(Stage{std::move(receives), std::move(sends), {}});
  }
  void copy(const std::byte* from, std::byte* to) { stage({}, {}).then.push_back({from, nullptr, to, bytes_}); }
  std::byte* scratch(std::uint64_t bytes) { return made_.scratch.emplace_back(static_cast<std::size_t>(bytes)).data(); }

  // Each rank has part `rank + ahead`, and gets the others from the rank before it.
  template <class PartOf>
  void around(std::byte* parts, int ahead, PartOf part_of) {
    for (int i = 0; i + 1 < ranks_; ++i) {
      const Extent out = part_of(wrapped(rank_ + ahead - i)), in = part_of(wrapped(rank_ + ahead - i - 1));
      stage({{before(), parts + in.begin, in.bytes}}, {{next(), parts + out.begin, out.bytes}});
    }
  }

  void broadcast_from(int root, std::byte* at) {
    const int own = distance(root);
    if (eager_ || ranks_ <= flat_broadcast) {
      std::vector<Part> others;
      for (int i = 1; i < ranks_; ++i) others.push_back({wrapped(root + i), at, bytes_});
      own == 0 ? stage({}, others) : stage({{root, at, bytes_}}, {});
      return;
    }
    int step = 1;
    while (2 * step < ranks_) step *= 2;
    for (; step > 0; step /= 2) {
      if (own % (2 * step) == 0 && own + step < ranks_) stage({}, {{wrapped(rank_ + step), at, bytes_}});
      if (own % (2 * step) == step) stage({{wrapped(rank_ - step), at, bytes_}}, {});
    }
  }

  void scatter_from(int root, std::byte* parts) {
    if (rank_ != root) {
      stage({{root, result_, bytes_}}, {});
      return;
    }
    copy(parts + offset(rank_), result_);
    std::vector<Part> others;
    for (int rank = 0; rank < ranks_; ++rank)
      if (rank != rank_) others.push_back({rank, parts + offset(rank), bytes_});
    stage({}, others);
  }

  void gather_at_root() {
    if (rank_ != root_) {
      stage({}, {{root_, operand_, bytes_}});
      return;
    }
    copy(operand_, result_ + offset(rank_));
    std::vector<Part> others;
    for (int rank = 0; rank < ranks_; ++rank)
      if (rank != rank_) others.push_back({rank, result_ + offset(rank), bytes_});
    stage(others, {});
  }

  void reduce_to(int root, std::byte* from, std::uint64_t bytes, std::byte* to) {
    const int own = distance(root);
    if (ranks_ == 1)
      stage({}, {}).then.push_back({from, nullptr, to, bytes});
    else if (eager_)
      reduce_by_chain(own, from, bytes, to);
    else if (ranks_ <= flat_reduction)
      reduce_flat(root, from, bytes, to);
    else
      reduce_by_tree(own, from, bytes, to);
  }

  // From the rank after the root on, each adds its own.
  void reduce_by_chain(int own, std::byte* from, std::uint64_t bytes, std::byte* to) {
    std::byte* sum = from;
    if (own != 1) {
      sum = own == 0 ? to : scratch(bytes);
      std::byte* const came = scratch(bytes);
      stage({{before(), came, bytes}}, {}).then.push_back({from, came, sum, bytes});
    }
    if (own != 0) stage({}, {{next(), sum, bytes}});
  }

  void reduce_flat(int root, std::byte* from, std::uint64_t bytes, std::byte* to) {
    if (rank_ != root) {
      stage({}, {{root, from, bytes}});
      return;
    }
    Stage made;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == root) continue;
      std::byte* const came = scratch(bytes);
      made.receives.push_back({rank, came, bytes});
      made.then.push_back({made.then.empty() ? from : to, came, to, bytes});
    }
    made_.stages.push_back(std::move(made));
  }

  void reduce_by_tree(int own, std::byte* from, std::uint64_t bytes, std::byte* to) {
    std::byte* sum = from;
    std::byte *const came = scratch(bytes), *const place = own == 0 ? to : scratch(bytes);
    for (int step = 1; step < ranks_; step *= 2) {
      if (own % (2 * step) != 0) {
        stage({}, {{wrapped(rank_ - step), sum, bytes}});
        return;
      }
      if (own + step >= ranks_) continue;
      stage({{wrapped(rank_ + step), came, bytes}}, {}).then.push_back({sum, came, place, bytes});
      sum = place;
    }
  }

  const int rank_, ranks_, root_;
  const bool eager_;
  const std::uint64_t bytes_, element_;
  std::byte *const operand_, *const result_;
  Schedule made_;
};

template <class T>
void combine_elements(Function function, const Local& operands) {
  for (std::uint64_t at = 0; at + sizeof(T) <= operands.bytes; at += sizeof(T)) {
    T left, right;
    std::memcpy(&left, operands.left + at, sizeof left);
    std::memcpy(&right, operands.right + at, sizeof right);
    left = function == Function::max ? std::max(left, right) : static_cast<T>(left + right);
    std::memcpy(operands.to + at, &left, sizeof left);
  }
}

}  // namespace

bool is_collective(Call call) {
  return call >= Call::bcast && call <= Call::alltoall;
}

std::uint32_t problem_of(const Command& command) {
  const auto type = static_cast<Type>(command.type);
  if (element_bytes(command.type) == 0 || command.communicator != 0) return status::not_implemented;
  if (command.compression != 0) return status::no_compression;
  const bool computes =
      type != Type::int8 && type != Type::float16 && command.function <= static_cast<std::uint32_t>(Function::max);
  return reduces(command.call) && !computes ? status::no_arithmetic : status::done;
}

std::uint64_t bytes_of(const Command& command) {
  return std::uint64_t{command.elements} * element_bytes(command.type);
}

Schedule schedule_of(const Command& command, int rank, int ranks, bool eager) {
  Builder builder(command, rank, ranks, eager);
  switch (command.call) {
    case Call::bcast:
      builder.broadcast();
      break;
    case Call::scatter:
      builder.scatter();
      break;
    case Call::gather:
      builder.gather();
      break;
    case Call::reduce:
      builder.reduce();
      break;
    case Call::allgather:
      builder.allgather();
      break;
    case Call::allreduce:
      builder.allreduce();
      break;
    case Call::reduce_scatter:
      builder.reduce_scatter();
      break;
    case Call::alltoall:
      builder.all_to_all();
      break;
    default:
      builder.barrier();
  }
  return builder.take();
}

void combine(const Command& command, const Local& operands) {
  const auto function = static_cast<Function>(command.function);
  switch (static_cast<Type>(command.type)) {
    case Type::float32:
      return combine_elements<float>(function, operands);
    case Type::float64:
      return combine_elements<double>(function, operands);
    case Type::int32:
      return combine_elements<std::int32_t>(function, operands);
    default:
      return combine_elements<std::int64_t>(function, operands);
  }
}

}  // namespace plumb::accl
