// as_eigen: vectors, rows, columns and strided views in expressions, and refused uses. Eigen support is opt-in.
#include <boost/test/unit_test.hpp>

#include <ferry/eigen.hpp>
#include <ferry/ferry.hpp>

#include "sim/sim_backend.hpp"

#if __has_include(<Eigen/Core>)

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(eigen)

BOOST_AUTO_TEST_CASE(vectors) {
  fr::simulation sim("devices=2;schedule=random:3");
  fr::unified_array<double> u({10}, 2.0), v({10}, 1.0);  // fills are pending
  const auto& read = u;
  fr::as_eigen(v) += 3 * fr::as_eigen(read);
  BOOST_TEST((v[0] == 7 && v[9] == 7));
  BOOST_TEST(fr::as_eigen(read).dot(fr::as_eigen(v)) == 10 * 14.0);
  fr::as_eigen_strided(v.slice({0, 10, 3})).setZero();
  BOOST_TEST((v[0] == 0 && v[1] == 7 && v[3] == 0 && v[9] == 0));
  const auto every_third = std::as_const(v).slice({0, 10, 3});
  const auto thirds = fr::as_eigen_strided(every_third);
  BOOST_TEST((thirds.size() == 4 && thirds.sum() == 0 && fr::as_eigen_strided(u.slice({1, 10, 4})).sum() == 6));
  static_assert(!std::is_assignable_v<decltype(thirds(0)), double>);
  BOOST_CHECK_THROW(fr::as_eigen(v.slice({0, 10, 3})), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::as_eigen_strided(v.slice({0, 10, -1})), fr::invalid_argument);
}

BOOST_AUTO_TEST_CASE(matrices) {
  fr::simulation sim("devices=2;schedule=random:4");
  fr::unified_array<float, 2> a({3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) a(i, j) = static_cast<float>(10 * i + j);
  auto m = fr::as_eigen(a);
  BOOST_TEST((m.rows() == 3 && m.cols() == 4 && m(2, 1) == 21));
  const auto t = fr::as_eigen_columns(a.transpose());  // columns of the transpose are rows of a
  BOOST_TEST((t.rows() == 4 && t(1, 2) == 21));
  const Eigen::MatrixXf product = m * t;
  BOOST_TEST(product(0, 0) == 0 * 0 + 1 * 1 + 2 * 2 + 3 * 3);
  static_assert(Eigen::internal::traits<std::remove_cvref_t<decltype(m)>>::ColsAtCompileTime == Eigen::Dynamic,
                "templates of Eigen's take the type by its name, as LLT does");
  const auto inner = a.slice({{0, 3, 2}, {1, 3}});
  BOOST_TEST((fr::as_eigen(inner).rows() == 2 && fr::as_eigen(inner)(1, 1) == 22));
  fr::as_eigen_strided(a.slice({{0, 3}, {0, 4, 2}})).setConstant(-1);
  BOOST_TEST((a(2, 0) == -1 && a(2, 1) == 21 && a(2, 2) == -1));
  BOOST_CHECK_THROW(fr::as_eigen(a.slice({{0, 3}, {0, 4, 2}})), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::as_eigen(a.transpose()), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::as_eigen_columns(a), fr::invalid_argument);
  static_assert(!std::is_assignable_v<decltype(fr::as_eigen(std::as_const(a))(0, 0)), float>);
}

// Reads through a const array wait for writes only: a pending read continues until the next write.
BOOST_AUTO_TEST_CASE(const_waits_for_writers_only) {
  int was_pending = 0;
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    const auto pending = [&] {
      return dynamic_cast<fr::detail::sim::inspector&>(sim.get().backend()).pending_operations();
    };
    fr::unified_array<int> u({100}, 4), to({100});
    (void)std::as_const(u)[0];
    fr::stream s;
    fr::copy(s, std::as_const(u), to);
    const std::size_t before = pending();
    BOOST_TEST(fr::as_eigen(std::as_const(u)).sum() == 400);
    BOOST_TEST(pending() == before, "seed " << seed << ": reading ran what it need not wait for");
    was_pending += before > 0;
    fr::as_eigen(u).setConstant(5);
    BOOST_TEST(s.is_done(), "seed " << seed << ": writing waits for readers");
    BOOST_TEST(std::as_const(to)[99] == 4);
  }
  BOOST_TEST(was_pending > 0, "no copy was ever pending: nothing was tested");
}

// With span checks on, a live map counts as a use, and so do its copies. Expressions and plain maps are not tracked.
BOOST_AUTO_TEST_CASE(maps_are_followed_as_spans_are) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> u({12}, 1.f);
  fr::unified_array<float, 2> a({3, 4}, 1.f);
  const auto is_refused = [](auto& what) {
    try {
      fr::fill(what, 2.f);
      return std::string();
    } catch (const fr::invalid_argument& e) {
      return std::string(e.what());
    }
  };
  const auto unchecked = fr::as_eigen(u);
  BOOST_TEST(is_refused(u) == "");
  fr::check_spans(fr::span_checks::on);
  {
    auto m = fr::as_eigen(u);
    const std::string text = is_refused(u);
    BOOST_TEST(text.find("writes it through a map of as_eigen made in eigen_test.cpp") != std::string::npos, text);
    m.setZero();
    auto same = m;
    BOOST_TEST(same.sum() == 0);
  }
  BOOST_TEST(is_refused(u) == "");
  {
    const auto rows = fr::as_eigen(std::as_const(a));
    BOOST_TEST(is_refused(a) != "");
    BOOST_TEST(rows.sum() == 12);
  }
  {
    auto columns = fr::as_eigen_columns(a.transpose());
    const auto copy = columns;
    auto strided = fr::as_eigen_strided(a.slice({{0, 3}, {0, 4, 2}}));
    strided = strided + strided;  // element accesses
    columns = copy;
    const Eigen::MatrixXf product(columns), other = columns * fr::as_eigen(a);
    BOOST_TEST((product(0, 0) == 2 && product(1, 0) == 1 && other.rows() == 4));
    BOOST_TEST(is_refused(a) != "");
  }
  BOOST_TEST(is_refused(a) == "");
  const Eigen::Map<Eigen::VectorXf> plain = fr::as_eigen(u);
  const Eigen::VectorXf twice = 2 * fr::as_eigen(u);
  BOOST_TEST((plain.size() == 12 && twice(3) == 4));
  BOOST_TEST(is_refused(u) == "");
}

BOOST_AUTO_TEST_SUITE_END()
#endif
