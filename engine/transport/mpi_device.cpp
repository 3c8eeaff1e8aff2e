// Transport `mpi-device`: addresses of device memory passed directly to an MPI library that accepts them.
#include <dlfcn.h>
#include <fmt/format.h>

#include "transport/mpi_messages.hpp"

namespace plumb {

namespace {

const TransportInfo device_info{"mpi-device", "MPI on device memory, by a library that takes its addresses", "host",
                                "buffered"};

// Query of Open MPI and MPICH, looked up at run time, as some versions lack it.
std::string unfit_library(const World& world) {
  if (world.info().kind != "mpi") return "it needs a world over MPI";
  const auto query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  if (query == nullptr)
    return fmt::format(
        "{} declares no support of device memory (MPIX_Query_cuda_support is missing); "
        "use pipelined, or peer on one host",
        world.info().library);
  if (query() == 0)
    return fmt::format(
        "{} takes no addresses of device memory (MPIX_Query_cuda_support returns 0): build it with CUDA, or "
        "use pipelined, or peer on one host",
        world.info().library);
  return "";
}

class MpiDeviceTransport : public Transport {
 public:
  explicit MpiDeviceTransport(World& world) : world_(world), communicator_(transport_communicator(world)) {}
  const TransportInfo& info() const override { return device_info; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return compile_mpi(exchange, communicator_, [](const BufferView& view) {
      if (view.device_address() == nullptr)
        throw Unsupported(
            "transport mpi-device needs a device whose memory has addresses that MPI takes: use --runtime cuda");
      return view.device_address();
    });
  }

 private:
  World& world_;
  MPI_Comm communicator_;
};

TransportEntry entry() {
  TransportEntry entry;
  entry.info = device_info;
  entry.runtime = "cuda";
  entry.reason = unfit_library;
  entry.device_reason = [](const DeviceInfo& info) -> std::string {
    return info.runtime == "cuda" ? "" : "MPI libraries support device memory of runtime cuda only";
  };
  entry.make = [](World& world, Device&, const TransportWish&) { return std::make_unique<MpiDeviceTransport>(world); };
  return entry;
}

const RegisteredTransport registered_mpi_device("mpi-device", entry());

}  // namespace

}  // namespace plumb
