// Uploads of Eigen's objects that keep the type, and back: matrices, maps, transposes, diagonal, triangular and
// self-adjoint matrices, alone and within structs.
#include <boost/test/unit_test.hpp>

#include <ferry/eigen.hpp>
#include <ferry/ferry.hpp>
#include <tuple>

#include "support/seeds.hpp"

#if __has_include(<Eigen/Core>)

namespace fr = ferry;

namespace eigen_adaptions {
namespace {

template <class T, int Order = Eigen::ColMajor>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
using fr::memory_kind;

template <class To, class From>
inline constexpr bool same = std::is_same_v<To, std::remove_cvref_t<From>>;

template <template <class, std::size_t> class A>
struct system {
  A<double, 2> matrix;
  A<double, 1> right_side;
  int steps;
  FERRY_MEMBERS(matrix, right_side, steps);
};

}  // namespace
}  // namespace eigen_adaptions

BOOST_AUTO_TEST_SUITE(eigen_adaptions)

BOOST_AUTO_TEST_CASE(dense_objects_become_arrays) {
  const fr::simulation sim("devices=2;check=on");
  matrix<double> m = matrix<double>::Random(5, 7);
  const Eigen::Matrix<float, 3, 1> fixed(1.f, 2.f, 3.f);
  Eigen::Map<const Eigen::VectorXd> map(m.data(), 10);
  const auto made = fr::adapt(fr::device(1), std::tuple(m, fixed, map, m.block(1, 2, 3, 4), m.diagonal(), 5));
  static_assert(same<std::tuple<fr::device_array<double, 2>, fr::device_array<float>, fr::device_array<double>,
                                fr::device_array<double, 2>, fr::device_array<double>, int>,
                     decltype(made)>);
  BOOST_TEST((std::get<0>(made).device() == fr::device(1)));
  BOOST_TEST((fr::to_eigen(std::get<0>(made)) == m));
  BOOST_TEST((fr::to_eigen(std::get<1>(made)) == fixed));
  BOOST_TEST((fr::to_eigen(std::get<2>(made)) == map));
  BOOST_TEST((fr::to_eigen(std::get<3>(made)) == m.block(1, 2, 3, 4)));
  BOOST_TEST((fr::to_eigen(std::get<4>(made)) == m.diagonal()));

  const auto back = fr::adapt<fr::eigen_array>(made);
  static_assert(same<matrix<double, Eigen::RowMajor>, decltype(std::get<0>(back))> &&
                same<Eigen::VectorXf, decltype(std::get<1>(back))>);
  BOOST_TEST((std::get<0>(back) == m && std::get<1>(back) == fixed && std::get<5>(back) == 5));

  const auto narrow = fr::adapt(fr::device(0), std::pair(m, 0.5), fr::narrow);
  static_assert(same<std::pair<fr::device_array<float, 2>, double>, decltype(narrow)>);
  BOOST_TEST((fr::to_eigen(narrow.first) == m.cast<float>()));
}

BOOST_AUTO_TEST_CASE(transposes_stay_transposes) {
  const fr::simulation sim("check=on");
  const matrix<double> columns = matrix<double>::Random(4, 6);
  const matrix<double, Eigen::RowMajor> rows = columns;
  const auto of_columns = fr::adapt<fr::unified_array>(columns.transpose());
  const auto of_rows = fr::adapt<fr::unified_array>(rows.transpose());
  static_assert(same<fr::array_view<double, 2, memory_kind::unified>, decltype(of_columns)> &&
                same<std::remove_const_t<decltype(of_columns)>, decltype(of_rows)>);
  BOOST_TEST((of_columns.strides() == fr::strides<2>{4, 1} && of_rows.strides() == fr::strides<2>{1, 6}));
  BOOST_TEST((fr::to_eigen(of_columns) == columns.transpose() && fr::to_eigen(of_rows) == columns.transpose()));
  const auto vector = fr::adapt<fr::unified_array>(columns.col(1).transpose());
  static_assert(same<fr::unified_array<double>, decltype(vector)>);
  BOOST_TEST((fr::to_eigen(vector) == columns.col(1)));
}

BOOST_AUTO_TEST_CASE(parts_of_matrices_keep_their_types) {
  const fr::simulation sim("devices=2;check=on");
  matrix<double> m = matrix<double>::Random(6, 6);
  Eigen::VectorXd d = Eigen::VectorXd::Random(6);
  const Eigen::DiagonalMatrix<double, Eigen::Dynamic> diagonal(d);
  const auto made =
      fr::adapt(fr::device(1), std::make_tuple(diagonal, m.triangularView<Eigen::Upper>(),
                                               m.triangularView<Eigen::Lower | Eigen::UnitDiag>(),
                                               m.selfadjointView<Eigen::Lower>(), fr::detail::eigen_part<3>()));
  using upper = fr::detail::eigen_part<Eigen::Upper>;
  static_assert(same<fr::diagonal_matrix<fr::device_array, double>, decltype(std::get<0>(made))> &&
                same<fr::triangular_matrix<fr::device_array, double, upper>, decltype(std::get<1>(made))>);
  BOOST_TEST((std::get<1>(made).elements.device() == fr::device(1)));
  const auto right = [&](const auto& all) {
    BOOST_TEST((fr::to_eigen(std::get<0>(all)).diagonal() == d));
    BOOST_TEST((fr::to_eigen(std::get<1>(all)) == m.triangularView<Eigen::Upper>().toDenseMatrix()));
    BOOST_TEST((fr::to_eigen(std::get<2>(all)) == m.triangularView<Eigen::Lower | Eigen::UnitDiag>().toDenseMatrix()));
    BOOST_TEST((fr::to_eigen(std::get<3>(all)) == m.selfadjointView<Eigen::Lower>().toDenseMatrix()));
  };
  right(made);
  right(fr::adapt<fr::eigen_array>(made));
  right(fr::adapt<fr::unified_array>(fr::device(0), made));
  const auto wrapped = fr::adapt<fr::device_array>(d.asDiagonal(), fr::narrow);
  static_assert(same<fr::diagonal_matrix<fr::narrowed<fr::device_array>::array, double>, decltype(wrapped)>);
  BOOST_TEST((fr::to_vector(wrapped.elements).back() == static_cast<float>(d(5))));
}

BOOST_AUTO_TEST_CASE(structs_of_eigen_s_arrays_are_uploaded_and_come_back) {
  for (std::size_t seed = 0; seed <= support::seeds(20); ++seed) {
    const fr::simulation sim("devices=2;check=on" +
                             (seed ? ";schedule=random:" + std::to_string(seed) : std::string()));
    const auto n = static_cast<Eigen::Index>(seed % 7);
    const system<fr::eigen_array> s{matrix<double>::Random(n, n), Eigen::VectorXd::Random(n), 3};
    const auto made = fr::adapt<fr::device_array>(fr::device(1), s);
    static_assert(same<system<fr::device_array>, decltype(made)>);
    const system<fr::eigen_array> back = fr::adapt<fr::eigen_array>(made);
    BOOST_TEST((back.matrix == s.matrix && back.right_side == s.right_side && back.steps == 3));
    const auto same_kind = fr::adapt(fr::device(0), s);
    static_assert(same<system<fr::device_array>, decltype(same_kind)>);
    BOOST_TEST((fr::to_eigen(same_kind.matrix) == s.matrix));
  }
}

BOOST_AUTO_TEST_SUITE_END()

#endif
