// Particles in cells, from one CPU to all GPUs: docs/porting.md explains the steps.
#include "../support/run_steps.hpp"
#include "3_particles.hpp"
#include "4_gpu.hpp"
#include "5_all_gpus.hpp"

namespace step_1 {
porting::result run(const porting::problem& p);
}
namespace step_2 {
porting::result run(const porting::problem& p);
}

namespace {

// The nodes contain the whole charge, and all particles are inside the box.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  const std::size_t nodes = p.size * p.size, particles = step_4::crowd * nodes + p.steps * p.size;
  if (r.values.size() != 2 * nodes + 2 * particles) return "particles are missing";
  double charge = 0;
  for (std::size_t i = 0; i < nodes; ++i) charge += r.values[i];
  const double error = std::abs(charge / static_cast<double>(particles) - 1);
  if (!(error < 1e-6)) return "the charge of the grid is wrong by " + std::to_string(100 * error) + " %";
  for (std::size_t i = 2 * nodes; i < r.values.size(); ++i)
    if (!(r.values[i] >= 0 && r.values[i] <= static_cast<double>(p.size - 1))) return "a particle left the box";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code particles{"particles",
                                {1024, 20},
                                0,
                                {{{"CPU, vectors", step_1::run},
                                  {"CPU, unified arrays", step_2::run},
                                  {"particles on a GPU, the field on the CPU", step_3::run},
                                  {"all loops on a GPU", step_4::run},
                                  {"all GPUs", step_5::run}}},
                                what_is_wrong};
  return porting::run_steps(particles, argc, argv);
}
