// Advice on bytes that get a new owner.
#include <algorithm>
#include <map>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/counting_backend.hpp"
#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using shared::page;

namespace advice_of_bytes {
namespace {

struct copy_bytes {
  FERRY_HOST_DEVICE void operator()(std::size_t i, char* to, const char* from) const { to[i] = from[i]; }
};

struct number_from {
  int first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x) const { x[i] = first + static_cast<int>(i); }
};
struct copy_ints {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* to, const int* from) const { to[i] = from[i]; }
};

std::map<int, std::size_t> places_of(const fr::unified_array<char>& a) {
  auto& sim = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
  return sim.residency(a.unsynchronized_data(), a.size());
}

}  // namespace
}  // namespace advice_of_bytes

BOOST_AUTO_TEST_SUITE(advice_of_bytes)

// Advice ends with the array: the next owner of the bytes does not inherit it.
BOOST_AUTO_TEST_CASE(the_next_owner_of_the_bytes_has_no_advice) {
  using fr::advice;
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned}) {
    fr::simulation sim("devices=2;memory=64MiB", {.kind = kind});
    const fr::migration_scope by_faults(fr::migration::explicitly);
    const fr::device d0 = fr::devices()[0], d1 = fr::devices()[1];
    for (const advice what : {advice::read_mostly, advice::preferred_location, advice::accessed_by}) {
      const void* before = nullptr;
      {
        fr::unified_array<char> a({4 * page}, d0);
        before = a.unsynchronized_data();
        fr::advise(a, what, d1);
      }
      fr::unified_array<char> b({4 * page}, d0);
      BOOST_TEST(static_cast<const void*>(b.unsynchronized_data()) == before);  // not as C strings
      fr::prefetch(b, d0);
      {
        fr::unified_array<char> to({b.size()}, d1);
        fr::parallel_for(fr::default_stream(d1), b.size(), copy_bytes{}, to, fr::in(b));
        fr::default_stream(d1).synchronize();
        BOOST_TEST(places_of(b)[1] == b.size(), fr::pool_kind_name(kind) << ", advice " << static_cast<int>(what));
      }
      b = {};
      fr::runtime::current().pool(fr::memory_kind::unified, 0).trim();
    }
  }
}

// The same for CUDA's driver, which reports its current advice.
BOOST_AUTO_TEST_CASE(the_driver_drops_the_last_owner_s_advice,
                     *boost::unit_test::precondition(shared::on_cuda_devices)) {
  using fr::advice;
  shared::place here;
  const fr::migration_scope by_faults(fr::migration::explicitly);
  const fr::device d = fr::devices().back();
  for (const advice what : {advice::read_mostly, advice::preferred_location, advice::accessed_by}) {
    const char* before = nullptr;
    {
      fr::unified_array<char> a({4 * page});
      before = a.unsynchronized_data();
      fr::advise(a, what, d);
      const auto known = shared::driver_was_told(a);
      BOOST_REQUIRE(known.has_value());
      BOOST_TEST((known->read_mostly == (what == advice::read_mostly) &&
                  known->preferred.has_value() == (what == advice::preferred_location) &&
                  known->names(d) == (what == advice::accessed_by)),
                 "advice " << static_cast<int>(what));
    }
    bool met = false;  // whether an array reuses the first one's bytes
    std::vector<fr::unified_array<char>> next;
    for (int i = 0; i < 40 && !met; ++i) {
      next.emplace_back(fr::extents<1>{4 * page});
      const char* begin = next.back().unsynchronized_data();
      met = begin < before + 4 * page && before < begin + 4 * page;
    }
    BOOST_REQUIRE(met);
    for (std::size_t at = 0; at < 4 * page; at += page / 4) {  // the driver answers only for ranges with uniform advice
      const auto known = shared::driver_was_told(next.back().slice({at, at + page / 4}));
      BOOST_TEST((!known->read_mostly && !known->preferred && known->accessed_by.empty()),
                 "advice " << static_cast<int>(what) << ", at " << at);
    }
  }
}

// A page resides on one device, another device maps it, and then it is duplicated. No mapping from before a later write
// may remain. Without a workaround, driver 580 leaves one behind. Each step waits for the previous one.
BOOST_AUTO_TEST_CASE(read_mostly_pages_that_lived_on_a_device,
                     *boost::unit_test::precondition(shared::needs_devices{2}) *
                         boost::unit_test::label("two_devices")) {
  shared::place here;
  const fr::migration_scope by_faults(fr::migration::explicitly);
  const auto devices = fr::devices();
  constexpr std::size_t n = 1024;
  const auto write = [&](fr::device d, fr::unified_array<int>& u, int first) {
    fr::parallel_for(fr::default_stream(d), n, number_from{first}, fr::out(u.slice({0, n})));
    fr::default_stream(d).synchronize();
  };
  const std::size_t others = std::min<std::size_t>(devices.size(), 4);
  for (std::size_t home = 0; home < others; ++home)
    for (std::size_t mapped = 0; mapped < others; ++mapped)
      for (std::size_t copy_at = 0; copy_at <= others; ++copy_at)
        for (std::size_t writer = 0; writer <= others; ++writer) {
          fr::unified_array<int> u({page / sizeof(int)}, devices[0]);  // its own pages
          fr::advise(u, fr::advice::preferred_location, devices[home]);
          write(devices[mapped], u, 7);
          fr::advise(u, fr::advice::read_mostly);
          fr::stream_ref s = fr::default_stream(devices[mapped]);
          fr::prefetch(s, u, copy_at < others ? fr::memory_location{devices[copy_at].index()} : fr::memory_location{});
          s.synchronize();
          const int first = 1000 + static_cast<int>(writer);
          if (writer < others) {
            write(devices[writer], u, first);
          } else {
            for (std::size_t i = 0; i < n; ++i) u[i] = first + static_cast<int>(i);
          }
          for (std::size_t reader = 0; reader <= others; ++reader) {
            std::size_t wrong = 0;
            if (reader < others) {
              fr::host_array<int> got({n}, devices[reader]);
              fr::parallel_for(fr::default_stream(devices[reader]), n, copy_ints{}, fr::out(got), fr::in(u));
              for (std::size_t i = 0; i < n; ++i) wrong += std::as_const(got)[i] != first + static_cast<int>(i);
            } else {
              for (std::size_t i = 0; i < n; ++i) wrong += std::as_const(u)[i] != first + static_cast<int>(i);
            }
            BOOST_TEST(wrong == 0U, "home " << home << ", mapped by " << mapped << ", duplicated at " << copy_at
                                            << ", written by " << writer << ", read by " << reader);
          }
        }
}

// While advice is set, the driver moves pages. Their location is unknown when the advice ends.
BOOST_AUTO_TEST_CASE(after_advice_pages_are_prefetched_again,
                     *boost::unit_test::precondition(shared::needs_devices{2}) *
                         boost::unit_test::label("two_devices")) {
  shared::place here("devices=2;memory=64MiB");
  const fr::device d0 = fr::devices()[0], d1 = fr::devices()[1];
  for (const auto& [what, undone] : {std::pair(fr::advice::preferred_location, fr::advice::unset_preferred_location),
                                     std::pair(fr::advice::read_mostly, fr::advice::unset_read_mostly)}) {
    fr::unified_array<int> u({page / sizeof(int)}, d0);
    const auto write = [&](fr::device d) {
      fr::parallel_for(fr::default_stream(d), u.size(), number_from{1}, fr::inout(u));
      fr::default_stream(d).synchronize();
    };
    write(d0);
    fr::advise(u, what, d1);
    write(d1);
    fr::advise(u, undone, d1);
    shared::send_unseen(u, {d1.index()});
    const shared::prefetch_watch watch(u);
    write(d0);
    BOOST_TEST(!watch.saw_none(), "advice " << static_cast<int>(what));
    BOOST_TEST(shared::is_at(u, d0));
    BOOST_TEST(fr::residency(u).on(d0) == u.size_bytes());
  }
}

// Pools that cache blocks reset the advice of their users, and make no other call.
BOOST_AUTO_TEST_CASE(without_advice_there_is_no_call) {
  const fr::simulation sim("devices=2;memory=64MiB");
  support::call_counts calls;
  fr::runtime_scope counted(std::make_unique<support::counting_backend>(fr::runtime::current().backend(), calls),
                            {.kind = fr::pool_kind::split});
  { fr::unified_array<char> a({page}, fr::devices()[0]); }
  const long all = calls.all;
  { fr::unified_array<char> a({page}, fr::devices()[0]); }
  BOOST_TEST(calls.all == all);
}

BOOST_AUTO_TEST_SUITE_END()
