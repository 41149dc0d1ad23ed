// A gas on a mesh of triangles, from one CPU to all GPUs: docs/porting.md explains the steps.
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

// Mass and energy of the start are still in the box, and the gas moves.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  const box b(p.size);
  if (r.values.size() != b.states.size()) return "cells are missing";
  for (const std::size_t k : {std::size_t{0}, std::size_t{3}}) {
    long double before = 0, after = 0;  // double is not precise enough for this check
    for (std::size_t i = 0; i < b.cells(); ++i)
      before += b.areas[i] * b.states[4 * i + k], after += b.areas[i] * r.values[4 * i + k];
    const double error = std::abs(static_cast<double>(after / before - 1));
    if (!(error < 1e-12))
      return "the balance of component " + std::to_string(k) + " is wrong by " + std::to_string(error);
  }
  const auto [least, greatest] = std::minmax_element(r.values.begin(), r.values.end());
  const bool has_moved = *least < -0.1 && *greatest > 2;
  return has_moved || p.steps > p.size ? "" : "the gas does not move";  // it comes to rest later
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code gas{"gas",
                          {1024, 50},
                          0,
                          {{{"CPU, vectors", step_1::run},
                            {"CPU, unified arrays", step_2::run},
                            {"the fluxes on a GPU", step_3::run},
                            {"all loops on a GPU", step_4::run},
                            {"all GPUs", step_5::run}}},
                          what_is_wrong};
  return porting::run_steps(gas, argc, argv);
}
