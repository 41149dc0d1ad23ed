// Where the memory is when an allocation fails.
#pragma once
#include <string>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/memory_shortage.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct reason_of_failure {
  explicit reason_of_failure(const out_of_memory& e);
  std::string text;
  bool is_limit;  // a memory limit forbids the allocation
};
// The report for a failed request, without the handlers that were tried. why: the last failure.
memory_shortage shortage_of(const memory_accounting& accounting, const memory_demand& d, const reason_of_failure& why);

}  // namespace ferry::inline FERRY_ABI::detail
