// MPIFFT: one transform over all ranks' devices (HPC Challenge's MPIFFT), in six steps. README.md in this folder
// derives the metric and defines what is proven.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/fft/form.hpp"
#include "measure/benchmark.hpp"
#include "transport/transport.hpp"
#include "world/team.hpp"

namespace plumb::mpi_fft {

// points = rows * columns, both powers of two; each rank has an equal share of either.
struct Split {
  std::uint64_t rows = 1, columns = 1, ranks = 1;
  std::uint64_t points() const { return rows * columns; }
  std::uint64_t own() const { return points() / ranks; }  // of a rank
};
Split split_of(int log_points, int ranks);

class MpiFft : public Benchmark {
 public:
  std::string name() const override { return "mpi_fft"; }
  std::string title() const override { return "one complex Fourier transform over all ranks' devices"; }
  std::string source() const override {
    return "HPC Challenge MPIFFT (Takahashi's six-step transform; 5 n log2(n) operations)";
  }
  bool needs_transport() const override { return true; }
  bool takes_kernel_file() const override { return true; }
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case&) override;
  void reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) override;
  void run(Session& session, const Case&, Timed& timed) override;
  Validation validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::int64_t> size_{*this, {"size", "points of the transform, of all ranks together", "log2"}, 20, {2, 30}};
  Choice type_{*this, {"type", "type of re and im"}, "double", {"float", "double"}};
  hpcc::VariantChoice variant_{*this};

  ScalarType type() const { return parse_scalar_type(type_); }
  std::size_t own_bytes() const { return split_.own() * 2 * size_of(type()); }
  std::unique_ptr<fft::Form> make_form(Session& session, std::uint64_t length, std::uint64_t batch);
  void turn(Timed& timed, Buffer& from, std::size_t offset, std::uint64_t rows, std::uint64_t columns, bool twiddles,
            Buffer& to, std::size_t to_offset);
  void transform(Timed& timed, fft::Form& form);

  // Of the prepared case.
  Split split_;
  Slide slide_;
  int rank_ = 0;
  std::unique_ptr<Team> all_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> input_, sent_, received_, before_, after_, output_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> turn_, join_;
  std::unique_ptr<CompiledExchange> exchange_;
  std::unique_ptr<fft::Form> of_columns_, of_rows_;
  std::vector<std::byte> image_;
  double weighted_ = 0, point_ = 0;  // largest of all validations
};

}  // namespace plumb::mpi_fft
