// Advice to the driver about unified arrays: by the program, for a scope or for good, and by policies.
#pragma once
#include <atomic>
#include <cstdint>

#include "ferry/core/runtime.hpp"
#include "migration/array_records.hpp"

namespace ferry::inline FERRY_ABI::detail {

class advice_table {
 public:
  advice_table(runtime& m, array_records& records) : runtime_(m), records_(records) {}
  // Records advice of the program that the driver has received. Removes earlier records that it replaces completely.
  void add(allocation& a, byte_range where, memory_advice what, memory_location place);
  // Advice for a scope. At its end, the driver receives the remaining advice for the same bytes again.
  std::uint64_t begin(allocation& a, byte_range where, memory_advice what, memory_location place);
  // Has no effect if the program has advised about the same bytes meanwhile.
  void end(allocation& a, std::uint64_t number);
  // Passes all valid advice about an array to the driver, after its policy or its range has changed.
  void tell_driver(allocation& a);

 private:
  void tell_driver(byte_range where, memory_advice what, memory_location place);

  runtime& runtime_;
  array_records& records_;
  std::atomic<std::uint64_t> latest_{0};  // number of the latest advice for a scope
};

}  // namespace ferry::inline FERRY_ABI::detail
