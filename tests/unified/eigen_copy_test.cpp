// Copies between Eigen and arrays: shapes, storage orders, types, maps, blocks, expressions, and sparse matrices.
#include <boost/test/unit_test.hpp>

#include <ferry/eigen_sparse.hpp>
#include <ferry/ferry.hpp>
#include <random>

#include "support/check_error.hpp"

#if __has_include(<Eigen/Core>)

namespace fr = ferry;
using support::check_error;

namespace eigen_copies {
namespace {

template <int Order = Eigen::ColMajor>
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Order>;

// True if the array has the coefficients of the expression.
template <class Array, class Derived>
bool same(const Array& a, const Eigen::DenseBase<Derived>& m) {
  if (a.extent(0) != static_cast<std::size_t>(m.rows()) || a.extent(1) != static_cast<std::size_t>(m.cols()))
    return false;
  const auto all = fr::to_vector(a);
  const typename Derived::PlainObject x = m.derived();
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      if (all[static_cast<std::size_t>(i * x.cols() + j)] != static_cast<typename Array::value_type>(x(i, j)))
        return false;
  return true;
}

template <fr::memory_kind Kind, int Order>
void copies_matrices(std::mt19937& random) {
  const auto n = static_cast<Eigen::Index>(random() % 40), m = static_cast<Eigen::Index>(random() % 40);
  matrix<Order> x = matrix<Order>::Random(n, m);
  auto a = fr::basic_array<double, 2, Kind>::from(x, fr::device(1));
  BOOST_TEST((same(a, x) && a.device() == fr::device(1)));
  BOOST_TEST((fr::to_eigen(a) == x));
  fr::basic_array<float, 2, Kind> narrow({a.extent(0), a.extent(1)});
  fr::copy(x, narrow);
  BOOST_TEST(same(narrow, x));
  fr::copy(2 * x, a);  // an expression
  matrix<Order> y = matrix<Order>::Zero(n, m);
  fr::copy(a, y);
  BOOST_TEST((y == 2 * x));
  if (n < 3 || m < 3) return;
  fr::copy(x.block(1, 1, n - 2, m - 1), a.slice({{1, a.extent(0) - 1}, {0, a.extent(1) - 1}}));
  y.block(1, 0, n - 2, m - 1) = x.block(1, 1, n - 2, m - 1);
  BOOST_TEST(same(a, y));
  fr::copy(narrow.slice({{0, 2}, {0, 3}}), y.block(n - 2, 0, 2, 3));
  BOOST_TEST((y.block(n - 2, 0, 2, 3) == x.block(0, 0, 2, 3).template cast<float>().template cast<double>()));
}

template <int Order>
void copies_sparse(std::mt19937& random, bool compressed) {
  using sparse = Eigen::SparseMatrix<double, Order>;
  sparse m(static_cast<Eigen::Index>(random() % 20), static_cast<Eigen::Index>(random() % 20));
  for (Eigen::Index k = 0; k < m.rows() * m.cols() / 3; ++k)
    m.coeffRef(static_cast<Eigen::Index>(random()) % m.rows(), static_cast<Eigen::Index>(random()) % m.cols()) =
        static_cast<double>(k + 1);
  if (compressed) m.makeCompressed();
  const auto a = fr::from_eigen<fr::memory_kind::device>(m, fr::device(1));
  static_assert(
      std::is_same_v<decltype(a),
                     const fr::compressed_matrix<double, Order == Eigen::RowMajor, int, fr::memory_kind::device>>);
  BOOST_TEST((a.shape == fr::extents<2>(m.rows(), m.cols()) && a.values.device() == fr::device(1)));
  BOOST_TEST((a.starts.size() == static_cast<std::size_t>(m.outerSize()) + 1));
  BOOST_TEST(a.values.size() == static_cast<std::size_t>(m.nonZeros()));
  BOOST_TEST((Eigen::MatrixXd(fr::to_eigen(a)) == Eigen::MatrixXd(m)));
  const auto twice = fr::from_eigen(sparse(2 * m));
  BOOST_TEST((Eigen::MatrixXd(fr::to_eigen(twice)) == 2 * Eigen::MatrixXd(m)));
  const auto sum = fr::from_eigen(m + m);
  BOOST_TEST((Eigen::MatrixXd(fr::to_eigen(sum)) == 2 * Eigen::MatrixXd(m)));
}

}  // namespace
}  // namespace eigen_copies

BOOST_AUTO_TEST_SUITE(eigen_copies)

BOOST_AUTO_TEST_CASE(matrices_of_any_shape_and_order) {
  std::mt19937 random(7);
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    copies_matrices<fr::memory_kind::device, Eigen::ColMajor>(random);
    copies_matrices<fr::memory_kind::unified, Eigen::RowMajor>(random);
    copies_matrices<fr::memory_kind::host, Eigen::ColMajor>(random);
  }
}

BOOST_AUTO_TEST_CASE(vectors_maps_and_fixed_sizes) {
  fr::simulation sim("devices=2;schedule=random:3");
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(10, 0, 9);
  const auto a = fr::device_array<double>::from(x);
  BOOST_TEST((fr::to_eigen(a) == x));
  BOOST_TEST((fr::to_eigen(fr::device_array<double>::from(x.transpose())) == x));
  BOOST_TEST(same(fr::device_array<double, 2>::from(x), x));
  fr::device_array<double> b({5}, 0.0);
  fr::copy(Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>(x.data(), 5), b);
  BOOST_TEST((fr::to_vector(b) == std::vector<double>{0, 2, 4, 6, 8}));
  Eigen::Matrix<float, 5, 1> fixed;
  fr::stream s(fr::device(0));
  fr::copy(s, b, fixed);
  BOOST_TEST(fixed(4) == 8.f);
  fr::copy(s, 3.f * fixed, b);
  BOOST_TEST((fr::to_eigen(b.slice({0, 5, 2})) == Eigen::Vector3d(0, 12, 24)));
  const Eigen::Matrix3i small = Eigen::Matrix3i::Identity();
  BOOST_TEST((fr::to_eigen(fr::unified_array<int, 2>::from(small)) == small));
  BOOST_TEST(fr::device_array<double>::from(Eigen::VectorXd()).empty());
}

BOOST_AUTO_TEST_CASE(different_shapes_are_refused) {
  fr::simulation sim("devices=1");
  fr::device_array<double, 2> a({3, 4}, 1.0);
  Eigen::MatrixXd m(4, 3);
  check_error<fr::invalid_argument>([&] { fr::copy(m, a); }, {"4 x 3", "3 x 4"});
  check_error<fr::invalid_argument>([&] { fr::copy(a, m); }, {"3 x 4", "4 x 3"});
  BOOST_TEST((fr::to_eigen(a) == Eigen::MatrixXd::Ones(3, 4)));
}

BOOST_AUTO_TEST_CASE(sparse_matrices) {
  std::mt19937 random(11);
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    copies_sparse<Eigen::RowMajor>(random, seed % 2 == 0);
    copies_sparse<Eigen::ColMajor>(random, seed % 2 == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

#endif
