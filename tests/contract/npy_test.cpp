// NumPy files, from and into arrays of every kind.
// as: host
#include <unistd.h>

#include <cstdio>
#include <string>

#include <ferry/core/npy.hpp>

#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_npy {
namespace {

struct file {
  std::string name = "contract_" + std::to_string(getpid()) + ".npy";
  ~file() { std::remove(name.c_str()); }
};

}  // namespace
}  // namespace contract_of_npy

BOOST_AUTO_TEST_SUITE(contract_of_npy)

BOOST_FIXTURE_TEST_CASE_TEMPLATE(arrays_come_back, K, kinds, clean) {
  constexpr memory_kind k = K::value;
  const auto a = counted<double, 2, k>(fr::extents<2>(30, 40));
  for (const auto order : {fr::storage_order::row_major, fr::storage_order::column_major}) {
    const file f;
    fr::save_npy(f.name, a, order);
    const auto b = fr::load_npy<double, 2, k>(f.name);
    CHECK_EQUAL(fr::to_vector(b), fr::to_vector(a));
    fr::save_npy(f.name, a.slice({{1, 30, 3}, {0, 40, 2}}), order);
    const auto part = fr::load_npy<double, 2, k>(f.name);
    BOOST_TEST(part.extents().text() == "10 x 20");
    BOOST_TEST(fr::to_vector(part)[21] == fr::to_vector(a)[4 * 40 + 2]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
