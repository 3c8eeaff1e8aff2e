// Creation of windows over device memory, with displacement units of type int and MPI_Aint.
#pragma once

#include "interpose/windows/window.hpp"

namespace plumb::interpose {

template <auto create, class Unit>
int create_by(const char* name, void* base, MPI_Aint size, Unit unit, MPI_Info info, MPI_Comm comm, MPI_Win* handle) {
  return or_abort(name, [&] {
    if (size <= 0) return create(nullptr, size, unit, info, comm, handle);  // an empty window
    auto memory = std::make_unique<WindowMemory>(base, static_cast<std::size_t>(size));
    const int code = create(memory->bytes(), size, unit, info, comm, handle);
    if (code == MPI_SUCCESS) add_window(*handle, std::move(memory));
    return code;
  });
}

}  // namespace plumb::interpose
