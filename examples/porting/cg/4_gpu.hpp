// 4. Everything runs on the GPU, in device arrays. The coefficients stay there; the CPU sees the residual one step
// late.
#include <ferry/core.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace fr = ferry;
namespace step_4 {
namespace {

// A row of q = A d. Returns d q.
struct multiply {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const int* start, const int* column, const double* value,
                                      const double* d, double* q) const {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * d[column[k]];
    q[i] = sum;
    return d[i] * q[i];
  }
};
struct divide {
  FERRY_HOST_DEVICE void operator()(std::size_t, fr::mdspan<const double, 0> above, fr::mdspan<const double, 0> below,
                                    double* quotient) const {
    *quotient = above() / below();
  }
};
struct square {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* r) const { return r[i] * r[i]; }
};
// x += alpha d, r -= alpha q. Returns r r.
struct advance {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* alpha, const double* d, const double* q, double* x,
                                      double* r) const {
    x[i] += *alpha * d[i];
    r[i] -= *alpha * q[i];
    return r[i] * r[i];
  }
};
// d = r + beta d
struct turn {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const double* beta, const double* r, double* d) const {
    d[i] = r[i] + *beta * d[i];
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const matrix given = plate(p.size);
  const Eigen::VectorXd b = given * temperature(p.size);
  const auto n = static_cast<std::size_t>(given.rows()), elements = static_cast<std::size_t>(given.nonZeros());
  const auto start = fr::device_array<int>::from({given.outerIndexPtr(), n + 1}),
             column = fr::device_array<int>::from({given.innerIndexPtr(), elements});
  const auto value = fr::device_array<double>::from({given.valuePtr(), elements});
  fr::device_array<double> x({n}, 0.0), r = fr::device_array<double>::from({b.data(), n}), d = r.clone(), q({n});
  fr::device_array<double> alpha({1}), beta({1});
  fr::scalar<double> rr = fr::parallel_reduce(n, square{}, fr::plus{}, fr::in(r));
  const double enough = 1e-28 * rr;

  const porting::stopwatch watch;
  std::size_t steps = 0;
  for (double late = 2 * enough; steps < p.steps && late > enough; ++steps) {
    const auto dq = fr::parallel_reduce(n, multiply{}, fr::plus{}, start, column, value, fr::in(d), fr::out(q));
    fr::parallel_for(1, divide{}, rr, dq, fr::out(alpha));
    auto next =
        fr::parallel_reduce(n, advance{}, fr::plus{}, fr::in(alpha), fr::in(d), fr::in(q), fr::inout(x), fr::inout(r));
    fr::parallel_for(1, divide{}, next, rr, fr::out(beta));
    fr::parallel_for(n, turn{}, fr::in(beta), fr::in(r), fr::inout(d));
    late = std::exchange(rr, std::move(next));  // the previous step's value: the GPU is busy meanwhile
  }
  fr::default_stream(x.device()).synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(x), seconds, steps};
}

}  // namespace step_4
