// Streams of runtime `hls`: between two kernels, within a kernel, or through a pipe to another process.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "device/hls/include/plumb_hls.h"

namespace plumb::hls {

// Set once a kernel of a program has failed: the others then end their waits.
using Failed = std::shared_ptr<std::atomic<bool>>;

// Of at most `capacity` elements; one thread writes and one reads. Waits end with an Error that names the stream, after
// kernel_patience_s.
std::unique_ptr<plumb_hls::Fifo> make_fifo(const std::string& name, std::size_t element_bytes, std::size_t capacity,
                                           Failed failed);

// One direction through a file, which is opened here (a named pipe, or /proc/self/fd/N). Elements are written whole, so
// they have at most PIPE_BUF bytes. A reader reads ahead, so it is the pipe's only one.
std::unique_ptr<plumb_hls::Fifo> make_pipe_fifo(const std::string& name, std::size_t element_bytes,
                                                const std::string& file, Failed failed);

}  // namespace plumb::hls
