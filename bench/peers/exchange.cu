// A ring exchange between the GPUs of one host by hand, as fast as its guarantees allow: memory shared between processes
// (CUDA IPC), messages that the next round reads and sends on, credit before a slot is used again. One process a GPU, one
// persistent kernel for all rounds. With NCCL's header and library (-DWITH_NCCL -lnccl) also its sends and receives, called
// directly. Prints a line of JSON for each message size on rank 0; times are of the slowest rank, a round.
//   nvcc -O3 -arch=native $(mpicxx -showme:incdirs | sed 's/[^ ]*/-I&/g') bench/peers/exchange.cu -o gpu_exchange -lmpi
//   mpirun -np 2 gpu_exchange [LARGEST_LOG2 [REPETITIONS]]
#include <cuda_runtime.h>
#include <mpi.h>
#ifdef WITH_NCCL
#include <nccl.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int lanes = 2, slots = 3, most_groups = 64, items = 512, stride = 16;
using Word = unsigned long long;

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// A kernel's state of a lane: its own slots, its receiver's, its own flags and both neighbours'.
struct Lane {
  char* from[slots];
  char* to[slots];
  Word *mine, *receiver, *sender;  // arrived of each group, then credit of each group
};
struct Both {
  Lane lane[lanes];
};

__device__ Word look(const Word* flag) {
  Word value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}
__device__ void store(Word* flag, Word value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}

// Blocks of lane 0, then those of lane 1; each with a slice.
__global__ void ring(Both both, Word bytes, Word rounds, Word serial, int groups) {
  const Lane& lane = both.lane[blockIdx.x / groups];
  const int group = blockIdx.x % groups;
  const Word each = ((bytes + groups - 1) / groups + 127) / 128 * 128;
  const Word begin = min(group * each, bytes), end = min(begin + each, bytes);
  Word* const arrived = lane.mine + group * stride;
  Word* const credit = lane.mine + (most_groups + group) * stride;
  if (threadIdx.x == 0) store(lane.sender + (most_groups + group) * stride, serial);
  for (Word i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0)
      while (look(credit) < serial + (i + 2 > slots ? i + 2 - slots : 0)) {
      }
    __syncthreads();
    const char* from = lane.from[i % slots] + begin;
    char* to = lane.to[i % slots] + begin;
    const Word wide = (end - begin) / 16;
    for (Word k = threadIdx.x; k < wide; k += blockDim.x) ((uint4*)to)[k] = ((const uint4*)from)[k];
    for (Word k = wide * 16 + threadIdx.x; k < end - begin; k += blockDim.x) to[k] = from[k];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      store(lane.receiver + group * stride, serial + i + 1);
      store(lane.sender + (most_groups + group) * stride, serial + i + 1);
      while (look(arrived) < serial + i + 1) {
      }
    }
    __syncthreads();
  }
}

// This rank's memory, opened by all others.
struct Shared {
  char* memory = nullptr;
  std::vector<char*> of_rank;

  Shared(std::size_t bytes, int rank, int ranks) : of_rank(ranks) {
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
    check(cudaDeviceSynchronize());
    cudaIpcMemHandle_t handle;
    check(cudaIpcGetMemHandle(&handle, memory));
    std::vector<cudaIpcMemHandle_t> all(ranks);
    MPI_Allgather(&handle, sizeof handle, MPI_BYTE, all.data(), sizeof handle, MPI_BYTE, MPI_COMM_WORLD);
    for (int other = 0; other < ranks; ++other) {
      of_rank[other] = memory;
      if (other != rank)
        check(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&of_rank[other]), all[other], cudaIpcMemLazyEnablePeerAccess));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

// Seconds of a round, of the slowest rank, for each repetition; the number of rounds grows until they take 2 ms.
std::vector<double> measure(int repetitions, const std::function<void(Word rounds)>& run) {
  const auto time = [&](Word rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    run(rounds);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
  };
  Word rounds = 16;
  while (time(rounds) < 2e-3 && rounds < 100000) rounds *= 2;
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) samples.push_back(time(rounds) / static_cast<double>(rounds));
  return samples;
}

void print(const char* peer, Word bytes, const std::vector<double>& samples) {
  std::printf("{\"peer\": \"%s\", \"case\": \"%llu\", \"work\": %llu, \"samples_s\": [", peer, bytes, lanes * bytes);
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.9g", i > 0 ? ", " : "", samples[i]);
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, devices = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));
  const int largest = argc > 1 ? std::atoi(argv[1]) : 26;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::size_t most = std::size_t{1} << largest, flag_bytes = 2 * most_groups * stride * sizeof(Word);
  const Shared data(lanes * slots * most, rank, ranks), flags(lanes * flag_bytes, rank, ranks);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  Word serial = 1;
  Both both{};
  for (int l = 0; l < lanes; ++l) {
    const int receiver = l == 0 ? right : left, sender = l == 0 ? left : right;
    for (int s = 0; s < slots; ++s) {
      both.lane[l].from[s] = data.memory + (l * slots + s) * most;
      both.lane[l].to[s] = data.of_rank[receiver] + (l * slots + (s + 1) % slots) * most;
    }
    both.lane[l].mine = reinterpret_cast<Word*>(flags.memory + l * flag_bytes);
    both.lane[l].receiver = reinterpret_cast<Word*>(flags.of_rank[receiver] + l * flag_bytes);
    both.lane[l].sender = reinterpret_cast<Word*>(flags.of_rank[sender] + l * flag_bytes);
  }
  for (int exponent = 0; exponent <= largest; ++exponent) {
    const Word bytes = Word{1} << exponent;
    const int groups = std::clamp<int>(bytes / 8192, 1, most_groups);
    const int threads = std::min<Word>(items, (bytes / groups / 16 + 32) / 32 * 32);
    const auto samples = measure(repetitions, [&](Word rounds) {
      ring<<<lanes * groups, threads>>>(both, bytes, rounds, serial, groups);
      serial += rounds + 1;
      check(cudaDeviceSynchronize());
    });
    if (rank == 0) print("bare", bytes, samples);
  }
#ifdef WITH_NCCL
  ncclUniqueId id;
  if (rank == 0) ncclGetUniqueId(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t communicator;
  ncclCommInitRank(&communicator, ranks, id, rank);
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int exponent = 0; exponent <= largest; ++exponent) {
    const Word bytes = Word{1} << exponent;
    const auto samples = measure(repetitions, [&](Word rounds) {
      for (Word i = 0; i < rounds; ++i) {
        ncclGroupStart();
        for (int l = 0; l < lanes; ++l) {
          ncclSend(both.lane[l].from[i % slots], bytes, ncclUint8, l == 0 ? right : left, communicator, stream);
          ncclRecv(both.lane[l].from[(i + 1) % slots], bytes, ncclUint8, l == 0 ? left : right, communicator, stream);
        }
        ncclGroupEnd();
      }
      check(cudaStreamSynchronize(stream));
    });
    if (rank == 0) print("nccl", bytes, samples);
  }
  ncclCommDestroy(communicator);
#endif
  MPI_Finalize();
  return 0;
}
