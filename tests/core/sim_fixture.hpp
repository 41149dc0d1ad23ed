// Shared by the tests of the simulated backend.
#pragma once
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"
#include "ferry/core/error.hpp"
#include "sim/sim_backend.hpp"

namespace sim_test {

namespace fr = ferry;
using fr::memory_kind;

struct sim_machine {
  explicit sim_machine(const std::string& options)
      : owner(fr::detail::sim::make_backend(fr::detail::sim::parse_options(options))),
        b(*owner),
        look(dynamic_cast<fr::detail::sim::inspector&>(b)) {}
  int* ints(std::size_t n, int device = 0, memory_kind kind = memory_kind::device) {
    return static_cast<int*>(b.allocate(kind, device, n * sizeof(int)));
  }
  fr::native_stream stream(int device = 0) { return b.create_stream(device, 0); }
  fr::native_event event(int device = 0) { return b.create_event(device, false); }

  std::unique_ptr<fr::detail::backend> owner;
  fr::detail::backend& b;
  fr::detail::sim::inspector& look;
};

inline std::string random_machine(int seed) { return "schedule=random:" + std::to_string(seed); }

inline fr::detail::kernel_use use(const int* p, std::size_t n, bool reads, bool writes) {
  return {reinterpret_cast<const std::byte*>(p), n * sizeof(int), reads, writes};
}

// y[i] = y[i] * 3 + x[i] + k
inline void combine(sim_machine& m, fr::native_stream s, int* y, const int* x, std::size_t n, int k) {
  const std::vector uses{use(y, n, true, true), use(x, n, true, false)};
  m.b.launch(s, {"combine", uses, [=](const fr::detail::relocation& at) {
                   int* to = at(y);
                   const int* from = at(x);
                   for (std::size_t i = 0; i < n; ++i) to[i] = to[i] * 3 + from[i] + k;
                 }});
}

inline void set(sim_machine& m, fr::native_stream s, int* y, std::size_t n, int k) {
  const std::vector uses{use(y, n, false, true)};
  m.b.launch(s, {"set", uses, [=](const fr::detail::relocation& at) { std::fill_n(at(y), n, k); }});
}

inline std::vector<int> fetch(sim_machine& m, fr::native_stream s, const int* p, std::size_t n) {
  std::vector<int> result(n);
  m.b.copy(s, result.data(), p, n * sizeof(int));
  return result;
}

template <class Error, class F>
inline void check_throws(F f, const std::string& part) {
  try {
    f();
    BOOST_ERROR("nothing thrown, expected: " + part);
  } catch (const Error& e) {
    BOOST_TEST(std::string(e.what()).find(part) != std::string::npos, e.what() << " should contain: " << part);
  }
}

inline const std::vector<std::string> both{"",
                                           "schedule=random:1",
                                           "schedule=random:2",
                                           "schedule=random:3",
                                           "schedule=random:7",
                                           "schedule=overlap",
                                           "schedule=overlap;threads=3"};

}  // namespace sim_test
