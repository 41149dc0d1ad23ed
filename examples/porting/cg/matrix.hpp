// The equations that all steps solve, as an Eigen matrix: heat in a square plate of two materials, cold at its edges.
#pragma once
#include <Eigen/SparseCore>
#include <cmath>
#include <vector>

using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Conducts ten times better in a disc. Row i * side + j belongs to cell (i, j): no element is farther than `side` from the
// diagonal.
inline matrix plate(std::size_t side) {
  const auto n = static_cast<int>(side);
  const auto conductivity = [n](double i, double j) { return std::hypot(i / n - 0.5, j / n - 0.4) < 0.2 ? 10.0 : 1.0; };
  std::vector<Eigen::Triplet<double>> elements;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double all = 0;
      const auto edge = [&](int r, int c) {
        const double k = conductivity((i + r) / 2.0, (j + c) / 2.0);
        all += k;
        if (r >= 0 && r < n && c >= 0 && c < n) elements.emplace_back(i * n + j, r * n + c, -k);
      };
      edge(i - 1, j), edge(i + 1, j), edge(i, j - 1), edge(i, j + 1);
      elements.emplace_back(i * n + j, i * n + j, all);
    }
  matrix a(n * n, n * n);
  a.setFromTriplets(elements.begin(), elements.end());
  return a;
}

// What x is to become: the right side is made from it.
inline Eigen::VectorXd temperature(std::size_t side) {
  const auto n = static_cast<Eigen::Index>(side);
  return Eigen::VectorXd::NullaryExpr(n * n, [n](Eigen::Index k) {
    const double y = static_cast<double>(k / n + 1) / static_cast<double>(n + 1),
                 x = static_cast<double>(k % n + 1) / static_cast<double>(n + 1);
    return x * (1 - x) * std::sin(5 * y) + y * (1 - y) * x;
  });
}
