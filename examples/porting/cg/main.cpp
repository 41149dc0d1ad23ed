// Conjugate gradients, from one CPU to all GPUs: docs/porting.md tells the steps.
#include "../support/run_steps.hpp"
#include "3_multiply.hpp"
#include "4_gpu.hpp"
#include "5_all_gpus.hpp"

namespace step_1 {
porting::result run(const porting::problem& p);
}
namespace step_2 {
porting::result run(const porting::problem& p);
}

namespace {

// The right side was made from the solution.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  if (r.steps == p.steps) return "did not converge in " + std::to_string(p.steps) + " steps";
  const Eigen::VectorXd right = temperature(p.size);
  const double error = porting::difference(r.values, {right.data(), right.data() + right.size()});
  return error < 1e-9 ? "" : "x is wrong by " + std::to_string(error);
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code cg{"cg",
                         {256, 10000},
                         1e-9,
                         {{{"CPU, Eigen", step_1::run},
                           {"CPU, unified arrays", step_2::run},
                           {"the product on a GPU", step_3::run},
                           {"all of it on a GPU", step_4::run},
                           {"all GPUs", step_5::run}}},
                         what_is_wrong};
  return porting::run_steps(cg, argc, argv);
}
