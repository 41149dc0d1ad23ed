// Uploads of Eigen's matrices as arguments of kernels.
#include <boost/test/unit_test.hpp>

#define EIGEN_NO_CUDA  // kernels use ferry's types alone
#include <ferry/eigen.hpp>
#include <ferry/ferry.hpp>
#include <tuple>
#include <vector>

#if __has_include(<Eigen/Core>)

namespace fr = ferry;

namespace eigen_arguments {
namespace {

using upper_matrix = fr::triangular_matrix<fr::const_mdspan, double, fr::detail::eigen_part<Eigen::Upper>>;
using diagonal = fr::diagonal_matrix<fr::const_mdspan, double>;

struct multiply_rows {
  FERRY_HOST_DEVICE void operator()(std::size_t i, upper_matrix t, diagonal d, fr::mdspan<double, 1> y) const {
    y(i) = 0;
    for (std::size_t j = i; j != t.elements.extent(1); ++j) y(i) += t.elements(i, j) * d.elements(j);
  }
};

}  // namespace
}  // namespace eigen_arguments

BOOST_AUTO_TEST_SUITE(eigen_arguments)

BOOST_AUTO_TEST_CASE(functors_take_triangular_and_diagonal_matrices) {
  using namespace eigen_arguments;
  const Eigen::MatrixXd m = Eigen::MatrixXd::Random(6, 6);
  const Eigen::VectorXd d = Eigen::VectorXd::Random(6);
  const auto made = fr::adapt(fr::device(0), std::tuple(m.triangularView<Eigen::Upper>(), d.asDiagonal()));
  fr::device_array<double> y({6}, fr::device(0));
  fr::parallel_for(6, multiply_rows{}, fr::in(std::get<0>(made)), fr::in(std::get<1>(made)), fr::out(y));
  const Eigen::VectorXd expected = m.triangularView<Eigen::Upper>() * d;
  BOOST_TEST((fr::to_eigen(y).isApprox(expected)));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
