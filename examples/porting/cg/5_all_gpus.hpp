// 5. The rows are dealt out to all GPUs. A row needs what lies within the matrix's bandwidth around it: that is the halo.
#include <ferry/ferry.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace fr = ferry;
namespace step_5 {
namespace {

// A row of q = A d, of those that one GPU has. d begins with row `first`.
struct multiply {
  std::ptrdiff_t first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* start, const int* column, const double* value,
                                    const double* d, double* q) const {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k - start[0]] * d[column[k - start[0]] - first];
    q[i] = sum;
  }
};
using all = fr::shard_span<double, 1>;
using read = fr::shard_span<const double, 1>;
struct dot {
  FERRY_HOST_DEVICE double operator()(std::size_t i, read d, read q) const { return d[i] * q[i]; }
};
// Of sums in parts, one of each GPU.
struct divide {
  FERRY_HOST_DEVICE void operator()(std::size_t, fr::mdspan<const double, 1> above, fr::mdspan<const double, 1> below,
                                    double* quotient) const {
    double a = 0, b = 0;
    for (std::size_t m = 0; m < above.size(); ++m) a += above(m), b += below(m);
    *quotient = a / b;
  }
};
// x += alpha d, r -= alpha q. Gives r r.
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

struct rows {  // of the matrix, in one GPU's memory
  fr::device_array<int> start, column;
  fr::device_array<double> value;
};

}  // namespace

porting::result run(const porting::problem& p) {
  const matrix given = plate(p.size);
  const Eigen::VectorXd b = given * temperature(p.size);
  const auto n = static_cast<std::size_t>(given.rows());
  const fr::team gpus = fr::team::all();
  fr::sharded_array<double, 1> x(gpus, {n}, {}, 0.0), r(gpus, {n}), d(gpus, {n}, {.halo = p.size}, 0.0), q(gpus, {n});
  fr::replicated_array<double> alpha(gpus, {1}), beta(gpus, {1});
  std::vector<rows> a;
  for (std::size_t m = 0; m < gpus.size(); ++m) {
    const auto [begin, end] = gpus.part_of(m, n);
    const int *const starts = given.outerIndexPtr() + begin, first = *starts;
    const auto count = static_cast<std::size_t>(given.outerIndexPtr()[end] - first);
    const fr::device gpu = gpus.device(m);
    a.push_back({fr::device_array<int>::from({starts, end - begin + 1}, gpu),
                 fr::device_array<int>::from({given.innerIndexPtr() + first, count}, gpu),
                 fr::device_array<double>::from({given.valuePtr() + first, count}, gpu)});
  }
  fr::copy(std::span<const double>(b.data(), n), r);
  fr::copy(std::span<const double>(b.data(), n), d);
  fr::exchange_halos(d);
  auto rr = fr::parallel_reduce(fr::owned(r), dot{}, fr::plus{}, fr::in(r), fr::in(r));
  const double enough = 1e-28 * rr;

  const porting::stopwatch watch;
  std::size_t steps = 0;
  for (double late = 2 * enough; steps < p.steps && late > enough; ++steps) {
    for (std::size_t m = 0; m < gpus.size(); ++m)
      fr::parallel_for(gpus[m], q.shard(m).size(), multiply{d.layout().local(m).begin[0]}, fr::in(a[m].start),
                       fr::in(a[m].column), fr::in(a[m].value), fr::in(d.shard_with_halo(m)), fr::out(q.shard(m)));
    const auto dq = fr::parallel_reduce(fr::owned(d), dot{}, fr::plus{}, fr::in(d), fr::in(q));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, rr, dq, fr::out(alpha));
    auto next = fr::parallel_reduce(fr::owned(x), advance{}, fr::plus{}, fr::in(alpha), fr::in(d), fr::in(q),
                                    fr::inout(x), fr::inout(r));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, next, rr, fr::out(beta));
    fr::parallel_for(fr::owned(d), turn{}, fr::in(beta), fr::in(r), fr::inout(d));
    fr::exchange_halos(d);
    late = std::exchange(rr, std::move(next));  // of the step before: the GPUs are busy meanwhile
  }
  return {fr::to_vector(x), watch.seconds(), steps};
}

}  // namespace step_5
