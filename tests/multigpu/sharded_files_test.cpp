// Sharded arrays in .npy files, and as Eigen matrices.
#include <unistd.h>

#include <filesystem>

#include <ferry/multigpu/sharded_eigen.hpp>
#include <ferry/multigpu/sharded_npy.hpp>

#include "multigpu/shards.hpp"
#include "support/file_bytes.hpp"

using namespace shards;

BOOST_AUTO_TEST_SUITE(sharded_files)

BOOST_AUTO_TEST_CASE(npy_files_of_sharded_arrays_are_those_of_ordinary_ones) {
  const auto folder = std::filesystem::temp_directory_path() / ("ferry_sharded_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (std::size_t seed = 0; seed < 20; ++seed) {
    dice d(seed);
    fr::simulation sim(simulated_machine(seed, d.between(1, 4)));
    const fr::team t = fr::team::all();
    const auto [e, o] = any_layout<2>(d, t);
    const auto values = random_values<float>(d, e.count());
    fr::sharded_array<float, 2> a(t, e, o, -1.f);
    fr::copy(std::span<const float>(values), a);
    fr::save_npy((folder / "sharded.npy").string(), a);
    fr::save_npy((folder / "plain.npy").string(), values, e);
    BOOST_TEST((support::bytes_of(folder / "sharded.npy") == support::bytes_of(folder / "plain.npy")));
    const auto b = fr::load_npy<float, 2>((folder / "plain.npy").string(), t, o);
    BOOST_TEST(fr::to_vector(b) == values, boost::test_tools::per_element());
  }
  std::filesystem::remove_all(folder);
}

#if __has_include(<Eigen/Core>)
BOOST_AUTO_TEST_CASE(eigen_matrices) {
  for (const std::size_t axis : {0u, 1u}) {
    fr::simulation sim("devices=3");
    const fr::team t = fr::team::all();
    Eigen::MatrixXd m(5, 4);  // column-major
    for (Eigen::Index i = 0; i < 5; ++i)
      for (Eigen::Index j = 0; j < 4; ++j) m(i, j) = static_cast<double>(10 * i + j);
    fr::sharded_array<double, 2> a(t, {5, 4}, {.axis = axis, .halo = 1}, 0.0);
    fr::copy(m, a);
    BOOST_TEST(fr::to_vector(a)[6] == 12.0);
    BOOST_TEST((fr::to_eigen(a) == m));
    fr::copy(2 * m, a);
    BOOST_TEST((fr::to_eigen(a) == 2 * m));
    BOOST_CHECK_THROW(fr::copy(m.transpose(), a), fr::invalid_argument);
    Eigen::MatrixXf back(5, 4), other(4, 5);
    fr::copy(a, back);
    BOOST_TEST((back == (2 * m).cast<float>()));
    BOOST_CHECK_THROW(fr::copy(a, other), fr::invalid_argument);

    fr::sharded_array<int, 1> line(t, {7}, {}, 0);
    const Eigen::VectorXi v = Eigen::VectorXi::LinSpaced(7, 3, 9);
    fr::copy(v, line);
    BOOST_TEST((fr::to_eigen(line) == v));
    Eigen::RowVectorXd row(7);
    fr::copy(line, row);
    BOOST_TEST((row.transpose() == v.cast<double>()));
  }
}
#else
struct no_eigen {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    boost::test_tools::assertion_result no(false);
    no.message() << "needs Eigen, which is not installed";
    return no;
  }
};
BOOST_AUTO_TEST_CASE(eigen_matrices, *boost::unit_test::precondition(no_eigen{})) {}
#endif

BOOST_AUTO_TEST_SUITE_END()
