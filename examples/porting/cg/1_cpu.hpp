// 1. Conjugate gradients on a sparse matrix of Eigen, on the CPU. M. R. Hestenes, E. Stiefel, "Methods of Conjugate
// Gradients for Solving Linear Systems", 1952.
#include <utility>

#include "../support/porting.hpp"
#include "matrix.hpp"

namespace step_1 {

porting::result run(const porting::problem& p) {
  const matrix a = plate(p.size);
  const Eigen::VectorXd b = a * temperature(p.size);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size()), r = b, d = b, q(b.size());
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
  return {{x.data(), x.data() + x.size()}, seconds, steps};
}

}  // namespace step_1
