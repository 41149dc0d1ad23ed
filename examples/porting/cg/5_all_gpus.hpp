// 5. The rows are distributed over all GPUs. A row needs the elements within the matrix's bandwidth around it: that is
// the halo.
#include <ferry/ferry.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace fr = ferry;
namespace step_5 {
namespace {

using all = fr::shard_span<double, 1>;
using read = fr::shard_span<const double, 1>;
// A row of q = A d. Returns d q. A GPU's matrix begins with its first row.
struct multiply {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const int* start, const int* column, const double* value, read d,
                                      all q) const {
    const int* const row = start + (i - static_cast<std::size_t>(q.begin(0)));
    double sum = 0;
    for (int k = row[0] - start[0]; k < row[1] - start[0]; ++k)
      sum += value[k] * d[static_cast<std::size_t>(column[k])];
    q[i] = sum;
    return d[i] * q[i];
  }
};
struct square {
  FERRY_HOST_DEVICE double operator()(std::size_t i, read r) const { return r[i] * r[i]; }
};
// Divides sums that have one part per GPU.
struct divide {
  FERRY_HOST_DEVICE void operator()(std::size_t, fr::mdspan<const double, 1> above, fr::mdspan<const double, 1> below,
                                    double* quotient) const {
    double a = 0, b = 0;
    for (std::size_t m = 0; m < above.size(); ++m) a += above(m), b += below(m);
    *quotient = a / b;
  }
};
// x += alpha d, r -= alpha q. Returns r r.
struct advance {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* alpha, read d, read q, all x, all r) const {
    x[i] += *alpha * d[i];
    r[i] -= *alpha * q[i];
    return r[i] * r[i];
  }
};
// d = r + beta d
struct turn {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const double* beta, read r, all d) const {
    d[i] = r[i] + *beta * d[i];
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const matrix given = plate(p.size);
  const Eigen::VectorXd b = given * temperature(p.size);
  const auto n = static_cast<std::size_t>(given.rows());
  const fr::team gpus = fr::team::all();
  fr::sharded_array<double, 1> x(gpus, {n}, {}, 0.0), r(gpus, {n}), d(gpus, {n}, {.halo = p.size}, 0.0), q(gpus, {n});
  fr::replicated_array<double> alpha(gpus, {1}), beta(gpus, {1});
  const auto elements_of = [&](const fr::part& own) {  // of the matrix, in the given rows
    const int* const starts = given.outerIndexPtr();
    return fr::part{static_cast<std::size_t>(starts[own.begin]), static_cast<std::size_t>(starts[own.end])};
  };
  std::size_t most = 0;
  for (std::size_t m = 0; m < gpus.size(); ++m) most = std::max(most, elements_of(gpus.part_of(m, n)).size());
  fr::replicated_array<int> start(gpus, {gpus.part_of(0, n).size() + 1}), column(gpus, {most});
  fr::replicated_array<double> value(gpus, {most});
  for (std::size_t m = 0; m < gpus.size(); ++m) {
    const fr::part own = gpus.part_of(m, n), of_own = elements_of(own);
    const auto take = [m](const auto* from, std::size_t count, auto& to) {
      fr::copy(std::span(from, count), to.copy_of(m).slice({0, count}));
    };
    take(given.outerIndexPtr() + own.begin, own.size() + 1, start);
    take(given.innerIndexPtr() + of_own.begin, of_own.size(), column);
    take(given.valuePtr() + of_own.begin, of_own.size(), value);
  }
  fr::copy(std::span<const double>(b.data(), n), r);
  fr::copy(std::span<const double>(b.data(), n), d);
  fr::exchange_halos(d);
  auto rr = fr::parallel_reduce(fr::owned(r), square{}, fr::plus{}, fr::in(r));
  const double enough = 1e-28 * rr;

  const porting::stopwatch watch;
  std::size_t steps = 0;
  for (double late = 2 * enough; steps < p.steps && late > enough; ++steps) {
    const auto dq = fr::parallel_reduce(fr::owned(q), multiply{}, fr::plus{}, fr::in(start), fr::in(column),
                                        fr::in(value), fr::in(d), fr::out(q));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, rr, dq, fr::out(alpha));
    auto next = fr::parallel_reduce(fr::owned(x), advance{}, fr::plus{}, fr::in(alpha), fr::in(d), fr::in(q),
                                    fr::inout(x), fr::inout(r));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, next, rr, fr::out(beta));
    fr::parallel_for(fr::owned(d), turn{}, fr::in(beta), fr::in(r), fr::inout(d));
    fr::exchange_halos(d);
    late = std::exchange(rr, std::move(next));  // the previous step's value: the GPUs are busy meanwhile
  }
  gpus.synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(x), seconds, steps};
}

}  // namespace step_5
