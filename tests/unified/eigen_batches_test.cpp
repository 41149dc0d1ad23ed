// Eigen objects as sources and results of batches.
#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>
#include <ferry/unified/batches.hpp>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;

namespace eigen_batches {
namespace {

template <class M>
M counting(Eigen::Index rows, Eigen::Index columns) {
  M m(rows, columns);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<typename M::Scalar>(i);
  return m;
}

}  // namespace
}  // namespace eigen_batches

BOOST_AUTO_TEST_SUITE(eigen_batches)

// A column-major matrix is split along its columns, a row-major one along its rows.
template <class M>
void walk_over_a_matrix(std::size_t outer, std::size_t inner) {
  const M m = counting<M>(5, 7);
  std::vector<float> got;
  std::size_t pieces = 0;
  for (auto&& piece : fr::batches(m, {.size = 2})) {
    static_assert(std::remove_cvref_t<decltype(piece)>::rank == 2);
    BOOST_TEST((piece.extent(0) == std::min<std::size_t>(2, outer - 2 * pieces) && piece.extent(1) == inner));
    const std::vector<float> part = fr::to_vector(piece);
    got.insert(got.end(), part.begin(), part.end());
    ++pieces;
  }
  BOOST_TEST(pieces == (outer + 1) / 2);
  BOOST_TEST((got == std::vector<float>(m.data(), m.data() + m.size())));
}

BOOST_AUTO_TEST_CASE(matrices) {
  fr::simulation sim("devices=1");
  walk_over_a_matrix<Eigen::MatrixXf>(7, 5);
  walk_over_a_matrix<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(5, 7);
  Eigen::MatrixXf m = counting<Eigen::MatrixXf>(5, 7);
  const auto columns = m.middleCols(2, 3);  // whole columns are contiguous
  std::size_t pieces = 0;
  for (auto&& piece : fr::batches(columns, {.size = 1})) {
    BOOST_TEST(fr::to_vector(piece)[0] == 5.f * static_cast<float>(2 + pieces));
    ++pieces;
  }
  BOOST_TEST(pieces == 3u);
}

BOOST_AUTO_TEST_CASE(vectors_and_results) {
  fr::simulation sim("devices=1");
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(1001, 0, 1000);
  Eigen::RowVectorXd y = Eigen::RowVectorXd::Constant(1001, -1);
  Eigen::VectorXd both = x;
  std::size_t pieces = 0;
  for (auto&& [a, to, b] : fr::batches(x, fr::out(y), fr::inout(both), {.size = 100})) {
    static_assert(std::remove_cvref_t<decltype(a)>::rank == 1 && std::remove_cvref_t<decltype(to)>::rank == 1);
    fr::copy(a, to);
    BOOST_TEST(fr::to_vector(b)[0] == 100.0 * static_cast<double>(pieces));
    fr::fill(b, static_cast<double>(pieces));
    ++pieces;
  }
  BOOST_TEST(pieces == 11u);
  BOOST_TEST((y.transpose() == x));
  BOOST_TEST((both(0) == 0 && both(99) == 0 && both(100) == 1 && both(1000) == 10));
}

BOOST_AUTO_TEST_CASE(results_in_a_matrix) {
  fr::simulation sim("devices=1");
  const Eigen::MatrixXf from = counting<Eigen::MatrixXf>(6, 10);
  Eigen::MatrixXf to = Eigen::MatrixXf::Zero(6, 10), whole = Eigen::MatrixXf::Zero(6, 12);
  auto part = whole.leftCols(10);
  for (auto&& [a, b, c] : fr::batches(from, fr::out(to), fr::out(part), {.size = 3})) {
    BOOST_TEST((b.extent(1) == 6u && c.extent(1) == 6u));
    fr::copy(a, b);
    fr::copy(a, c);
  }
  BOOST_TEST((to == from));
  BOOST_TEST((whole.leftCols(10) == from && whole.rightCols(2).isZero()));
}

BOOST_AUTO_TEST_CASE(strided_blocks_are_refused) {
  fr::simulation sim("devices=1");
  Eigen::MatrixXf m = counting<Eigen::MatrixXf>(5, 7);
  Eigen::VectorXf v = Eigen::VectorXf::Zero(10);
  auto block = m.topRows(3);
  auto row = m.row(2);
  Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<2>> second(v.data(), 5);
  const std::string text = "ferry: batches: the Eigen object is a strided block: evaluate it into a matrix first";
  BOOST_TEST(failure_of([&] { fr::batches(block); }) == text);
  BOOST_TEST(failure_of([&] { fr::batches(row); }) == text);
  BOOST_TEST(failure_of([&] { fr::batches(second); }) == text);
  BOOST_TEST(failure_of([&] { fr::batches(v, fr::out(second)); }) == text);
  BOOST_TEST(failure_of([&] { fr::batches(m, fr::inout(block)); }) == text);
  auto column = m.middleRows(1, 3).col(2);  // one column of a block is contiguous
  for (auto&& piece : fr::batches(column)) BOOST_TEST((fr::to_vector(piece) == std::vector<float>{11, 12, 13}));
}

BOOST_AUTO_TEST_SUITE_END()
#endif
