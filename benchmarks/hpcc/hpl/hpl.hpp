// HPL: A x = b by a blocked LU over a grid of ranks, then the two triangular solves (seed: HPCC FPGA's LINPACK; HPL's
// matrix, pivoting and residual). README.md in this folder derives every metric and defines what is proven.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/hpl/matrix.hpp"
#include "benchmarks/hpcc/hpl/refine.hpp"
#include "benchmarks/hpcc/hpl/residual.hpp"
#include "benchmarks/hpcc/hpl/solver.hpp"
#include "measure/benchmark.hpp"

namespace plumb::hpl {

// Floating-point operations, counted separately: the factorisation's, the solves', and HPL's, their sum.
double lu_flops(double n);     // 2 n^3 / 3 - n^2 / 2
double solve_flops(double n);  // 2 n^2
double hpl_flops(double n);    // 2 n^3 / 3 + 3 n^2 / 2

class Hpl : public Benchmark {
 public:
  std::string name() const override { return "hpl"; }
  std::string title() const override { return "a system of equations, by LU over a grid of devices"; }
  std::string source() const override {
    return "High Performance LINPACK (Petitet, Whaley, Dongarra, Cleary: matrix, pivoting, residual, operation count) "
           "and HPCC FPGA's LINPACK (Meyer, Kenter, Plessl: diagonally dominant, without pivoting)";
  }
  bool needs_transport() const override { return true; }
  bool takes_kernel_file() const override { return true; }  // in place of device.cl
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& device) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // For tests that break one of them.
  virtual std::unique_ptr<Matrix> make_matrix(Session& session, std::uint64_t repetition);
  virtual std::unique_ptr<Solver> make_solver(Session& session, const SolverWish& wish);
  virtual std::size_t most_corrections() const { return 50; }
  virtual std::unique_ptr<Matrix> make_matrix_again(Session& session, std::uint64_t repetition) {
    return make_matrix(session, repetition);
  }

  const Layout& layout() const { return layout_; }
  Form& form() { return *form_; }
  const Teams& teams() const { return teams_; }
  Kind kind() const { return matrix_ == "general" ? Kind::general : Kind::dominant; }
  ScalarType type() const { return parse_scalar_type(type_); }

 private:
  Parameter<std::int64_t> size_{
      *this, {"size", "rows and columns of the matrix, of all ranks together", "elements"}, 4096, {1, 1 << 22}};
  Parameter<std::int64_t> block_{*this,
                                 {"block",
                                  "rows and columns of a block, in which the matrix is dealt out",
                                  "elements",
                                  {},
                                  "",
                                  {},
                                  Build{"b", "BLOCK"}},
                                 128,
                                 {1, 2048}};
  Parameter<std::string> grid_{
      *this,
      {"grid", "rows x columns of ranks, such as 2x3; by default the most square, no more rows than columns"},
      "default"};
  Choice matrix_{*this,
                 {"matrix", "HPL's random matrix, with partial pivoting; or a diagonally dominant one, without"},
                 "general",
                 {"general", "dominant"}};
  Choice type_{*this,
               {"type",
                "element type",
                "",
                {"--DATA_TYPE"},
                "",
                {},
                Build{"", "", false, [](const std::string& type) { return "-DNUMBER=" + type; }}},
               "double",
               {"float", "double"}};
  Choice broadcast_{*this, {"broadcast", "how panels go along a row of the grid"}, "ring", {"ring", "torus", "tree"}};
  Parameter<std::int64_t> depth_{
      *this, {"depth", "panels that are factorised and sent while the update of the one before goes on"}, 1, {0, 1}};
  Choice refine_{*this,
                 {"refine",
                  "factorise in float, with products of factors of this type, and refine the solution to double "
                  "(HPL-MxP's rules)"},
                 "off",
                 {"off", "half", "tf32", "float"}};
  Choice kernel_{*this,
                 {"kernel", "OpenCL devices: a panel's kernels for CPUs or those for GPUs; by default the device's"},
                 "default",
                 {"default", "cpu", "gpu"}};
  hpcc::VariantChoice variant_{*this};

  std::pair<int, int> grid(int ranks) const;
  Layout layout_of(const Plan& plan) const;
  void write_matrix(const Matrix& matrix);
  bool refines() const { return refine_ != "off"; }
  ScalarType factor_type() const { return refines() ? ScalarType::f32 : type(); }
  Factors factors() const;
  bool alone(const DeviceInfo& device) const;
  std::string type_label() const { return refines() ? refine_.get() + "-refined" : type_.get(); }

  // Of the prepared case.
  Layout layout_;
  Teams teams_;
  std::unique_ptr<Form> form_;
  std::unique_ptr<Solver> solver_;
  std::vector<double> b_;
  std::unique_ptr<Matrix> refined_for_;  // in this repetition, for its refinement
  Refined refined_;
  Json found_;  // of the latest validation
};

}  // namespace plumb::hpl
