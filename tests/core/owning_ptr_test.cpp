// The pointer that owns the objects of classes in headers.
#include <utility>

#include <boost/test/unit_test.hpp>

#include "ferry/core/detail/support/owning_ptr.hpp"

namespace owning_ptrs {
namespace {

using ferry::detail::make_owning;
using ferry::detail::owning_ptr;

int alive = 0;
struct counted {
  explicit counted(int v) : value(v) { ++alive; }
  ~counted() { --alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  int value;
};

}  // namespace
}  // namespace owning_ptrs

using namespace owning_ptrs;

BOOST_AUTO_TEST_SUITE(owning_ptrs_suite)

BOOST_AUTO_TEST_CASE(each_object_is_destroyed_once) {
  {
    owning_ptr<counted> a = make_owning<counted>(1), none;
    BOOST_TEST((a && !none && none.get() == nullptr));
    BOOST_TEST((a->value == 1 && (*a).value == 1));
    owning_ptr<counted> b(std::move(a));
    BOOST_TEST((!a && b->value == 1 && alive == 1));
    a = make_owning<counted>(2);
    b = std::move(a);  // destroys the first object now
    BOOST_TEST((!a && b->value == 2 && alive == 1));
    owning_ptr<counted>& same = b;
    b = std::move(same);
    BOOST_TEST((b && b->value == 2 && alive == 1));
    b = {};
    BOOST_TEST((!b && alive == 0));
    b = make_owning<counted>(3);
  }
  BOOST_TEST(alive == 0);
}

BOOST_AUTO_TEST_CASE(released_objects_stay) {
  counted* left = nullptr;
  {
    owning_ptr<counted> a = make_owning<counted>(4);
    left = a.release();
    BOOST_TEST(!a);
  }
  BOOST_TEST((alive == 1 && left->value == 4));
  delete left;
}

BOOST_AUTO_TEST_SUITE_END()
