// idle_guard enters only if the bytes are idle, and have not been used after they were selected.
// as: host
#include <boost/test/unit_test.hpp>
#include <mutex>
#include <string>

#include <ferry/core.hpp>
#include <ferry/core/detail/ordering/idle_guard.hpp>

namespace fr = ferry;

namespace idle_guard {
namespace {

std::uint64_t access_epoch_of(fr::detail::allocation& a) {
  std::lock_guard lock(a.history);
  return a.history.access_epoch();
}
bool enters(fr::stream& s, fr::detail::allocation& a, std::uint64_t access_epoch, bool write = true) {
  const fr::detail::idle_guard guard(s.timeline(), {&a, a.range(), write}, access_epoch);
  return guard.is_entered();
}

}  // namespace
}  // namespace idle_guard

BOOST_AUTO_TEST_SUITE(idle_guard)

BOOST_AUTO_TEST_CASE(not_after_a_use_that_the_chooser_has_not_seen) {
  fr::simulation sim("devices=1");
  fr::stream s, behind;
  fr::device_array<int> a({100}, 1);
  fr::detail::allocation& bytes = a.owner().get();
  std::uint64_t seen = access_epoch_of(bytes);
  fr::fill(s, a, 2);
  s.synchronize();
  BOOST_TEST(!enters(behind, bytes, seen));
  seen = access_epoch_of(bytes);
  BOOST_TEST(fr::detail::are_uses_complete(bytes, bytes.range(), true));
  BOOST_TEST(enters(behind, bytes, seen));
  BOOST_TEST(!enters(behind, bytes, seen));  // its own use counts, too
  const auto owner = a.owner();
  seen = access_epoch_of(bytes);
  a.free();
  BOOST_TEST(!enters(behind, bytes, seen));
}

// Work not observed as complete counts as a use, and later submissions wait for the guard's work.
BOOST_AUTO_TEST_CASE(not_while_work_is_pending) {
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
    fr::stream s, behind;
    fr::unified_array<int> a({100}, 1), other({10}, 0);
    s.synchronize();
    (void)a[0];
    fr::detail::allocation& bytes = a.owner().get();
    fr::fill(s, a.slice({0, 50}), 2);
    BOOST_TEST(!enters(behind, bytes, access_epoch_of(bytes)));
    BOOST_TEST(!enters(behind, bytes, access_epoch_of(bytes), false));
    {
      const fr::detail::byte_range half{bytes.begin + 200, bytes.begin + 400};
      const fr::detail::idle_guard guard(behind.timeline(), {&bytes, half, true}, access_epoch_of(bytes));
      BOOST_REQUIRE(guard.is_entered());
      const fr::detail::kernel_use use{half.begin, half.size(), false, true};
      sim.get().backend().launch(behind.timeline().stream(), {"late", {&use, 1}, [&](const fr::detail::relocation& at) {
                                                                at(reinterpret_cast<int*>(bytes.begin) + 50)[0] = 7;
                                                              }});
      BOOST_CHECK_THROW(fr::fill(s, other, 3), fr::invalid_argument);  // refused inside every guard
    }
    BOOST_TEST((a[50] == 7 && a[0] == 2), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
