#include "support/call_stack.hpp"

#include <algorithm>

#include "ferry/core/detail/support/plain_text.hpp"

#if __has_include(<boost/stacktrace.hpp>)
#define FERRY_HAS_STACKS 1
#define BOOST_STACKTRACE_USE_ADDR2LINE
#include <boost/stacktrace.hpp>
#else
#define FERRY_HAS_STACKS 0
#endif

namespace ferry::inline FERRY_ABI::detail::stack {

bool is_available() { return FERRY_HAS_STACKS != 0; }

#if FERRY_HAS_STACKS
std::size_t capture(const void** frames, std::size_t most, std::size_t skip) {
  const boost::stacktrace::stacktrace all(skip + 1, most);
  const std::size_t n = std::min(all.size(), most);
  for (std::size_t i = 0; i < n; ++i) frames[i] = all[i].address();
  return n;
}

std::string describe(const void* frame) {
  detail::plain_stream out;
  out << boost::stacktrace::frame(frame);
  return out.str();
}
#else
std::size_t capture(const void**, std::size_t, std::size_t) { return 0; }

std::string describe(const void* frame) {
  detail::plain_stream out;
  out << frame;
  return out.str();
}
#endif

}  // namespace ferry::inline FERRY_ABI::detail::stack
