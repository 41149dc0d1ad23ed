// After a device failure, each use of what that device wrote throws, and everything else continues to work.
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace broken_device {
namespace {

struct fails {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct fails_reading {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = x[i];
  }
};
struct fails_writing_three {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* x, int* y, int* z) const {
    FERRY_ASSERT(i > 1000, "always");
    x[i] = y[i] = *z = 1;
  }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};

// Runs the body on two simulated devices, for each seed.
template <class Body>
void over_seeds(Body body) {
  for (std::size_t seed = 0; seed < support::seeds(25); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const std::string check = seed % 2 ? "check=races;" : "";  // the race checker ignores the work of a failed device
      const support::machine_that_breaks sim("devices=2;" + check + "schedule=random:" + std::to_string(seed));
      const fr::device d0 = fr::devices()[0], d1 = fr::devices()[1];
      for (const fr::device d : {d0, d1}) fr::default_stream(d).synchronize();
      body(d0, d1);
    }
  }
}

// Enqueues failing work on s. Detects the failure only if the call itself throws.
template <class Array>
void break_device(fr::stream_ref s, Array& array) {
  try {
    fr::parallel_for(s, array.size(), fails{}, array);
  } catch (const fr::device_error&) {
  }
}

}  // namespace
}  // namespace broken_device

BOOST_AUTO_TEST_SUITE(broken_device)

BOOST_AUTO_TEST_CASE(each_access_to_what_it_wrote_throws) {
  over_seeds([](fr::device d0, fr::device d1) {
    fr::stream s0{d0}, s1{d1};
    fr::unified_array<int> u({64}, 0, d0);
    fr::host_array<int> h({64}, 0, d0);
    fr::scalar<int> n(d0);
    fr::fill(s0, n.as_array(), 3);
    fr::device_array<int> to({64}, 0, d0);
    auto part = u.slice({0, 32});
    try {
      fr::parallel_for(s1, 64, fails_writing_three{}, u, h, n.as_array());
    } catch (const fr::device_error&) {
    }
    for (int i = 0; i < 3; ++i) {
      BOOST_CHECK_THROW(u[0] = 1, fr::device_error);
      BOOST_CHECK_THROW((void)std::as_const(u)[63], fr::device_error);
      BOOST_CHECK_THROW((void)std::as_const(part)[5], fr::device_error);
      BOOST_CHECK_THROW((void)u.begin(), fr::device_error);
      BOOST_CHECK_THROW((void)h.cbegin(), fr::device_error);
      BOOST_CHECK_THROW((void)fr::host(u), fr::device_error);
      BOOST_CHECK_THROW((void)fr::const_host_span(h), fr::device_error);
      BOOST_CHECK_THROW((void)fr::to_vector(u), fr::device_error);
      BOOST_CHECK_THROW((void)n.value(), fr::device_error);
      BOOST_CHECK_THROW(fr::copy(s0, u, to), fr::device_error);
      BOOST_CHECK_THROW(fr::parallel_for(s0, 64, add_one{}, h), fr::device_error);
      BOOST_CHECK_THROW((void)fr::pointer(h, s0), fr::device_error);
      BOOST_TEST((u.is_ready() && n.is_ready()));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_text_says_which_device_and_why) {
  const support::machine_that_breaks sim("devices=2");
  fr::unified_array<int> u({64}, 0);
  break_device(fr::default_stream(fr::devices()[1]), u);
  for (int i = 0; i < 2; ++i) try {
      (void)u.begin();
      BOOST_ERROR("nothing was thrown");
    } catch (const fr::device_error& e) {
      const std::string text = e.what();
      BOOST_TEST(text.find("device 1 failed") != text.npos, text);
      BOOST_TEST((i == 0 || text.find("always") != text.npos), text);
    }
  BOOST_TEST(fr::explain(u).find("lost: device 1 failed") != std::string::npos, fr::explain(u));
}

// Work on other devices stays valid, and so does what the failed device had finished or only read.
BOOST_AUTO_TEST_CASE(all_else_goes_on) {
  over_seeds([](fr::device d0, fr::device d1) {
    fr::stream s0{d0}, s1{d1};
    fr::unified_array<int> bad({96}, 0, d0), over({64}, 0, d0), good({64}, 0, d0), read({64}, 5, d0);
    fr::fill(s1, over, 7);
    BOOST_TEST(over[63] == 7);
    auto left = bad.slice({0, 32}), right = bad.slice({64, 96});
    fr::parallel_for(s1, 32, fails_reading{}, fr::in(read), left);
    for (int i = 0; i < 3; ++i) fr::parallel_for(s0, 64, add_one{}, good), fr::parallel_for(s0, 32, add_one{}, right);
    BOOST_CHECK_THROW(s1.synchronize(), fr::device_error);
    for (int i = 0; i < 3; ++i) fr::parallel_for(s0, 32, add_one{}, right), fr::parallel_for(s0, 64, add_one{}, over);
    BOOST_TEST((good[5] == 3 && over[5] == 10 && std::as_const(right)[5] == 6));
    BOOST_CHECK_THROW((void)std::as_const(left)[5], fr::device_error);
    read[5] = 6;
    BOOST_CHECK_THROW(fr::fill(s1, good, 1), fr::device_error);  // the call is refused, and the array stays valid
    BOOST_CHECK_THROW(s1.synchronize(), fr::device_error);
    BOOST_TEST((good[5] == 3 && read[5] == 6));
  });
}

// Another thread waits for the stream and gets the error.
BOOST_AUTO_TEST_CASE(a_failure_found_by_one_thread_reaches_all) {
  over_seeds([](fr::device d0, fr::device d1) {
    fr::stream s1{d1};
    fr::unified_array<int> u({64}, 0, d0);
    break_device(s1, u);
    std::thread([&] { BOOST_CHECK_THROW(s1.synchronize(), fr::device_error); }).join();
    BOOST_CHECK_THROW(u[3] = 1, fr::device_error);
  });
}

// An open use through a raw pointer counts as complete, too: no thread polls it forever.
BOOST_AUTO_TEST_CASE(raw_pointers_on_it_are_over) {
  over_seeds([](fr::device d0, fr::device d1) {
    fr::stream s1{d1};
    fr::unified_array<int> u({64}, 0, d0), v({64}, 0, d0);
    fr::pointer(v, s1);
    break_device(s1, u);
    BOOST_CHECK_THROW(s1.synchronize(), fr::device_error);
    BOOST_TEST(v.is_ready());
    for (int i = 0; i < 2; ++i) BOOST_CHECK_THROW(v[5] = 1, fr::device_error);
  });
}

BOOST_AUTO_TEST_CASE(its_bytes_can_be_freed_and_used_again) {
  over_seeds([](fr::device d0, fr::device d1) {
    fr::stream s0{d0}, s1{d1};
    fr::detail::memory_pool &near = fr::runtime::current().pool(fr::memory_kind::unified, 0),
                            &far = fr::runtime::current().pool(fr::memory_kind::device, 1);
    {
      fr::unified_array<int> u({64}, 0, d0), freed({64}, 0, d0);
      const fr::device_array<int> there({64}, d1);
      try {
        fr::parallel_for(s1, 64, fails_reading{}, fr::in(freed), u);
      } catch (const fr::device_error&) {
      }
      BOOST_CHECK_THROW((void)u.begin(), fr::device_error);
      freed.free();
    }
    fr::unified_array<int> again({64}, d0);
    fr::fill(s0, again, 4);
    BOOST_TEST((again[63] == 4 && fr::to_vector(again)[0] == 4));
    again = {};
    BOOST_TEST((near.trim() > 0 && far.trim() > 0));
    BOOST_TEST((near.statistics().reserved_bytes == 0 && far.statistics().reserved_bytes == 0));
  });
}

BOOST_AUTO_TEST_SUITE_END()
