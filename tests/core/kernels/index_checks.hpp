// What sources with different values of FERRY_CHECK_INDICES share: functors with the same name in all of them.
#pragma once
#include <ferry/core.hpp>
#include <string>

#include "support/cpu_device.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace index_checks {

// Read elements at a distance. The last ones are outside of the span.
struct copy_beyond {
  std::size_t distance;
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::mdspan<const int, 1> x, ferry::mdspan<int, 1> y) const {
    y(i) = x(i + distance);
  }
};
struct value_beyond {
  std::size_t distance;
  FERRY_HOST_DEVICE int operator()(std::size_t i, ferry::mdspan<const int, 1> x) const { return x(i + distance); }
};

// Messages of a loop, a reduction and an access of the CPU; empty where indices are not checked.
struct messages {
  std::string loop, reduction, element;
};
// Returns the messages of a source that is compiled with or without checks. The array is the first part of a larger
// one, so that wrong indices access its memory.
template <bool Checks>
messages messages_of_source() {
  const auto message_of = [](auto call) {
    const support::quiet_stderr quiet;
    const support::cpu_device cpu("threads=2");  // checks as the source is compiled; each call may break its device
    const ferry::unified_array<int> x({3000}, 4);
    return support::failure_of<ferry::error>([&] {
      call(x.slice({{0, 2000}}));
      ferry::default_stream(ferry::devices()[0]).synchronize();
    });
  };
  using part = ferry::array_view<const int, 1, ferry::memory_kind::unified>;
  return {message_of([](const part& x) {
            ferry::unified_array<int> y({2000}, 0);
            ferry::parallel_for(2000, copy_beyond{7}, ferry::in(x), ferry::out(y));
          }),
          message_of(
              [](const part& x) { (void)ferry::parallel_reduce(2000, value_beyond{7}, ferry::plus{}, ferry::in(x)); }),
          message_of([](const part& x) { (void)x(2003); })};
}

}  // namespace index_checks
