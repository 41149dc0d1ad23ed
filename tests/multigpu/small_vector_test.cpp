// Vectors that are nearly always short.
#include <ferry/multigpu/detail/support/small_vector.hpp>

#include <boost/test/unit_test.hpp>

namespace few {
namespace {

struct element {
  static inline bool throws = false;
  element() : value(0) {
    if (throws) throw 1;
  }
  int value;
};

using list = ferry::detail::small_vector<element, 2>;

std::vector<int> values(const list& l) {
  std::vector<int> all;
  for (const element& e : l.get()) all.push_back(e.value);
  return all;
}

}  // namespace
}  // namespace few

BOOST_AUTO_TEST_SUITE(few)

BOOST_AUTO_TEST_CASE(what_cannot_be_added_is_not_there) {
  for (const int count : {2, 3, 4}) {
    list l;
    for (int i = 0; i < count; ++i) l.add().value = i;
    const std::vector<int> before = values(l);
    element::throws = true;
    BOOST_CHECK_THROW(l.add(), int);
    element::throws = false;
    BOOST_TEST(l.size() == static_cast<std::size_t>(count));
    BOOST_TEST(values(l) == before, boost::test_tools::per_element());
    l.add().value = 9;
    BOOST_TEST((l.size() == before.size() + 1 && values(l).back() == 9));
    l.keep_first(1);
    BOOST_TEST(values(l) == std::vector<int>(1, 0), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
