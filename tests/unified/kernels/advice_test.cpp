// Advice on bytes that change owners.
#include <boost/test/unit_test.hpp>
#include <ferry/unified.hpp>
#include <map>

#include "sim/sim_backend.hpp"
#include "support/counting_backend.hpp"

namespace fr = ferry;

namespace {

constexpr std::size_t page = std::size_t{2} << 20;

struct copy_bytes {
  FERRY_HOST_DEVICE void operator()(std::size_t i, char* to, const char* from) const { to[i] = from[i]; }
};

std::map<int, std::size_t> places_of(const fr::unified_array<char>& a) {
  auto& sim = dynamic_cast<fr::sim::inspector&>(fr::machine::current().verbs());
  return sim.residency(a.unsynchronized_data(), a.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(advice_of_bytes)

// Advice goes with the array, not with the bytes that the pool gives to the next.
BOOST_AUTO_TEST_CASE(the_next_owner_of_the_bytes_has_no_advice) {
  using fr::advice;
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple}) {
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
      BOOST_TEST(static_cast<const void*>(b.unsynchronized_data()) == before);  // no text
      fr::prefetch(b, d0);
      {
        fr::unified_array<char> to({b.size()}, d1);
        fr::parallel_for(fr::default_stream(d1), b.size(), copy_bytes{}, to, fr::in(b));
        fr::default_stream(d1).synchronize();
        BOOST_TEST(places_of(b)[1] == b.size(), fr::pool_kind_name(kind) << ", advice " << static_cast<int>(what));
      }
      b = {};
      fr::machine::current().pool(fr::memory_kind::unified, 0).trim();
    }
  }
}

// Pools that keep blocks take back what was advised, and ask for nothing else.
BOOST_AUTO_TEST_CASE(without_advice_there_is_no_call) {
  const fr::simulation sim("devices=2;memory=64MiB");
  support::call_counts calls;
  fr::machine_scope counted(std::make_unique<support::counting_backend>(fr::machine::current().verbs(), calls),
                            {.kind = fr::pool_kind::split});
  { fr::unified_array<char> a({page}, fr::devices()[0]); }
  const long all = calls.all;
  { fr::unified_array<char> a({page}, fr::devices()[0]); }
  BOOST_TEST(calls.all == all);
}

BOOST_AUTO_TEST_SUITE_END()
