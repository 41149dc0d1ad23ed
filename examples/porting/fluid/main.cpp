// A fluid by the lattice Boltzmann method, from one CPU to all GPUs: docs/porting.md explains the steps.
#include <algorithm>

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

// The basin still holds the mass of the start, and the streams flow around the disc.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  long double mass = 0;  // double is not precise enough for this check
  for (const double population : r.values) mass += population;
  const double error = std::abs(static_cast<double>(mass) / static_cast<double>(p.size * p.size) - 1);
  if (!(error < 1e-12)) return "the mass is wrong by " + std::to_string(100 * error) + " %";
  const std::size_t cells = p.size * p.size;
  double fastest = 0;  // difference of the populations that move down and up: 0 at the start
  for (std::size_t k = 0; k < cells; ++k)
    fastest = std::max(fastest, std::abs(r.values[2 * cells + k] - r.values[4 * cells + k]));
  return fastest > 1e-3 || p.steps > p.size ? "" : "nothing flows around the disc";  // it comes to rest later
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code fluid{"fluid",
                            {2048, 50},
                            0,
                            {{{"CPU, vectors", step_1::run},
                              {"CPU, unified arrays", step_2::run},
                              {"the time steps on a GPU", step_3::run},
                              {"all loops on a GPU", step_4::run},
                              {"all GPUs", step_5::run}}},
                            what_is_wrong};
  return porting::run_steps(fluid, argc, argv);
}
