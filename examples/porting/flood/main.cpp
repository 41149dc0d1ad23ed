// The flood, from one CPU to all GPUs: docs/porting.md explains the steps.
#include "../support/run_steps.hpp"
#include "3_hot_loop.hpp"
#include "4_gpu.hpp"
#include "5_all_gpus.hpp"

namespace step_1 {
porting::result run(const porting::problem& p);
}
namespace step_2 {
porting::result run(const porting::problem& p);
}

namespace {

// All the rain is still there, or ran off the edges.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  long double water = 0;  // double is not precise enough for this check
  for (const double depth : r.values) water += depth;
  const double rain = 1e-3 * static_cast<double>(p.steps * p.size * p.size),
               error = std::abs(static_cast<double>(water) / rain - 1);
  return error < 1e-11 ? "" : "the water balance is wrong by " + std::to_string(100 * error) + " %";
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code flood{"flood",
                            {4096, 50},
                            0,
                            {{{"CPU, vectors", step_1::run},
                              {"CPU, unified arrays", step_2::run},
                              {"the fluxes on a GPU", step_3::run},
                              {"all loops on a GPU", step_4::run},
                              {"all GPUs", step_5::run}}},
                            what_is_wrong};
  return porting::run_steps(flood, argc, argv);
}
