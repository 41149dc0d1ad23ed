// Advice for a scope: its end restores the earlier advice.
#include <optional>

#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using namespace shared;

namespace advice_scopes {
namespace {

struct copy_bytes {
  FERRY_HOST_DEVICE void operator()(std::size_t i, char* to, const char* from) const { to[i] = from[i]; }
};

// An array on the first device, read by the second one. Its pages move to the second device unless they prefer the
// first. Only faults move pages.
struct subject {
  place here{"devices=2;memory=64MiB"};
  fr::migration_scope by_faults{fr::migration::explicitly};
  fr::device d0 = fr::devices()[0], d1 = fr::devices()[1];
  fr::unified_array<char> u{{4 * page}, d0}, to{{4 * page}, d1};
  using scope = std::optional<fr::advice_scope>;

  // True if bytes in the middle of the given quarter stay on the first device.
  bool stays(std::size_t quarter = 0) {
    send_unseen(u, {d0.index()});
    fr::parallel_for(fr::default_stream(d1), u.size(), copy_bytes{}, to, fr::in(u));
    fr::default_stream(d1).synchronize();
    return is_at(u.slice({quarter * page + page / 4, quarter * page + page / 2}), d0);
  }
};

}  // namespace
}  // namespace advice_scopes

BOOST_AUTO_TEST_SUITE(advice_scopes, *boost::unit_test::precondition(on_simulated_devices))

BOOST_AUTO_TEST_CASE(alone) {
  subject s;
  {
    const fr::advice_scope one(s.u, fr::advice::preferred_location, s.d0);
    BOOST_TEST(s.stays());
  }
  BOOST_TEST(!s.stays());
}

BOOST_AUTO_TEST_CASE(nested) {
  subject s;
  const fr::advice_scope outer(s.u, fr::advice::preferred_location, s.d0);
  for (const fr::device inner : {s.d0, s.d1}) {
    {
      const fr::advice_scope other(s.u, fr::advice::preferred_location, inner);
      BOOST_TEST(s.stays() == (inner == s.d0));
    }
    BOOST_TEST(s.stays());
    BOOST_TEST(fr::explain(s.u).find("advised by the program") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(overlapping) {
  subject s;
  subject::scope first, second;
  first.emplace(s.u.slice({0, 3 * page}), fr::advice::preferred_location, s.d1);
  second.emplace(s.u.slice({page, 4 * page}), fr::advice::preferred_location, s.d0);
  BOOST_TEST((!s.stays(0) && s.stays(1) && s.stays(3)));
  first.reset();
  BOOST_TEST((!s.stays(0) && s.stays(1) && s.stays(2) && s.stays(3)));
  first.emplace(s.u.slice({0, 2 * page}), fr::advice::preferred_location, s.d0);
  second.reset();
  BOOST_TEST((s.stays(0) && s.stays(1) && !s.stays(2) && !s.stays(3)));
  first.reset();
  BOOST_TEST((!s.stays(0) && !s.stays(1)));
}

BOOST_AUTO_TEST_CASE(inside_of_what_the_program_advised) {
  subject s;
  fr::advise(s.u, fr::advice::preferred_location, s.d0);
  {
    const fr::advice_scope other(s.u.slice({0, page}), fr::advice::preferred_location, s.d1);
    BOOST_TEST((!s.stays(0) && s.stays(1)));
  }
  BOOST_TEST((s.stays(0) && s.stays(1)));
  {
    const fr::advice_scope none(s.u, fr::advice::unset_preferred_location, s.d0);
    BOOST_TEST(!s.stays());
  }
  BOOST_TEST(s.stays());
  {
    const fr::advice_scope same(s.u, fr::advice::preferred_location, s.d0);
    fr::advise(s.u, fr::advice::unset_preferred_location);  // the program's advice is more recent
  }
  BOOST_TEST(!s.stays());
  // Other advice on the same bytes is unchanged.
  fr::advise(s.u, fr::advice::preferred_location, s.d0);
  { const fr::advice_scope readers(s.u, fr::advice::accessed_by, s.d1); }
  BOOST_TEST(s.stays());
}

BOOST_AUTO_TEST_CASE(under_a_policy) {
  subject s;
  fr::set_policy(s.u, fr::array_policy::parse("explicit preferred=device:0"));
  {
    const fr::advice_scope other(s.u, fr::advice::preferred_location, s.d1);
    BOOST_TEST(!s.stays());
  }
  BOOST_TEST(s.stays());
  {
    const fr::advice_scope other(s.u, fr::advice::preferred_location, s.d0);
    fr::clear_policy(s.u);
    BOOST_TEST(s.stays());
  }
  BOOST_TEST(!s.stays());
}

BOOST_AUTO_TEST_SUITE_END()
