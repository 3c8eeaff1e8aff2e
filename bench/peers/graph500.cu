// The peer of graph500's variant device on one NVIDIA GPU: breadth-first searches in CUDA, top-down (a queue of
// vertices; a row is followed by a warp, or by several where vertices are few) and direction-optimising (Beamer,
// Asanovic, Patterson 2012: also bottom-up, on bitmaps; a thread looks at the first neighbours of a vertex, its warp at
// the rest).
//
//   nvcc -O3 -std=c++17 -arch=native bench/peers/graph500.cu -o gpu_graph500
//   gpu_graph500 EDGES SCALE ROOT...
//
// EDGES: pairs of 64-bit integers (plumb-serial graph500 --write-edges). Prints a line of JSON for each form: {"peer",
// "case", "samples_s", "edges", "reached"}, one value a root; edges as reference 3.0 counts them. Of every tree
// it is checked that parents are neighbours and that no edge leaves it; a wrong one ends the program with 1.
#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/scan.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using count_t = unsigned long long;

constexpr unsigned none = 0xffffffffu, group = 256;
constexpr int first_looks = 16;
constexpr double alpha = 14, beta = 24;
unsigned blocks = 0;

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

template <class T>
T* allocate(std::size_t values) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, sizeof(T) * std::max<std::size_t>(values, 1)));
  check(cudaMemset(memory, 0, sizeof(T) * std::max<std::size_t>(values, 1)));
  return memory;
}

struct Graph {
  unsigned vertices;
  count_t* begins;
  unsigned* neighbours;
};

struct Found {  // by a level
  unsigned vertices, wrong;
  count_t ends;
};

#define EACH(i, all) \
  for (count_t i = blockIdx.x * count_t{blockDim.x} + threadIdx.x; i < (all); i += gridDim.x * count_t{blockDim.x})

// --- construction: counts of rows, then their ends

__global__ void count_ends(const longlong2* edges, count_t all, count_t* sizes) {
  EACH(i, all) {
    if (edges[i].x == edges[i].y) continue;
    atomicAdd(&sizes[edges[i].x], 1ull);
    atomicAdd(&sizes[edges[i].y], 1ull);
  }
}

__global__ void place_ends(const longlong2* edges, count_t all, count_t* next, unsigned* neighbours) {
  EACH(i, all) {
    if (edges[i].x == edges[i].y) continue;
    neighbours[atomicAdd(&next[edges[i].x], 1ull)] = static_cast<unsigned>(edges[i].y);
    neighbours[atomicAdd(&next[edges[i].y], 1ull)] = static_cast<unsigned>(edges[i].x);
  }
}

template <class Action>
void each_piece(const char* path, Action action) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::exit(2);
  std::vector<longlong2> some(piece);
  longlong2* const on_device = allocate<longlong2>(piece);
  while (const std::size_t read = std::fread(some.data(), sizeof(longlong2), piece, file)) {
    check(cudaMemcpy(on_device, some.data(), sizeof(longlong2) * read, cudaMemcpyHostToDevice));
    action(on_device, read);
    check(cudaDeviceSynchronize());
  }
  std::fclose(file);
  check(cudaFree(on_device));
}

Graph construct(const char* path, int scale) {
  Graph graph{1u << scale, allocate<count_t>((std::size_t{1} << scale) + 1), nullptr};
  const std::size_t all = std::size_t{graph.vertices} + 1;
  each_piece(path, [&](const longlong2* edges, count_t n) { count_ends<<<blocks, group>>>(edges, n, graph.begins); });
  const thrust::device_ptr<count_t> sizes(graph.begins);
  thrust::exclusive_scan(sizes, sizes + all, sizes);
  count_t ends = 0;
  check(cudaMemcpy(&ends, graph.begins + graph.vertices, sizeof ends, cudaMemcpyDeviceToHost));
  graph.neighbours = allocate<unsigned>(ends);
  count_t* const next = allocate<count_t>(all);
  check(cudaMemcpy(next, graph.begins, sizeof(count_t) * all, cudaMemcpyDeviceToDevice));
  each_piece(path, [&](const longlong2* edges, count_t n) {
    place_ends<<<blocks, group>>>(edges, n, next, graph.neighbours);
  });
  check(cudaFree(next));
  return graph;
}

// --- searches

__device__ void add_up(Found* found, unsigned vertices, count_t ends) {
  for (int step = 16; step > 0; step /= 2) {
    vertices += __shfl_down_sync(~0u, vertices, step);
    ends += __shfl_down_sync(~0u, ends, step);
  }
  if (threadIdx.x % 32 != 0 || vertices == 0) return;
  atomicAdd(&found->vertices, vertices);
  atomicAdd(&found->ends, ends);
}

__global__ void start(Graph graph, unsigned* known, unsigned* level, unsigned* queue, unsigned* parents,
                      unsigned root) {
  EACH(word, (graph.vertices + 31) / 32) known[word] = level[word] = word == root / 32 ? 1u << root % 32 : 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) queue[0] = parents[root] = root;
}

// Found vertices enter the next queue, and the next level's bitmap. `parts`: warps of a row.
__global__ void top_down(Graph graph, const unsigned* queue, unsigned size, unsigned parts, unsigned* known,
                         unsigned* next_queue, unsigned* next, unsigned* parents, Found* found, unsigned* tail) {
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned vertices = 0;
  count_t ends = 0;
  for (count_t task = (blockIdx.x * blockDim.x + threadIdx.x) / 32; task < count_t{size} * parts; task += warps) {
    const unsigned vertex = queue[task / parts];
    const count_t end = graph.begins[vertex + 1];
    for (count_t i = graph.begins[vertex] + task % parts * 32 + lane; i < end; i += 32 * parts) {
      const unsigned other = graph.neighbours[i], bit = 1u << other % 32;
      if ((known[other / 32] & bit) != 0 || (atomicOr(&known[other / 32], bit) & bit) != 0) continue;
      atomicOr(&next[other / 32], bit);
      parents[other] = vertex;
      next_queue[atomicAdd(tail, 1u)] = other;
      ++vertices;
      ends += graph.begins[other + 1] - graph.begins[other];
    }
  }
  add_up(found, vertices, ends);
}

__global__ void bottom_up(Graph graph, const unsigned* level, unsigned* known, unsigned* next, unsigned* parents,
                          Found* found) {
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned vertices = 0;
  count_t ends = 0;
  for (unsigned word = (blockIdx.x * blockDim.x + threadIdx.x) / 32; word < (graph.vertices + 31) / 32; word += warps) {
    const unsigned vertex = 32 * word + lane, before = known[word];
    const count_t begin = graph.begins[vertex], end = graph.begins[vertex + 1], some = min(end, begin + first_looks);
    bool is_found = false;
    if ((before >> lane & 1) == 0)
      for (count_t i = begin; i < some && !is_found; ++i) {
        const unsigned other = graph.neighbours[i];
        if ((level[other / 32] >> other % 32 & 1) == 0) continue;
        parents[vertex] = other;
        is_found = true;
      }
    for (unsigned left = __ballot_sync(~0u, (before >> lane & 1) == 0 && !is_found && some < end); left != 0;
         left &= left - 1) {
      const int owner = __ffs(left) - 1;
      const count_t row_begin = __shfl_sync(~0u, some, owner), row_end = __shfl_sync(~0u, end, owner);
      for (count_t first = row_begin; first < row_end; first += 32) {
        const unsigned other = first + lane < row_end ? graph.neighbours[first + lane] : none;
        const unsigned hits = __ballot_sync(~0u, other != none && (level[other / 32] >> other % 32 & 1) != 0);
        if (hits == 0) continue;
        const unsigned parent = __shfl_sync(~0u, other, __ffs(hits) - 1);
        if (lane == owner) parents[vertex] = parent, is_found = true;
        break;
      }
    }
    const unsigned reached = __ballot_sync(~0u, is_found);
    if (lane == 0) next[word] = reached, known[word] = before | reached;
    if (is_found) ++vertices, ends += end - begin;
  }
  add_up(found, vertices, ends);
}

__global__ void to_queue(const unsigned* level, unsigned words, unsigned* queue, unsigned* tail) {
  EACH(word, words)
  for (unsigned left = level[word]; left != 0; left &= left - 1)
    queue[atomicAdd(tail, 1u)] = 32 * word + __ffs(left) - 1;
}

// Every edge: both of its ends are in the tree or neither; a tree edge is one of the graph's. `ends` counts those
// inside.
__global__ void check_tree(Graph graph, const unsigned* parents, unsigned root, Found* found) {
  unsigned vertices = 0;
  count_t ends = 0;
  EACH(vertex, graph.vertices) {
    bool has_parent = parents[vertex] == none || vertex == root;
    for (count_t i = graph.begins[vertex]; i < graph.begins[vertex + 1]; ++i) {
      const unsigned other = graph.neighbours[i];
      has_parent = has_parent || other == parents[vertex];
      if ((parents[other] == none) != (parents[vertex] == none)) atomicAdd(&found->wrong, 1u);
    }
    if (!has_parent) atomicAdd(&found->wrong, 1u);
    if (parents[vertex] == none) continue;
    ++vertices;
    ends += graph.begins[vertex + 1] - graph.begins[vertex];
  }
  atomicAdd(&found->vertices, vertices);
  atomicAdd(&found->ends, ends);
}

int main(int words_given, char** words) {
  if (words_given < 4) return 2;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  blocks = 8u * static_cast<unsigned>(device.multiProcessorCount);
  const Graph graph = construct(words[1], std::atoi(words[2]));
  const unsigned all = graph.vertices, bitmap = (all + 31) / 32;
  unsigned *queues[2], *levels[2];
  for (int i = 0; i < 2; ++i) queues[i] = allocate<unsigned>(all), levels[i] = allocate<unsigned>(bitmap);
  unsigned *const known = allocate<unsigned>(bitmap), *const parents = allocate<unsigned>(all),
                  *const tail = allocate<unsigned>(1);
  Found *const found = allocate<Found>(1), *told = nullptr;
  check(cudaMallocHost(&told, sizeof(Found)));
  count_t all_ends = 0;
  check(cudaMemcpy(&all_ends, graph.begins + all, sizeof all_ends, cudaMemcpyDeviceToHost));
  std::vector<count_t> degrees(std::size_t{all} + 1);
  check(cudaMemcpy(degrees.data(), graph.begins, sizeof(count_t) * degrees.size(), cudaMemcpyDeviceToHost));
  const auto tell = [&] {
    check(cudaMemcpyAsync(told, found, sizeof(Found), cudaMemcpyDeviceToHost));
    check(cudaMemsetAsync(found, 0, sizeof(Found)));
    check(cudaStreamSynchronize(nullptr));
    return *told;
  };
  const auto search = [&](unsigned root, bool optimising) {
    start<<<blocks, group>>>(graph, known, levels[0], queues[0], parents, root);
    Found level{1, 0, degrees[root + 1] - degrees[root]};
    count_t left = all_ends;
    bool up = false;
    for (int turn = 0; level.vertices > 0; turn = 1 - turn) {
      left -= std::min(left, level.ends);
      const bool was_up = up;
      up = optimising && (up ? double(level.vertices) * beta >= all : double(level.ends) * alpha > double(left));
      check(cudaMemsetAsync(tail, 0, sizeof(unsigned)));
      if (up) {
        bottom_up<<<blocks, group>>>(graph, levels[turn], known, levels[1 - turn], parents, found);
      } else {
        if (was_up) {
          to_queue<<<blocks, group>>>(levels[turn], bitmap, queues[turn], tail);
          check(cudaMemsetAsync(tail, 0, sizeof(unsigned)));
        }
        check(cudaMemsetAsync(levels[1 - turn], 0, sizeof(unsigned) * bitmap));
        const unsigned parts = std::max(1u, blocks * (group / 32) / level.vertices);
        top_down<<<blocks, group>>>(graph, queues[turn], level.vertices, parts, known, queues[1 - turn],
                                    levels[1 - turn], parents, found, tail);
      }
      level = tell();
    }
  };
  for (const bool optimising : {false, true}) {
    std::string samples, edges, reached;
    for (int i = 2; i < words_given; ++i) {  // the first root warms up
      const auto root = static_cast<unsigned>(std::strtoul(words[std::max(i, 3)], nullptr, 10));
      check(cudaMemset(parents, 0xff, sizeof(unsigned) * all));
      const auto begin = std::chrono::steady_clock::now();
      search(root, optimising);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (i == 2) continue;
      check_tree<<<blocks, group>>>(graph, parents, root, found);
      const Found tree = tell();
      if (tree.wrong > 0) {
        std::fprintf(stderr, "root %u: %u vertices or edges are wrong\n", root, tree.wrong);
        return 1;
      }
      const char* comma = i > 3 ? ", " : "";
      samples += comma + std::to_string(seconds.count() * 1e6) + "e-6";
      edges += comma + std::to_string(tree.ends / 2);
      reached += comma + std::to_string(tree.vertices);
    }
    std::printf("{\"peer\": \"cuda\", \"case\": \"%s\", \"samples_s\": [%s], \"edges\": [%s], \"reached\": [%s]}\n",
                optimising ? "direction-optimising" : "top-down", samples.c_str(), edges.c_str(), reached.c_str());
    std::fflush(stdout);
  }
}
