// The heat equation in a block, from one CPU to all GPUs: docs/porting.md explains the steps.
#include <algorithm>
#include <numeric>

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

// Temperatures stay between those of the faces, and the cells behind the warm face have become warmer.
std::string what_is_wrong(const porting::problem& p, const porting::result& r) {
  const std::size_t plane = p.size * p.size;
  if (r.values.size() != plane * p.size) return "cells are missing";
  const auto [least, greatest] = std::minmax_element(r.values.begin(), r.values.end());
  if (!(*least >= block::cold && *greatest <= block::warm))
    return "temperatures from " + std::to_string(*least) + " to " + std::to_string(*greatest);
  const auto mean = [&](std::size_t first) {
    const auto begin = r.values.begin() + static_cast<std::ptrdiff_t>(first);
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(plane), 0.) / static_cast<double>(plane);
  };
  return mean(0) > 0.3 && mean(r.values.size() - plane) < 0.24 ? "" : "no heat has moved";
}

}  // namespace

int main(int argc, char** argv) {
  const porting::code heat{"heat3d",
                           {320, 50},
                           0,
                           {{{"CPU, vectors", step_1::run},
                             {"CPU, unified arrays", step_2::run},
                             {"the loop over cells on a GPU", step_3::run},
                             {"all loops on a GPU", step_4::run},
                             {"all GPUs", step_5::run}}},
                           what_is_wrong};
  return porting::run_steps(heat, argc, argv);
}
