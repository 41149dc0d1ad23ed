// The equations that all steps solve, as an Eigen matrix: heat in a square plate of two materials, cold at its edges.
#pragma once
#include <Eigen/SparseCore>
#include <cmath>

using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Conducts ten times better in a disc. Row i * side + j belongs to cell (i, j): no element is farther than `side` from
// the diagonal.
inline matrix plate(std::size_t side) {
  const auto n = static_cast<int>(side);
  const auto conductivity = [n](double i, double j) { return std::hypot(i / n - 0.5, j / n - 0.4) < 0.2 ? 10.0 : 1.0; };
  matrix a(n * n, n * n);
  a.reserve(5 * Eigen::Index{n} * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto to = [&](int r, int c) { return conductivity((i + r) / 2.0, (j + c) / 2.0); };
      const double up = to(i - 1, j), left = to(i, j - 1), right = to(i, j + 1), down = to(i + 1, j);
      const int row = i * n + j;
      a.startVec(row);
      if (i > 0) a.insertBack(row, row - n) = -up;
      if (j > 0) a.insertBack(row, row - 1) = -left;
      a.insertBack(row, row) = up + left + right + down;
      if (j < n - 1) a.insertBack(row, row + 1) = -right;
      if (i < n - 1) a.insertBack(row, row + n) = -down;
    }
  a.finalize();
  return a;
}

// The expected x, from which the right-hand side is computed.
inline Eigen::VectorXd temperature(std::size_t side) {
  const auto n = static_cast<Eigen::Index>(side);
  return Eigen::VectorXd::NullaryExpr(n * n, [n](Eigen::Index k) {
    const double y = static_cast<double>(k / n + 1) / static_cast<double>(n + 1),
                 x = static_cast<double>(k % n + 1) / static_cast<double>(n + 1);
    return x * (1 - x) * std::sin(5 * y) + y * (1 - y) * x;
  });
}
