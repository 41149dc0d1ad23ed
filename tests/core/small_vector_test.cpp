// Vectors that are nearly always short.
#include <ferry/core/detail/support/small_vector.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace small_vectors {
namespace {

struct element {
  static inline bool throws = false;
  element() : value(0) {
    if (throws) throw 1;
  }
  int value;
};

using list = ferry::detail::small_vector<element, 2>;

// The copy that brings until_throw to 0 throws.
struct copied {
  static inline int until_throw = 0;
  static inline int alive = 0;
  copied() { ++alive; }
  copied(const copied&) {
    if (until_throw > 0 && --until_throw == 0) throw 2;
    ++alive;
  }
  copied(copied&&) noexcept { ++alive; }
  ~copied() { --alive; }
};

std::vector<int> values(const list& l) {
  std::vector<int> all;
  for (const element& e : l.get()) all.push_back(e.value);
  return all;
}

}  // namespace
}  // namespace small_vectors

BOOST_AUTO_TEST_SUITE(small_vectors)

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

// Within the object and on the heap: copies share nothing, and a vector that was moved from is empty and usable.
BOOST_AUTO_TEST_CASE(vectors_are_copied_and_moved) {
  for (const int count : {1, 2, 5}) {
    list l;
    for (int i = 0; i < count; ++i) l.add().value = i;
    const std::vector<int> before = values(l);
    list copy = l;
    copy.get()[0].value = 7;
    BOOST_TEST(values(l) == before, boost::test_tools::per_element());
    const list moved = std::move(l);
    BOOST_TEST(values(moved) == before, boost::test_tools::per_element());
    BOOST_TEST(l.empty());
    l = moved;
    l.add().value = 8;
    BOOST_TEST((l.size() == before.size() + 1 && values(l).back() == 8));
  }
}

// AddressSanitizer finds what memory is left.
BOOST_AUTO_TEST_CASE(a_copy_that_fails_leaves_nothing) {
  for (const int count : {2, 6}) {
    ferry::detail::small_vector<copied, 2> l;
    for (int i = 0; i < count; ++i) l.add();
    copied::until_throw = count;
    BOOST_CHECK_THROW((ferry::detail::small_vector<copied, 2>(l)), int);
    BOOST_TEST((copied::alive == count && l.size() == static_cast<std::size_t>(count)));
  }
  BOOST_TEST(copied::alive == 0);
}

BOOST_AUTO_TEST_CASE(elements_that_own_memory_are_destroyed_once) {
  const auto one = std::make_shared<int>(1);
  {
    ferry::detail::small_vector<std::shared_ptr<int>, 2> l;
    for (int i = 0; i < 5; ++i) l.push_back(one);
    BOOST_TEST(one.use_count() == 6);
    l.keep_first(3);
    BOOST_TEST(one.use_count() == 4);
  }
  BOOST_TEST(one.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
