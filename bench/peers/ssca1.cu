// The peer of ssca1's variant device on one NVIDIA GPU: kernel 1 in CUDA, 32-bit scores, as one launch. A warp has a
// strip of 32 x ROWS rows and goes through all columns; values move down its lanes by shuffles, and from strip to strip
// through memory, as soon as the strip above has scored a chunk of columns.
//
//   nvcc -O3 -std=c++17 -arch=native bench/peers/ssca1.cu -o gpu_ssca1
//   gpu_ssca1 SCALE [SEED]
//
// The strings are those of benchmarks/shmem/ssca1/README.md (the first pair). Prints a line of JSON for each number of
// rows: {"peer", "case", "samples_s", "work", "ends", "ends_hash"}; the time includes the list of ends on the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using word = std::uint64_t;

constexpr int lanes = 32, chunk = 32;  // columns between two notices
constexpr int exact = 5, similar = 4, dissimilar = -3, gap_begin = 7, gap_go_on = 2, minimum = 20;
constexpr unsigned beyond_row = 0xffff, beyond_column = 0xfefe;
const std::string acids = "KKNNRRSSTTTTIMIIEEDDGGGGAAAAVVVVQQHHRRRRPPPPLLLL**YY*WCCSSSSLLFF";

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// --- the strings

word mix(word x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

word key_of(word seed, word rank, word lane) {
  word key = mix(seed);
  for (const word part : {rank, lane, word{0}, word{0}}) key = mix(key ^ part);
  return key;
}

struct Plant {
  std::string text[2];
  word outside;  // guards before and after
};

void make_strings(word seed, word length, std::vector<int> (&codons)[2]) {
  const Plant plants[3] = {{{"ACDEFG*IDENTICAL*HIKLMN", "MNLKIH*IDENTICAL*GFEDCA"}, 0},
                           {{"*MISQRMATCHES*", "*MISRQMATCHES*"}, 6},
                           {{"*STARTGAPMIDSTEND*", "*STARTMIDSTGAPEND*"}, 6}};
  word first[2][3];
  for (int s = 0; s < 2; ++s) {
    const word background = key_of(seed, 0, s), places = key_of(seed, 1, s);
    for (word i = 0; i < length; ++i) codons[s].push_back(static_cast<int>(mix(background + i) >> 58));
    std::vector<word> gaps;
    for (word i = 0; i < 3; ++i) gaps.push_back(mix(places + i) % (length - 78));
    std::sort(gaps.begin(), gaps.end());
    word before = 0;
    for (int i = 0; i < 3; ++i) {
      const int which = s == 0 ? i : 2 - i;
      const Plant& plant = plants[which];
      first[s][which] = gaps[i] + before + plant.outside;
      before += plant.text[s].size() + 2 * plant.outside;
      for (std::size_t k = 0; k < plant.text[s].size(); ++k)
        codons[s][first[s][which] + k] = static_cast<int>(acids.rfind(plant.text[s][k]));
    }
  }
  const word guards = key_of(seed, 0, 2);
  for (int which = 1; which < 3; ++which)
    for (const long shift : {-6L, static_cast<long>(plants[which].text[0].size())})
      for (word i = 0; i < 6; ++i) {
        const word at = first[1][which] + shift + i;
        const auto scores = [&] {
          for (word k = 0; k < 6; ++k)
            if (acids[codons[0][first[0][which] + shift + k]] == acids[codons[1][at]]) return true;
          return false;
        };
        for (word trial = 0; scores(); ++trial) codons[1][at] = static_cast<int>(mix(mix(guards ^ at) + trial) >> 58);
      }
}

std::vector<unsigned short> codes_of(const std::vector<int>& codons, std::size_t padded, unsigned beyond) {
  std::vector<unsigned short> codes(padded, static_cast<unsigned short>(beyond));
  for (std::size_t i = 0; i < codons.size(); ++i)
    codes[i] = static_cast<unsigned short>(codons[i] | acids.find(acids[codons[i]]) << 8);
  return codes;
}

// --- kernel 1

__device__ __forceinline__ int weight(unsigned a, unsigned b) {
  return a == b ? exact : (a >> 8) == (b >> 8) ? similar : dissimilar;
}

struct Edge {
  int v, down;
};

struct Work {
  const unsigned short *main, *match;  // with one code beyond
  Edge* edges;                         // of each column, below the strip scored last
  int* done;                           // columns, by strip; strip 0 is above the first
  int *ends, *count;
  int columns, room;
};

template <int ROWS>
__global__ void __launch_bounds__(32) score(const Work work) {
  const int strip = blockIdx.x, lane = threadIdx.x, row = (strip * lanes + lane) * ROWS;
  unsigned codes[ROWS];
  int v[ROWS] = {}, e[ROWS] = {}, pairs[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) codes[r] = work.main[row + r];
  volatile int* const above = work.done + strip;
  int last_v = 0, last_down = 0, corner_of_next = 0;
  unsigned last_code = beyond_column, codes_of_chunk = 0;
  Edge edges_of_chunk{};
  for (int step = 0; step < work.columns + lanes - 1; ++step) {
    if (step % chunk == 0 && step < work.columns) {
      if (strip > 0)
        while (*above < step + chunk) {
        }
      __threadfence();
      codes_of_chunk = work.match[step + lane];
      const long long both = strip > 0 ? __ldcg(reinterpret_cast<const long long*>(work.edges + step + lane)) : 0;
      edges_of_chunk = {static_cast<int>(both), static_cast<int>(both >> 32)};
    }
    int up = __shfl_up_sync(~0u, last_v, 1), down = __shfl_up_sync(~0u, last_down, 1);
    unsigned code = __shfl_up_sync(~0u, last_code, 1);
    const int from = step % chunk, first_v = __shfl_sync(~0u, edges_of_chunk.v, from),
              first_down = __shfl_sync(~0u, edges_of_chunk.down, from);
    const unsigned first_code = __shfl_sync(~0u, codes_of_chunk, from);
    if (lane == 0) up = first_v, down = first_down, code = first_code;
    const int column = step - lane;
    if (column >= 0 && column < work.columns) {
      int corner = corner_of_next, most = 0;
      corner_of_next = up;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int pair = corner + weight(codes[r], code), begun = pair - gap_begin;
        const int best = max(max(pair, 0), max(e[r], down));
        corner = v[r];
        v[r] = best;
        e[r] = max(e[r] - gap_go_on, begun);
        down = max(down - gap_go_on, begun);
        pairs[r] = pair;
        most = max(most, pair);
      }
      last_v = v[ROWS - 1];
      last_down = down;
      if (lane == lanes - 1) work.edges[column] = {last_v, last_down};
      if (most > minimum) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          if (pairs[r] <= minimum || pairs[r] != v[r] || weight(codes[r], code) <= 0) continue;
          if (weight(work.main[row + r + 1], work.match[column + 1]) > 0) continue;
          const int place = atomicAdd(work.count, 1);
          if (place >= work.room) continue;
          work.ends[3 * place] = pairs[r];
          work.ends[3 * place + 1] = row + r;
          work.ends[3 * place + 2] = column;
        }
      }
    }
    last_code = code;
    const int finished = step - lanes + 2;  // columns of the last lane
    if (finished > 0 && finished % chunk == 0 && lane == lanes - 1) {
      __threadfence();
      *static_cast<volatile int*>(work.done + strip + 1) = finished;
    }
  }
}

template <int ROWS>
void measure(word scale_length, const std::vector<int> (&codons)[2]) {
  const int length = static_cast<int>(scale_length), rows_of_strip = lanes * ROWS;
  const int strips = (length + rows_of_strip - 1) / rows_of_strip, columns = (length + chunk - 1) / chunk * chunk;
  const auto main = codes_of(codons[0], std::size_t(strips) * rows_of_strip + 1, beyond_row),
             match = codes_of(codons[1], columns + 1, beyond_column);
  Work work{};
  work.columns = columns;
  work.room = 1 << 25;
  unsigned short *main_codes, *match_codes;
  check(cudaMalloc(&main_codes, 2 * main.size()));
  check(cudaMalloc(&match_codes, 2 * match.size()));
  check(cudaMemcpy(main_codes, main.data(), 2 * main.size(), cudaMemcpyHostToDevice));
  check(cudaMemcpy(match_codes, match.data(), 2 * match.size(), cudaMemcpyHostToDevice));
  work.main = main_codes;
  work.match = match_codes;
  check(cudaMalloc(&work.edges, sizeof(Edge) * columns));
  check(cudaMalloc(&work.done, sizeof(int) * (strips + 1)));
  check(cudaMalloc(&work.count, sizeof(int)));
  check(cudaMalloc(&work.ends, 3 * sizeof(int) * std::size_t(work.room)));
  std::string samples;
  std::vector<int> ends;
  int count = 0;
  for (int repetition = 0; repetition < 4; ++repetition) {
    check(cudaMemset(work.done, 0, sizeof(int) * (strips + 1)));
    check(cudaMemset(work.count, 0, sizeof(int)));
    check(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    score<ROWS><<<strips, lanes>>>(work);
    check(cudaMemcpy(&count, work.count, sizeof count, cudaMemcpyDeviceToHost));
    if (count > work.room) std::exit(1);
    ends.resize(3 * std::size_t(count));
    if (count > 0) check(cudaMemcpy(ends.data(), work.ends, sizeof(int) * ends.size(), cudaMemcpyDeviceToHost));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    samples += (samples.empty() ? "" : ", ") + std::to_string(seconds.count());
  }
  word hash = 0;
  for (std::size_t i = 0; i < ends.size(); i += 3)
    hash += mix(mix(mix(word(ends[i])) ^ word(ends[i + 1])) ^ word(ends[i + 2]));
  std::printf(
      "{\"peer\": \"cuda\", \"case\": \"%d rows\", \"samples_s\": [%s], \"work\": %.0f, \"ends\": %d, "
      "\"ends_hash\": \"%016llx\"}\n",
      ROWS, samples.c_str(), double(length) * length, count, static_cast<unsigned long long>(hash));
  std::fflush(stdout);
  for (void* memory : {static_cast<void*>(main_codes), static_cast<void*>(match_codes), static_cast<void*>(work.edges),
                       static_cast<void*>(work.done), static_cast<void*>(work.count), static_cast<void*>(work.ends)})
    check(cudaFree(memory));
}

int main(int count, char** words) {
  if (count < 2) return 2;
  const word length = static_cast<word>(std::ceil(std::exp2(std::atof(words[1]) / 2))) + 79;
  std::vector<int> codons[2];
  make_strings(count > 2 ? std::strtoull(words[2], nullptr, 10) : 1, length, codons);
  measure<4>(length, codons);
  measure<8>(length, codons);
  measure<16>(length, codons);
}
