// Small thread numbers, to spread threads over shards.
#pragma once
#include <cstdint>

#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI::detail {

unsigned new_thread_number() noexcept;
// Number of the calling thread, from 0 in order of first use. Also valid while a thread ends, and after main.
inline unsigned this_thread_number() noexcept {
  std::uint32_t& number = this_thread_state.number;
  if (number == ~std::uint32_t{0}) number = new_thread_number();
  return number;
}

}  // namespace ferry::inline FERRY_ABI::detail
