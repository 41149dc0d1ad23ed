// 3. The product with the matrix, most of the time, becomes a functor, which the GPU runs. Eigen does the rest.
#include <ferry/core.hpp>
#include <ferry/eigen.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace fr = ferry;
namespace step_3 {
namespace {

// A row of q = A d.
struct multiply {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* start, const int* column, const double* value,
                                    const double* d, double* q) const {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * d[column[k]];
    q[i] = sum;
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const matrix given = plate(p.size);
  const Eigen::VectorXd b = given * temperature(p.size);
  const auto n = static_cast<std::size_t>(given.rows()), elements = static_cast<std::size_t>(given.nonZeros());
  const auto start = fr::unified_array<int>::from({given.outerIndexPtr(), n + 1}),
             column = fr::unified_array<int>::from({given.innerIndexPtr(), elements});
  const auto value = fr::unified_array<double>::from({given.valuePtr(), elements});
  fr::unified_array<double> of_x({n}, 0.0), of_r = fr::unified_array<double>::from({b.data(), n}), of_d = of_r.clone(),
                                            of_q({n});
  of_x.name("x"), of_r.name("r"), of_d.name("d"), of_q.name("q");
  double rr = b.squaredNorm();
  const double enough = 1e-28 * rr;

  const porting::stopwatch watch;
  std::size_t steps = 0;
  for (; steps < p.steps && rr > enough; ++steps) {
    fr::parallel_for(n, multiply{}, start, column, value, fr::in(of_d), fr::out(of_q));
    auto x = fr::as_eigen(of_x), r = fr::as_eigen(of_r), d = fr::as_eigen(of_d);  // valid until the next submission
    const auto q = fr::as_eigen(std::as_const(of_q));
    const double alpha = rr / d.dot(q);
    x += alpha * d;
    r -= alpha * q;
    const double before = std::exchange(rr, r.squaredNorm());
    d = r + rr / before * d;
  }
  const double seconds = watch.seconds();
  return {{of_x.cbegin(), of_x.cend()}, seconds, steps};
}

}  // namespace step_3
