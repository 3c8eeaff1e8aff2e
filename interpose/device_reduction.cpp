#include "interpose/device_reduction.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "interpose/call.hpp"
#include "interpose/collective_operands.hpp"
#include "interpose/reduction_form.hpp"
#include "interpose/startup.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

// Fewer bytes are sooner reduced by MPI.
std::size_t least_bytes() {
  static const std::size_t bytes = [] {
    const char* text = std::getenv("PLUMB_MPI_REDUCE_FROM");
    return text == nullptr ? std::size_t{64} << 10 : std::strtoull(text, nullptr, 10);
  }();
  return bytes;
}

// A communicator's copy, which no message of the program's is on; kept as an attribute.
int end_copy(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<MPI_Comm> copy(static_cast<MPI_Comm*>(value));
  return is_finalizing() ? MPI_SUCCESS : PMPI_Comm_free(copy.get());
}

MPI_Comm copy_of(MPI_Comm comm) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_copy, &made, nullptr);
    return made;
  }();
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key, static_cast<void*>(&known), &found);
  if (found != 0) return *static_cast<MPI_Comm*>(known);
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  PMPI_Comm_dup(comm, copy.get());
  const MPI_Comm result = *copy;
  PMPI_Comm_set_attr(comm, key, copy.release());
  return result;
}

// Memory of a device that ends with this.
class Scratch {
 public:
  Scratch(const std::shared_ptr<OpenDevice>& device, std::size_t bytes) {
    auto memory = std::make_shared<DeviceMemory>();
    memory->device = device;
    memory->share(bytes);
    address_ = static_cast<std::byte*>(buffers().add(bytes, std::move(memory)));
  }
  ~Scratch() { buffers().remove(address_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* address() const { return address_; }

 private:
  std::byte* address_;
};

// What one rank's operands lie on; null where that is no memory for this. A rank that gets no result has no `to`.
std::shared_ptr<OpenDevice> device_of(const void* from, const void* to, std::size_t bytes, const ReductionForm& form) {
  std::shared_ptr<OpenDevice> device;
  for (const void* operand : {from, to}) {
    if (operand == nullptr || operand == MPI_IN_PLACE) continue;
    if (!is_device(operand)) return nullptr;
    const Place place = buffers().find(operand, 0, static_cast<std::ptrdiff_t>(bytes));
    if (place.memory->handle.empty() || (device && device != place.memory->device)) return nullptr;
    device = place.memory->device;
  }
  return device && has_numbers(device->info(), form.type) ? device : nullptr;
}

// The kernels of all devices. One thread at a time sets a kernel's arguments.
class Combiners {
 public:
  // into[i] and from[i] of `count` numbers, to into.
  void combine(OpenDevice& device, const ReductionForm& form, const Place& into, const Place& from, std::size_t count) {
    const Staging staging = device.stage(1);
    {
      const std::scoped_lock lock(mutex_);
      Kernel& kernel = kernel_of(device, form);
      kernel.set({into.memory->buffer.get(), std::uint64_t{into.offset / size_of(form.type)}, from.memory->buffer.get(),
                  std::uint64_t{count}});
      staging.queue().enqueue(kernel, combine_range(count));
    }
    wait_for(staging.queue(), device.info());
  }

 private:
  struct Combiner {
    std::unique_ptr<Program> program;
    std::unique_ptr<Kernel> kernel;
  };

  Kernel& kernel_of(OpenDevice& device, const ReductionForm& form) {
    Combiner& known = known_[{&device, form}];
    if (!known.kernel) {
      known.program = device.alone([&](Device& its) { return its.build(combine_source(form.type, form.operation)); });
      known.kernel = known.program->kernel("combine");
    }
    return *known.kernel;
  }

  std::mutex mutex_;
  std::map<std::pair<OpenDevice*, ReductionForm>, Combiner> known_;
};

Combiners& combiners() {
  static Combiners& only = *std::make_unique<Combiners>().release();
  return only;
}

void copy_within(OpenDevice& device, const void* from, void* to, std::size_t bytes) {
  const Place source = buffers().find(from, 0, static_cast<std::ptrdiff_t>(bytes));
  const Place target = buffers().find(to, 0, static_cast<std::ptrdiff_t>(bytes));
  const Staging staging = device.stage(1);
  staging.queue().enqueue_copy({source.memory->buffer.get(), source.offset, bytes},
                               {target.memory->buffer.get(), target.offset, bytes});
  wait_for(staging.queue(), device.info());
}

// One reduction of the numbers at `work` on the ranks of a communicator.
class Ring {
 public:
  Ring(MPI_Comm comm, std::shared_ptr<OpenDevice> device, const ReductionForm& form, MPI_Datatype type, std::byte* work,
       int count)
      : comm_(comm),
        device_(std::move(device)),
        form_(form),
        type_(type),
        work_(work),
        count_(count),
        rank_(rank_in(comm)),
        ranks_(size_of(comm)) {}

  // Then block `rank` is what all ranks' are together.
  int reduce_blocks() const {
    const Scratch came(device_, std::max<std::size_t>(bytes_of(0), 1));
    for (int step = 0; step < ranks_ - 1; ++step) {
      const int comes = block(rank_ - step - 2);
      if (const int code = exchange(block(rank_ - step - 1), came.address(), comes); code != MPI_SUCCESS) return code;
      if (length(comes) == 0) continue;
      const auto bytes = static_cast<std::ptrdiff_t>(bytes_of(comes));
      combiners().combine(*device_, form_, buffers().find(at(comes), 0, bytes),
                          buffers().find(came.address(), 0, bytes), static_cast<std::size_t>(length(comes)));
    }
    return MPI_SUCCESS;
  }
  int gather_to_all() const {
    for (int step = 0; step < ranks_ - 1; ++step) {
      const int comes = block(rank_ - step - 1);
      if (const int code = exchange(block(rank_ - step), at(comes), comes); code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }
  int gather_to(int root) const {
    if (rank_ != root) return MPI_Send(at(rank_), length(rank_), type_, root, 0, comm_);
    for (int other = 0; other < ranks_; ++other) {
      if (other == root) continue;
      const int code = MPI_Recv(at(other), length(other), type_, other, 0, comm_, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

 private:
  int block(int number) const { return (number % ranks_ + ranks_) % ranks_; }
  // The first ones are longer by one where they must be.
  int length(int number) const { return count_ / ranks_ + (number < count_ % ranks_ ? 1 : 0); }
  int first(int number) const { return number * (count_ / ranks_) + std::min(number, count_ % ranks_); }
  std::size_t bytes_of(int number) const {
    return static_cast<std::size_t>(length(number)) * plumb::size_of(form_.type);
  }
  std::byte* at(int number) const {
    return work_ + static_cast<std::size_t>(first(number)) * plumb::size_of(form_.type);
  }

  // A block goes to the next rank, another comes from the last.
  int exchange(int goes, std::byte* to, int comes) const {
    return MPI_Sendrecv(at(goes), length(goes), type_, block(rank_ + 1), 0, to, length(comes), type_, block(rank_ - 1),
                        0, comm_, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_;
  std::shared_ptr<OpenDevice> device_;
  ReductionForm form_;
  MPI_Datatype type_;
  std::byte* work_;
  int count_, rank_, ranks_;
};

}  // namespace

std::optional<int> reduce_on_devices(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm comm) {
  if (!offers_on || between_groups(comm) || size_of(comm) < 2 || count <= 0) return {};
  const auto form = reduction_form(type, op);
  if (!form) return {};
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(form->type);
  if (bytes < least_bytes()) return {};
  const MPI_Comm copy = copy_of(comm);
  const bool gets = root == everyone || root == rank_in(comm);
  const auto device = device_of(from, gets ? to : nullptr, bytes, *form);
  const int own = device ? 1 : 0;
  int all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, copy);
  if (all == 0) return {};

  // The kernel knows numbers by their index in the buffer.
  const bool works_in_place = gets && buffers().find(to, 0, 1).offset % size_of(form->type) == 0;
  std::optional<Scratch> scratch;
  if (!works_in_place) scratch.emplace(device, bytes);
  auto* work = works_in_place ? static_cast<std::byte*>(to) : scratch->address();
  const void* source = from == MPI_IN_PLACE ? to : from;
  if (source != work) copy_within(*device, source, work, bytes);
  const Ring ring(copy, device, *form, type, work, count);
  int code = ring.reduce_blocks();
  if (code == MPI_SUCCESS) code = root == everyone ? ring.gather_to_all() : ring.gather_to(root);
  if (code == MPI_SUCCESS && gets && !works_in_place) copy_within(*device, work, to, bytes);
  return code;
}

}  // namespace plumb::interpose
