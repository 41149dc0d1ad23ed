// 4. The start is a kernel, too, and ready-made conditions set the ghost cells of the faces. All arrays become device
// arrays.
#include <ferry/core.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "block.hpp"

namespace fr = ferry;
namespace step_4 {
namespace {

struct prepare {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<double, 3> u) const {
    u(i + 1, j + 1, k + 1) = block::at_start(i, j, k, u.extent(0) - 2);
  }
};

struct diffuse {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<const double, 3> from,
                                    fr::mdspan<double, 3> to) const {
    ++i, ++j, ++k;  // the first cell is behind a ghost cell
    const double here = from(i, j, k);
    const double along_0 = from(i - 1, j, k) + from(i + 1, j, k);
    const double along_1 = from(i, j - 1, k) + from(i, j + 1, k);
    const double along_2 = from(i, j, k - 1) + from(i, j, k + 1);
    to(i, j, k) = here + block::rate * (along_0 + along_1 + along_2 - 6 * here);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  using fr::side;
  const std::size_t n = p.size;
  fr::device_array<double, 3> now({n + 2, n + 2, n + 2}, 0.0), next({n + 2, n + 2, n + 2}, 0.0);
  now.name("now"), next.name("next");
  fr::parallel_for({n, n, n}, prepare{}, fr::inout(now));
  for (auto* u : {&now, &next}) {
    fr::fill(fr::ghosts(*u, side::low(0), 1), fr::fixed_value{block::warm});
    fr::fill(fr::ghosts(*u, side::high(0), 1), fr::fixed_value{block::cold});
  }

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::fill(fr::ghosts(now, {side::low(1), side::high(1), side::low(2), side::high(2)}, 1), fr::zero_gradient{});
    fr::parallel_for({n, n, n}, diffuse{}, fr::in(now), fr::inout(next));  // inout: ghost cells stay
    std::swap(now, next);
  }
  fr::default_stream(now.device()).synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now.slice({{1, n + 1}, {1, n + 1}, {1, n + 1}})), seconds};
}

}  // namespace step_4
