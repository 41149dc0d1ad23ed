// 2. Vectors and matrix become unified arrays, which Eigen sees as maps. The CPU still does all the work.
#include <ferry/eigen.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace fr = ferry;
namespace step_2 {

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
  const Eigen::Map<const matrix> a(given.rows(), given.cols(), given.nonZeros(), fr::host_span(start).data(),
                                   fr::host_span(column).data(), fr::host_span(value).data());
  auto x = fr::as_eigen(of_x), r = fr::as_eigen(of_r), d = fr::as_eigen(of_d), q = fr::as_eigen(of_q);
  double rr = b.squaredNorm();
  const double enough = 1e-28 * rr;

  const porting::stopwatch watch;
  std::size_t steps = 0;
  for (; steps < p.steps && rr > enough; ++steps) {
    q.noalias() = a * d;
    const double alpha = rr / d.dot(q);
    x += alpha * d;
    r -= alpha * q;
    const double before = std::exchange(rr, r.squaredNorm());
    d = r + rr / before * d;
  }
  const double seconds = watch.seconds();
  return {{of_x.cbegin(), of_x.cend()}, seconds, steps};
}

}  // namespace step_2
