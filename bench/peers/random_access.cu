// RandomAccess in CUDA, as directly as it can be written: what the GPU's memory gives to updates of random words, by each
// of the ways to change a word, and at table sizes from what the cache holds up. The sizes and ways tell what bounds an
// update: the cache's atomic units (small tables), DRAM (gather beside atomic), address translation (large tables).
//
//   nvcc -O3 -arch=sm_90 -o random_access random_access.cu && ./random_access [LOG2_WORDS...]
//
// Prints a line of JSON each: {"peer", "case", "samples_s", "work"}; case: way/bytes, work: updates. A table that was
// changed by atomics is checked: applied twice, the same updates leave it as it was.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using word = unsigned long long;

enum Way { atomic_reduction, atomic_returning, read_write, gather };
const char* const names[] = {"atomic", "atomic_returning", "read_write", "gather"};

__host__ __device__ word next(word x) {
  return (x << 1) ^ ((x >> 63) * 7);
}

// Each thread has a share of the stream; four of its updates are under way together.
template <Way way>
__global__ void update(word* table, word mask, const word* starts, word share, word updates, word* sink) {
  constexpr int together = 4;
  const word thread = blockIdx.x * word{blockDim.x} + threadIdx.x;
  const word begin = thread * share;
  if (begin >= updates) return;
  const word length = min(share, updates - begin);
  word x = starts[thread], sum = 0;
  for (word done = 0; done < length; done += together) {
    word value[together], old[together];
#pragma unroll
    for (int i = 0; i < together; ++i) value[i] = x = next(x);
#pragma unroll
    for (int i = 0; i < together; ++i) {
      word* at = table + (value[i] & mask);
      if (way == atomic_reduction) atomicXor(at, value[i]);
      if (way == atomic_returning) sum += atomicXor(at, value[i]);
      if (way == read_write || way == gather) old[i] = *at;
    }
#pragma unroll
    for (int i = 0; i < together; ++i) {
      if (way == read_write) table[value[i] & mask] = old[i] ^ value[i];
      if (way == gather) sum += old[i];
    }
  }
  if (sum == 1) *sink = sum;  // keeps what was read from being left out
}

__global__ void fill(word* table, word words) {
  for (word i = blockIdx.x * word{blockDim.x} + threadIdx.x; i < words; i += gridDim.x * word{blockDim.x}) table[i] = i;
}

__global__ void count_wrong(const word* table, word words, word* wrong) {
  for (word i = blockIdx.x * word{blockDim.x} + threadIdx.x; i < words; i += gridDim.x * word{blockDim.x})
    if (table[i] != i) atomicAdd(wrong, 1);
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "could not %s: %s\n", what, cudaGetErrorString(code));
  std::exit(3);
}

word product(word a, word b) {
  word result = 0;
  for (; b != 0; b >>= 1, a = next(a))
    if (b & 1) result ^= a;
  return result;
}

word power(word exponent) {
  word result = 1, square = 2;
  for (; exponent != 0; exponent >>= 1, square = product(square, square))
    if (exponent & 1) result = product(result, square);
  return result;
}

struct Run {
  word words, updates, share, threads;
  word *table, *starts, *sink;
};

template <Way way>
void measure(const Run& run) {
  constexpr int group = 256, repetitions = 6;
  const auto blocks = static_cast<unsigned>((run.threads + group - 1) / group);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "make an event");
  check(cudaEventCreate(&end), "make an event");
  fill<<<1024, 256>>>(run.table, run.words);
  std::printf("{\"peer\": \"cuda\", \"case\": \"%s/%llu\", \"samples_s\": [", names[way], run.words * 8);
  for (int i = 0; i < repetitions; ++i) {
    check(cudaEventRecord(begin), "record an event");
    update<way><<<blocks, group>>>(run.table, run.words - 1, run.starts, run.share, run.updates, run.sink);
    check(cudaEventRecord(end), "record an event");
    check(cudaEventSynchronize(end), "update the table");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "read the time");
    std::printf("%s%.9g", i == 0 ? "" : ", ", milliseconds * 1e-3);
  }
  std::printf("], \"work\": %llu}\n", run.updates);
  std::fflush(stdout);
  if (way != atomic_reduction && way != atomic_returning) return;
  word wrong = 0;
  check(cudaMemset(run.sink, 0, sizeof wrong), "clear the count");
  count_wrong<<<1024, 256>>>(run.table, run.words, run.sink);
  check(cudaMemcpy(&wrong, run.sink, sizeof wrong, cudaMemcpyDeviceToHost), "read the count");
  if (wrong != 0) {
    std::fprintf(stderr, "%s: %llu words are wrong after an even number of rounds\n", names[way], wrong);
    std::exit(1);
  }
}

void measure_size(int log2_words, const cudaDeviceProp& device, bool atomics_only) {
  Run run{};
  run.words = word{1} << log2_words;
  run.updates = 4 * run.words;
  const word resident = word{static_cast<unsigned>(device.multiProcessorCount)} *
                        static_cast<unsigned>(device.maxThreadsPerMultiProcessor);
  // Odd: threads whose words are a power of two apart meet at the same places.
  const word units = run.updates / 4 / resident;
  run.share = 4 * ((units + units / 32) | 1);
  run.threads = (run.updates + run.share - 1) / run.share;
  std::vector<word> starts(run.threads);
  const word leap = power(run.share);
  word x = 1;
  for (word& start : starts) {
    start = x;
    x = product(x, leap);
  }
  check(cudaMalloc(&run.table, run.words * sizeof(word)), "allocate the table");
  check(cudaMalloc(&run.starts, starts.size() * sizeof(word)), "allocate the starts");
  check(cudaMalloc(&run.sink, sizeof(word)), "allocate a word");
  check(cudaMemcpy(run.starts, starts.data(), starts.size() * sizeof(word), cudaMemcpyHostToDevice), "write the starts");
  measure<atomic_reduction>(run);
  measure<atomic_returning>(run);
  if (!atomics_only) {
    measure<read_write>(run);
    measure<gather>(run);
  }
  check(cudaFree(run.table), "free");
  check(cudaFree(run.starts), "free");
  check(cudaFree(run.sink), "free");
}

int main(int count, char** arguments) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "ask for the device");
  std::vector<int> sizes;
  bool atomics_only = false;
  for (int i = 1; i < count; ++i) {
    if (std::string(arguments[i]) == "atomics")
      atomics_only = true;
    else
      sizes.push_back(std::atoi(arguments[i]));
  }
  if (sizes.empty()) sizes = {21, 24, 27, 29, 30, 31, 32};
  for (const int log2_words : sizes) measure_size(log2_words, device, atomics_only);
}
