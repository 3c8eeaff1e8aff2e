#include "benchmarks/shmem/graph500/edges_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

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

namespace {

constexpr std::uint64_t most_edges_to_check = std::uint64_t{1} << 26;
constexpr float heaviest = 1e28f;

class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY)) {
    if (file_ < 0) fail();
  }
  ~InputFile() {
    if (file_ >= 0) close(file_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const {
    struct stat found {};
    if (fstat(file_, &found) != 0) fail();
    return static_cast<std::uint64_t>(found.st_size);
  }
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    while (!to.empty()) {
      const ssize_t got = pread(file_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0) fail();
      if (got == 0) throw Error(fmt::format("{} ends after {} bytes", path_, offset));
      to = to.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  [[noreturn]] void fail() const { throw Error(fmt::format("cannot read {}: {}", path_, std::strerror(errno))); }

  std::string path_;
  int file_;
};

std::uint64_t size_of(const std::string& path) {
  try {
    return InputFile(path).size();
  } catch (const Error& error) {
    throw UsageError(std::string("--graph: ") + error.what() + " (kronecker, erdos-renyi, or a file)");
  }
}

}  // namespace

std::uint64_t edges_of_file(const std::string& path, bool weighted) {
  const std::uint64_t bytes = size_of(path), edges = bytes / sizeof(Edge);
  if (edges == 0 || bytes % sizeof(Edge) != 0)
    throw UsageError(
        fmt::format("--graph: {} has {} bytes: it is cut off, or no list of pairs of 64-bit integers", path, bytes));
  if (!weighted) return edges;
  const std::uint64_t of_weights = size_of(path + ".weights");
  if (of_weights != edges * sizeof(float))
    throw UsageError(
        fmt::format("--graph: {}.weights has {} bytes, and should have {}: a float for each of the {} edges", path,
                    of_weights, edges * sizeof(float), edges));
  return edges;
}

void read_edges(const std::string& path, const EdgeRange& range, std::span<Edge> edges, std::span<float> weights) {
  InputFile(path).read(std::as_writable_bytes(edges.first(range.count)), range.first * sizeof(Edge));
  if (!weights.empty())
    InputFile(path + ".weights").read(std::as_writable_bytes(weights.first(range.count)), range.first * sizeof(float));
}

std::string wrong_edge(std::span<const Edge> edges, std::span<const float> weights, std::uint64_t vertices,
                       std::uint64_t first) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (const Vertex end : {edges[i].from, edges[i].to})
      if (end >= vertices)
        return fmt::format("edge {} has vertex {}, and --scale gives vertices 0 to {}", first + i,
                           static_cast<std::int64_t>(end), vertices - 1);
    if (!weights.empty() && !(weights[i] >= 0 && weights[i] <= heaviest))
      return fmt::format("edge {} has weight {}: it must be 0 to {}", first + i, weights[i], heaviest);
  }
  return "";
}

void check_edges_file(const std::string& path, std::uint64_t vertices, bool weighted) {
  const std::uint64_t edges = std::min(edges_of_file(path, weighted), most_edges_to_check);
  std::vector<Edge> some(edges_of_a_write);
  std::vector<float> weights(weighted ? edges_of_a_write : 0);
  for (std::uint64_t done = 0; done < edges; done += edges_of_a_write) {
    const std::uint64_t count = std::min(edges_of_a_write, edges - done);
    read_edges(path, {done, count}, some, weights);
    const std::string wrong =
        wrong_edge(std::span(some).first(count), std::span(weights).first(weighted ? count : 0), vertices, done);
    if (!wrong.empty()) throw UsageError("--graph: " + path + ": " + wrong);
  }
}

}  // namespace plumb::graph500
