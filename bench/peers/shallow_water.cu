// The peer of shallow_water on one NVIDIA GPU: the same numerics (peers/shallow_water.hpp), one thread an element.
//
//   nvcc -O3 -std=c++17 -arch=native bench/peers/shallow_water.cu -o gpu_shallow_water
//   gpu_shallow_water MESH.14 REFINEMENTS ORDER STEPS [SAMPLES [STATES]]
//
// First 10 steps on the unrefined mesh are compared with the same steps on the host in double; a difference ends the
// program with 3. Prints {"peer", "case", "samples_s", "work", "level_rms"} for each layout of the state (separate
// fields; for order 0 also level, U, V and bed of an element together) and threads a block: work is element updates of
// a sample. STATES: file of the elements' mean level and velocities at the end.
#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define EVERYWHERE __host__ __device__ __forceinline__
#define UNROLLED _Pragma("unroll")

namespace water {

template <class T>
EVERYWHERE T root(T x) {
  return sqrt(x);
}
template <class T>
EVERYWHERE T absolute(T x) {
  return fabs(x);
}
template <class T>
EVERYWHERE T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
EVERYWHERE T select(bool which, T yes, T no) {
  return which ? yes : no;
}

}  // namespace water

#include "shallow_water.hpp"

namespace water {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// A value of each element after the other.
template <int P, class T>
struct Separate {
  const T* __restrict__ from;
  const T* base;
  T* to;
  const int* __restrict__ codes;
  const T* __restrict__ slopes;
  const T* __restrict__ bed;
  unsigned stride;

  EVERYWHERE void load(Cell<P, T>& c, unsigned e, int beds) const {
    UNROLLED
    for (int f = 0; f < 3; ++f) {
      UNROLLED
      for (int i = 0; i < basis_count<P>; ++i) c.q[f][i] = from[(f * basis_count<P> + i) * stride + e];
    }
    UNROLLED
    for (int i = 0; i < beds; ++i) c.bed[i] = bed[i * stride + e];
  }
  EVERYWHERE void own(Cell<P, T>& c, unsigned e) const { load(c, e, 3); }
  EVERYWHERE void near(Cell<P, T>& c, int code, unsigned e) const {
    load(c, code < 0 ? e : unsigned(code >> 2), P == 0 ? 1 : 3);
  }
  EVERYWHERE void slopes_of(T* four, unsigned e) const {
    UNROLLED
    for (int i = 0; i < 4; ++i) four[i] = slopes[i * stride + e];
  }
  EVERYWHERE int code(int k, unsigned e) const { return codes[k * stride + e]; }
  EVERYWHERE void keep(const Cell<P, T>&, T moved[3][basis_count<P>], unsigned e, T share) const {
    UNROLLED
    for (int f = 0; f < 3; ++f) {
      UNROLLED
      for (int i = 0; i < basis_count<P>; ++i) {
        const unsigned at = (f * basis_count<P> + i) * stride + e;
        to[at] = P == 0 ? moved[f][i] : moved[f][i] + share * base[at];
      }
    }
  }
};

// Order 0: level, U, V and the bed's mean of an element in 16 bytes, its slopes likewise.
struct Together {
  const float4* __restrict__ from;
  float4* to;
  const int* __restrict__ codes;
  const float4* __restrict__ slopes;
  const float* __restrict__ bed;
  unsigned stride;

  EVERYWHERE void put(Cell<0, float>& c, float4 x) const {
    c.q[0][0] = x.x;
    c.q[1][0] = x.y;
    c.q[2][0] = x.z;
    c.bed[0] = x.w;
  }
  EVERYWHERE void own(Cell<0, float>& c, unsigned e) const {
    put(c, from[e]);
    c.bed[1] = bed[stride + e];
    c.bed[2] = bed[2 * stride + e];
  }
  EVERYWHERE void near(Cell<0, float>& c, int code, unsigned e) const {
    put(c, from[code < 0 ? e : unsigned(code >> 2)]);
    c.bed[1] = c.bed[2] = 0;
  }
  EVERYWHERE void slopes_of(float* four, unsigned e) const {
    const float4 x = slopes[e];
    four[0] = x.x;
    four[1] = x.y;
    four[2] = x.z;
    four[3] = x.w;
  }
  EVERYWHERE int code(int k, unsigned e) const { return codes[k * stride + e]; }
  EVERYWHERE void keep(const Cell<0, float>& c, float moved[3][1], unsigned e, float) const {
    to[e] = make_float4(moved[0][0], moved[1][0], moved[2][0], c.bed[0]);
  }
};

template <int P, class T, class A>
__global__ void stage(A arrays, unsigned elements, Constants<T> k) {
  const unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < elements) update<P, T, T>(arrays, e, k);
}

template <class T>
class OnDevice {
 public:
  OnDevice() = default;
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    check(cudaMalloc(&data_, bytes()));
    write(values);
  }
  OnDevice(OnDevice&& other) : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  ~OnDevice() { cudaFree(data_); }
  void write(const std::vector<T>& values) { check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice)); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }
  T* get() const { return data_; }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// The states of a simulation on the device, fields apart.
template <int P>
class Apart {
 public:
  static constexpr const char* name = "separate";
  explicit Apart(const Arrays<float>& all) : all_(all), codes_(all.near), slopes_(all.slopes), bed_(all.bed) {
    for (int i = 0; i < (P == 2 ? 3 : 2); ++i) states_.emplace_back(all.state);
  }
  void reset() { states_[0].write(all_.state); }
  Separate<P, float> of(const Turn& turn) const {
    return {states_[turn.from].get(),
            states_[turn.base].get(),
            states_[turn.to].get(),
            codes_.get(),
            slopes_.get(),
            bed_.get(),
            unsigned(all_.stride)};
  }
  std::vector<float> end(long steps) const { return states_[P == 0 ? steps % 2 : 0].read(); }

 private:
  const Arrays<float>& all_;
  std::vector<OnDevice<float>> states_;
  OnDevice<int> codes_;
  OnDevice<float> slopes_, bed_;
};

// The same, four numbers of an element together.
class Joined {
 public:
  static constexpr const char* name = "together";
  explicit Joined(const Arrays<float>& all)
      : all_(all),
        start_(four(all, all.state, &all.bed)),
        codes_(all.near),
        slopes_(four(all, all.slopes, nullptr)),
        bed_(all.bed) {
    for (int i = 0; i < 2; ++i) states_.emplace_back(start_);
  }
  void reset() { states_[0].write(start_); }
  Together of(const Turn& turn) const {
    return {states_[turn.from].get(), states_[turn.to].get(), codes_.get(), slopes_.get(), bed_.get(),
            unsigned(all_.stride)};
  }
  std::vector<float> end(long steps) const {
    const std::vector<float4> found = states_[steps % 2].read();
    std::vector<float> state(all_.state.size());
    for (std::size_t e = 0; e < all_.elements; ++e) {
      state[e] = found[e].x;
      state[all_.stride + e] = found[e].y;
      state[2 * all_.stride + e] = found[e].z;
    }
    return state;
  }

 private:
  static std::vector<float4> four(const Arrays<float>& all, const std::vector<float>& from,
                                  const std::vector<float>* last) {
    std::vector<float4> joined(all.stride);
    for (std::size_t e = 0; e < all.stride; ++e)
      joined[e] = make_float4(from[e], from[all.stride + e], from[2 * all.stride + e],
                              last != nullptr ? (*last)[e] : from[3 * all.stride + e]);
    return joined;
  }

  const Arrays<float>& all_;
  std::vector<float4> start_;
  std::vector<OnDevice<float4>> states_;
  OnDevice<int> codes_;
  OnDevice<float4> slopes_;
  OnDevice<float> bed_;
};

template <int P, class Form>
double sample(Form& form, const Arrays<float>& all, long steps, unsigned threads) {
  const auto stages = stages_of(P);
  form.reset();
  check(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (long step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const auto arrays = form.of(turn_of(P, i, step));
      const unsigned blocks = unsigned((all.elements + threads - 1) / threads);
      stage<P, float>
          <<<blocks, threads>>>(arrays, unsigned(all.elements), constants_of<float>(stages[i], all.dt, step));
    }
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <int P, class Form>
void measure(const Arrays<float>& all, long steps, int samples, const char* path) {
  Form form(all);
  const std::size_t work = all.elements * stages_of(P).size() * std::size_t(steps);
  for (unsigned threads : {64U, 128U, 256U}) {
    sample<P>(form, all, steps, threads);  // warms up
    std::printf("{\"peer\": \"CUDA\", \"case\": \"%s, %u threads\", \"samples_s\": [", Form::name, threads);
    for (int i = 0; i < samples; ++i) std::printf("%s%.9g", i > 0 ? ", " : "", sample<P>(form, all, steps, threads));
    const std::vector<float> end = form.end(steps);
    std::printf("], \"work\": %zu, \"level_rms\": %.9g}\n", work, level_rms(all, end));
    if (path != nullptr) write_states(all, end, path);
  }
}

// Steps on the host, in double.
template <int P>
std::vector<double> steps_on_host(const Arrays<double>& all, long steps) {
  std::vector<std::vector<double>> states(P == 2 ? 3 : 2, all.state);
  const auto stages = stages_of(P);
  for (long step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const Turn turn = turn_of(P, i, step);
      const Separate<P, double> arrays{states[turn.from].data(), states[turn.base].data(), states[turn.to].data(),
                                       all.near.data(),          all.slopes.data(),        all.bed.data(),
                                       unsigned(all.stride)};
      const Constants<double> k = constants_of<double>(stages[i], all.dt, step);
      for (unsigned e = 0; e < all.elements; ++e) update<P, double, double>(arrays, e, k);
    }
  return states[P == 0 ? steps % 2 : 0];
}

// The device's states must be the host's, within few roundings a stage of the largest value.
template <int P, class Form>
void compare(const Mesh& mesh) {
  constexpr long steps = 10;
  const Arrays<float> all = arrays_of<P, float>(mesh);
  const Arrays<double> wide = arrays_of<P, double>(mesh);
  const std::vector<double> right = steps_on_host<P>(wide, steps);
  Form form(all);
  sample<P>(form, all, steps, 128);
  const std::vector<float> found = form.end(steps);
  double largest = 0, off = 0;
  for (std::size_t c = 0; c < std::size_t(3 * basis_count<P>); ++c)
    for (std::size_t e = 0; e < all.elements; ++e) {
      const std::size_t at = c * all.stride + e;
      largest = std::max(largest, std::fabs(right[at]));
      const double difference = std::fabs(right[at] - double(found[at]));
      if (!(difference <= off)) off = difference;
    }
  std::fprintf(stderr, "%s, %zu elements, %ld steps: off by %.2g of the largest value\n", Form::name, all.elements,
               steps, off / largest);
  if (off <= 2e-5 * largest) return;
  std::fprintf(stderr, "the device's states are wrong\n");
  std::exit(3);
}

template <int P>
void all_forms(const Mesh& base, const Mesh& mesh, long steps, int samples, const char* path) {
  compare<P, Apart<P>>(base);
  const Arrays<float> all = arrays_of<P, float>(mesh);
  measure<P, Apart<P>>(all, steps, samples, path);
  if constexpr (P == 0) {
    compare<0, Joined>(base);
    measure<0, Joined>(all, steps, samples, nullptr);
  }
}

}  // namespace water

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: gpu_shallow_water MESH.14 REFINEMENTS ORDER STEPS [SAMPLES [STATES]]\n");
    return 2;
  }
  const water::Mesh base = water::read_mesh(words[1]);
  water::Mesh mesh = base;
  for (int i = std::atoi(words[2]); i > 0; --i) mesh = water::cut(mesh);
  const int order = std::atoi(words[3]), samples = count > 5 ? std::atoi(words[5]) : 10;
  const long steps = std::atol(words[4]);
  const auto measure = order == 0 ? water::all_forms<0> : order == 1 ? water::all_forms<1> : water::all_forms<2>;
  measure(base, mesh, steps, samples, count > 6 ? words[6] : nullptr);
}
