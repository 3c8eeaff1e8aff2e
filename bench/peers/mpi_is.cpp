// NPB's IS over bare MPI, as its specification has it: keys counted by bucket, the counts reduced, buckets dealt out to
// ranks in order, keys exchanged by MPI_Alltoallv, and ranked by counting.
//
//   mpirun -np 2 peer_mpi_is LOG2_KEYS LOG2_LARGEST_KEY [ITERATIONS]
//
// Prints the seconds of all iterations on the slowest rank (after one more, untimed), and wrong ranks: of the keys at
// seven places of each rank, by counting all smaller keys one by one.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace {

int rank_here = 0, all_ranks = 1;

// x <- 5^13 x mod 2^46.
class Numbers {
 public:
  explicit Numbers(std::uint64_t skip) {
    for (std::uint64_t power = factor; skip > 0; skip /= 2, power = power * power & mask)
      if (skip % 2 != 0) x_ = x_ * power & mask;
  }
  double next() {
    x_ = x_ * factor & mask;
    return static_cast<double>(x_) * 0x1p-46;
  }

 private:
  static constexpr std::uint64_t factor = 1220703125, mask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t x_ = 314159265;
};

class Sort {
 public:
  Sort(int log2_keys, int log2_largest, int iterations)
      : all_keys_(std::uint64_t{1} << log2_keys),
        largest_(1 << log2_largest),
        iterations_(iterations),
        shift_(std::max(0, log2_largest - 10)),
        buckets_(static_cast<std::size_t>(largest_ >> shift_)) {
    first_ = all_keys_ * static_cast<std::uint64_t>(rank_here) / static_cast<std::uint64_t>(all_ranks);
    const std::uint64_t end =
        all_keys_ * static_cast<std::uint64_t>(rank_here + 1) / static_cast<std::uint64_t>(all_ranks);
    keys_.resize(end - first_);
    Numbers numbers(4 * first_);
    for (int& key : keys_) {
      double sum = numbers.next();
      for (int i = 1; i < 4; ++i) sum += numbers.next();
      key = static_cast<int>(largest_ / 4 * sum);
    }
    sorted_.resize(keys_.size());
  }

  void rank(int iteration) {
    change(iteration, iteration);
    change(iteration + iterations_, largest_ - iteration);
    std::vector<int> counts(buckets_), sums(buckets_);
    for (const int key : keys_) ++counts[static_cast<std::size_t>(key >> shift_)];
    MPI_Allreduce(counts.data(), sums.data(), static_cast<int>(buckets_), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    exchange(counts, sums);
    below_.assign((first_bucket_[1] - first_bucket_[0]) << shift_, 0);
    low_ = static_cast<int>(first_bucket_[0] << shift_);
    for (const int key : received_) ++below_[static_cast<std::size_t>(key - low_)];
    int sum = std::accumulate(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(first_bucket_[0]), 0);
    for (int& one : below_) sum += std::exchange(one, sum);
  }

  int wrong() const {
    int wrong = 0;
    for (int from = 0; from < all_ranks; ++from)
      for (std::size_t i = 0; i < 7; ++i) {
        int key = keys_[keys_.size() * i / 7];
        MPI_Bcast(&key, 1, MPI_INT, from, MPI_COMM_WORLD);
        int found[2] = {static_cast<int>(std::count_if(keys_.begin(), keys_.end(), [&](int k) { return k < key; })), 0};
        const auto at = static_cast<std::size_t>(key - low_);
        found[1] = key >= low_ && at < below_.size() ? below_[at] : 0;
        MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += found[0] == found[1] ? 0 : 1;
      }
    return wrong;
  }

 private:
  void change(int place, int key) {
    const auto at = static_cast<std::uint64_t>(place) - first_;
    if (static_cast<std::uint64_t>(place) >= first_ && at < keys_.size()) keys_[at] = key;
  }

  // Whole buckets for each rank, until all ranks up to it have their share.
  void exchange(const std::vector<int>& counts, const std::vector<int>& sums) {
    const auto ranks = static_cast<std::size_t>(all_ranks);
    std::vector<std::size_t> first(ranks + 1, buckets_);
    first[0] = 0;
    std::uint64_t sum = 0;
    std::size_t owner = 0;
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      sum += static_cast<std::uint64_t>(sums[bucket]);
      while (owner + 1 < ranks && sum * ranks >= (owner + 1) * all_keys_) first[++owner] = bucket + 1;
    }
    first_bucket_[0] = first[static_cast<std::size_t>(rank_here)];
    first_bucket_[1] = first[static_cast<std::size_t>(rank_here) + 1];
    std::vector<int> next(buckets_);
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), 0);
    std::vector<int> sends(ranks), send_at(ranks), receives(ranks), receive_at(ranks);
    for (std::size_t to = 0; to < ranks; ++to) {
      send_at[to] = first[to] < buckets_ ? next[first[to]] : static_cast<int>(keys_.size());
      for (std::size_t bucket = first[to]; bucket < first[to + 1]; ++bucket) sends[to] += counts[bucket];
    }
    for (const int key : keys_)
      sorted_[static_cast<std::size_t>(next[static_cast<std::size_t>(key >> shift_)]++)] = key;
    MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::exclusive_scan(receives.begin(), receives.end(), receive_at.begin(), 0);
    received_.resize(static_cast<std::size_t>(receive_at.back() + receives.back()));
    MPI_Alltoallv(sorted_.data(), sends.data(), send_at.data(), MPI_INT, received_.data(), receives.data(),
                  receive_at.data(), MPI_INT, MPI_COMM_WORLD);
  }

  std::uint64_t all_keys_, first_ = 0;
  int largest_, iterations_, shift_, low_ = 0;
  std::size_t buckets_, first_bucket_[2] = {};
  std::vector<int> keys_, sorted_, received_, below_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 10;
  Sort sort(std::atoi(argv[1]), std::atoi(argv[2]), iterations);
  sort.rank(1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 1; i <= iterations; ++i) sort.rank(i);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int wrong = sort.wrong();
  if (rank_here == 0) std::printf("%.9f %d\n", seconds, wrong);
  MPI_Finalize();
}
