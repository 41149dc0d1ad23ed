// Conjugate gradients, from one CPU to all GPUs: docs/porting.md explains the steps.
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

// The right side was made from the solution. Until they have converged, conjugate gradients make e A e smaller in every
// step, where e is the error.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  const Eigen::VectorXd right = temperature(p.size), x = Eigen::VectorXd::Map(r.values.data(), right.size());
  if (r.steps < p.steps) {
    const double error = porting::difference(r.values, {right.data(), right.data() + right.size()});
    return error < 1e-9 ? "" : "x is wrong by " + std::to_string(error);
  }
  const matrix a = plate(p.size);
  const auto norm = [&a](const Eigen::VectorXd& e) { return e.dot(a * e); };
  return norm(right - x) < norm(right) ? "" : "x is no better than 0 after " + std::to_string(p.steps) + " iterations";
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code cg{"cg",
                         {4096, 50},
                         1e-9,
                         {{{"CPU, Eigen", step_1::run},
                           {"CPU, unified arrays", step_2::run},
                           {"the product on a GPU", step_3::run},
                           {"all of it on a GPU", step_4::run},
                           {"all GPUs", step_5::run}}},
                         what_is_wrong};
  return porting::run_steps(cg, argc, argv);
}
