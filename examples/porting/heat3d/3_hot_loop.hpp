// 3. The loop over the cells, nearly all of the time, becomes a functor, which the GPU runs. The CPU still sets the
// ghost cells.
#include <ferry/unified.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "block.hpp"

namespace fr = ferry;
namespace step_3 {
namespace {

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
  const std::size_t n = p.size;
  fr::unified_array<double, 3> now({n + 2, n + 2, n + 2}, 0.0), next({n + 2, n + 2, n + 2}, 0.0);
  now.name("now"), next.name("next");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) now(i + 1, j + 1, k + 1) = block::at_start(i, j, k, n);
  for (auto* u : {&now, &next})
    for (std::size_t j = 1; j <= n; ++j)
      for (std::size_t k = 1; k <= n; ++k) (*u)(0, j, k) = block::warm, (*u)(n + 1, j, k) = block::cold;

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    {
      const auto from = fr::host(now);  // its scope ends before the kernel
      for (std::size_t i = 1; i <= n; ++i)
        for (std::size_t k = 1; k <= n; ++k) {  // insulated: ghost cells are as warm as the cells beside them
          from(i, 0, k) = from(i, 1, k), from(i, n + 1, k) = from(i, n, k);
          from(i, k, 0) = from(i, k, 1), from(i, k, n + 1) = from(i, k, n);
        }
    }
    fr::parallel_for({n, n, n}, diffuse{}, fr::in(now), fr::inout(next));  // inout: ghost cells stay
    std::swap(now, next);
  }
  fr::default_stream(now.device()).synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now.slice({{1, n + 1}, {1, n + 1}, {1, n + 1}})), seconds};
}

}  // namespace step_3
