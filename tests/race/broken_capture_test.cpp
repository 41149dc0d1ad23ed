// A device that fails inside a capture: the capture ends, and every stream of the other devices works again (R18).
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/counting_backend.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace broken_capture {
namespace {

constexpr std::size_t size = 32;
using array = fr::unified_array<int, 1>;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};
struct breaks {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};

template <class Give>
bool tries(Give give) {
  try {
    give();
    return true;
  } catch (const fr::error&) {
    return false;
  }
}

// Throws unless work, captures and waits succeed on s.
void use(fr::stream_ref s) {
  array a({size}, 0, s.where());
  fr::parallel_for(s, size, add_one{}, a);
  s.synchronize();
  fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, size, add_one{}, a); });
  g.launch(s), g.launch(s);
  BOOST_TEST(std::as_const(a)[size - 1] == 3);
}

// Uses all streams of devices that did not fail: the given streams, new ones and this thread's default streams. Returns
// the number of such devices.
std::size_t use_all(const std::vector<fr::stream>& streams) {
  std::size_t well = 0;
  for (const fr::stream& s : streams) tries([&] { s.synchronize(); });  // reports the lost work, once
  for (const fr::device d : fr::devices()) tries([&] { fr::default_stream(d).synchronize(); });
  for (const fr::device d : fr::devices()) {
    if (!tries([&] { fr::stream(d).synchronize(); })) continue;
    ++well;
    for (const fr::stream& s : streams)
      if (s.where().index() == d.index()) BOOST_CHECK_NO_THROW(use(s));
    std::vector<fr::stream> fresh;
    for (int i = 0; i < 6; ++i) BOOST_CHECK_NO_THROW(use(fresh.emplace_back(d)));
    BOOST_CHECK_NO_THROW(use(fr::default_stream(d)));
  }
  return well;
}

std::vector<fr::stream> streams_of_all() {
  std::vector<fr::stream> s;
  for (int k = 0; k < 2; ++k)
    for (const fr::device d : fr::devices()) s.emplace_back(d).synchronize();
  return s;
}

// A backend that refuses to end a capture after its device failed, and leaves the streams capturing.
class stubborn_backend : public support::counting_backend {
 public:
  using counting_backend::counting_backend;
  bool failed = false;
  std::vector<void*> destroyed;  // streams
  void destroy_stream(fr::native_stream s) override {
    destroyed.push_back(s.handle);
    counting_backend::destroy_stream(s);
  }
  fr::native_graph end_capture(fr::native_stream s) override {
    if (failed) throw fr::device_error("the origin's device failed");
    return counting_backend::end_capture(s);
  }
};

}  // namespace
}  // namespace broken_capture

BOOST_AUTO_TEST_SUITE(broken_capture)

BOOST_AUTO_TEST_CASE(the_origin_fails) {
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"})
    for (const bool inside : {true, false}) {
      BOOST_TEST_CONTEXT(how << (inside ? ", by the capture's own call" : ", by what it was given before")) {
        const support::machine_that_breaks sim(std::string("devices=3;") + (inside ? "fail=launch@4;" : "") +
                                               "schedule=" + how);
        const std::vector<fr::stream> s = streams_of_all();
        array x({size}, 0, fr::devices()[1]), y({size}, 0, fr::devices()[1]), z({size}, 0, fr::devices()[1]);
        bool thrown = false;
        if (!inside) tries([&] { fr::parallel_for(s[3], size, breaks{}, z); });
        try {
          (void)fr::capture(s[0], [&] {
            fr::parallel_for(s[0], size, add_one{}, x);
            fr::parallel_for(s[1], size, add_one{}, y),
                fr::parallel_for(fr::default_stream(fr::devices()[2]), size, add_one{}, y);
            if (!inside) (void)tries([&] { fr::stream(fr::devices()[0]).synchronize(); });  // fails now or later
            fr::parallel_for(s[0], size, add_one{}, x);
          });
        } catch (const fr::error&) {
          thrown = true;
        }
        BOOST_TEST((thrown || !inside));
        BOOST_TEST(!tries([&] { s[3].synchronize(); }));
        BOOST_TEST(use_all(s) >= 2u);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_driver_that_does_not_end_it) {
  for (std::size_t seed = 0; seed < support::seeds(30); ++seed) {
    const fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    support::call_counts calls;
    auto owned = std::make_unique<stubborn_backend>(fr::runtime::current().backend(), calls);
    stubborn_backend& backend = *owned;
    const fr::runtime_scope scope(std::move(owned));
    const std::vector<fr::stream> s = streams_of_all();
    array x({size}, 4, fr::devices()[1]), y({size}, 0, fr::devices()[1]);
    fr::parallel_for(s[1], size, add_one{}, x);
    backend.failed = true;
    BOOST_CHECK_THROW((void)fr::capture(s[0],
                                        [&] {
                                          fr::parallel_for(s[0], size, add_one{}, y);
                                          fr::parallel_for(s[1], size, add_one{}, y);
                                        }),
                      fr::device_error);
    backend.failed = false;
    fr::parallel_for(s[1], size, add_one{}, x);  // after the stream's work from before the capture
    BOOST_TEST(x[3] == 6);
    BOOST_CHECK_NO_THROW(use(s[1]));
    BOOST_CHECK_NO_THROW(use(s[0]));
  }
}

// A native handle that the program obtained stays valid as long as the runtime. All other handles are destroyed.
BOOST_AUTO_TEST_CASE(handles_that_the_program_holds) {
  const fr::simulation sim("devices=2");
  support::call_counts calls;
  auto owned = std::make_unique<stubborn_backend>(fr::runtime::current().backend(), calls);
  stubborn_backend& backend = *owned;
  const fr::runtime_scope scope(std::move(owned));
  const std::vector<fr::stream> s = streams_of_all();
  array x({size}, 0, fr::devices()[1]);
  void* const held = s[1].native().handle;
  void* const hidden = s[0].timeline().stream().handle;
  backend.failed = true;
  BOOST_CHECK_THROW((void)fr::capture(s[0],
                                      [&] {
                                        fr::parallel_for(s[0], size, add_one{}, x);
                                        fr::parallel_for(s[1], size, add_one{}, x);
                                      }),
                    fr::device_error);
  backend.failed = false;
  const auto is_destroyed = [&](void* handle) {
    return std::find(backend.destroyed.begin(), backend.destroyed.end(), handle) != backend.destroyed.end();
  };
  BOOST_TEST((s[1].native().handle != held && !is_destroyed(held)));
  BOOST_TEST((s[0].timeline().stream().handle != hidden && is_destroyed(hidden)));
  BOOST_CHECK_NO_THROW(use(s[1]));
}

// Random captures over streams of three devices, one of which fails at some backend call.
BOOST_AUTO_TEST_CASE(random_captures) {
  std::size_t failed = 0;
  for (std::size_t seed = 0; seed < support::seeds(150); ++seed) {
    const std::string text = "devices=3;schedule=random:" + std::to_string(seed) +
                             ";fail=" + (seed % 3 == 0 ? "copy@" : "launch@") + std::to_string(1 + seed * 5 % 17);
    BOOST_TEST_CONTEXT(text) {
      const support::quiet_stderr said;
      const fr::simulation sim(text);
      std::mt19937 random(static_cast<unsigned>(seed));
      const auto below = [&](std::size_t n) { return random() % n; };
      const std::vector<fr::stream> s = streams_of_all();
      std::vector<array> a;
      if (!tries([&] {
            for (int i = 0; i < 5; ++i) a.push_back(array({size}, i, fr::devices()[below(3)]));
          }))
        continue;
      for (int capture = 0; capture < 3; ++capture)
        tries([&] {
          const fr::stream& origin = s[below(s.size())];
          fr::graph g = fr::capture(origin, [&] {
            for (std::size_t n = 1 + below(7); n > 0; --n) {
              const std::size_t x = below(a.size()), y = below(a.size());
              const fr::stream& on = s[below(s.size())];
              if (x == y || below(2) == 0)
                fr::parallel_for(on, size, add_one{}, a[x]);
              else
                fr::copy(on, a[x], a[y]);
              if (below(6) == 0) on.synchronize();  // synchronize() throws inside a capture, which cancels it
            }
          });
          g.launch(origin);
        });
      for (std::size_t k = 0; k < 60; ++k)  // if the failing call was not in the captures, it is in these
        tries([&] {
          const fr::device d = fr::devices()[k % 3];
          array x({size}, d), y({size}, d);
          fr::parallel_for(fr::default_stream(d), size, add_one{}, x), fr::copy(fr::default_stream(d), x, y);
        });
      failed += use_all(s) < 3;
    }
  }
  BOOST_TEST(2 * failed > support::seeds(150));
}

BOOST_AUTO_TEST_SUITE_END()
