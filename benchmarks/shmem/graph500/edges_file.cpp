#include "benchmarks/shmem/graph500/edges_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace plumb::graph500 {

namespace {

static_assert(sizeof(Edge) == 2 * sizeof(std::int64_t));

constexpr std::uint64_t edges_of_a_write = std::uint64_t{1} << 16;

class OutputFile {
 public:
  OutputFile(const std::string& path, std::uint64_t bytes) : file_(open(path.c_str(), O_CREAT | O_WRONLY, 0644)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) note(path);
  }
  ~OutputFile() {
    if (file_ >= 0) close(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& problem() const { return problem_; }
  void write(const std::string& path, const void* from, std::size_t bytes, std::uint64_t offset) {
    const auto* next = static_cast<const char*>(from);
    while (problem_.empty() && bytes > 0) {
      const ssize_t written = pwrite(file_, next, bytes, static_cast<off_t>(offset));
      if (written < 0) return note(path);
      next += written;
      bytes -= static_cast<std::size_t>(written);
      offset += static_cast<std::uint64_t>(written);
    }
  }

 private:
  void note(const std::string& path) { problem_ = fmt::format("cannot write {}: {}", path, std::strerror(errno)); }

  int file_;
  std::string problem_;
};

}  // namespace

std::string write_edges(const std::string& path, const GraphPlan& plan, const EdgeRange& range) {
  const std::string weights_path = path + ".weights";
  OutputFile edges_file(path, plan.edges() * sizeof(Edge)), weights_file(weights_path, plan.edges() * sizeof(float));
  const Generator generator(plan);
  std::vector<Edge> edges(edges_of_a_write);
  std::vector<float> weights(edges_of_a_write);
  for (std::uint64_t done = 0; done < range.count; done += edges_of_a_write) {
    const EdgeRange some{range.first + done, std::min(edges_of_a_write, range.count - done)};
    generator.make(some, edges, weights);
    edges_file.write(path, edges.data(), some.count * sizeof(Edge), some.first * sizeof(Edge));
    weights_file.write(weights_path, weights.data(), some.count * sizeof(float), some.first * sizeof(float));
  }
  return edges_file.problem().empty() ? weights_file.problem() : edges_file.problem();
}

}  // namespace plumb::graph500
