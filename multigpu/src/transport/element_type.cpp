#include "ferry/multigpu/detail/transport/element_type.hpp"

#include <array>

#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

const char* name_of(element_type t) {
  constexpr std::array names{"int8",    "uint8",    "int32",   "uint32",  "int64", "uint64",
                             "float16", "bfloat16", "float32", "float64", "bytes"};
  return names.at(static_cast<std::size_t>(t));
}

const char* name_of(reduction r) {
  constexpr std::array names{"sum", "product", "minimum", "maximum", "average", "minimum_number", "maximum_number"};
  return names.at(static_cast<std::size_t>(r));
}

const char* name_of(collective_kind k) {
  constexpr std::array names{"all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter",
                             "all_to_all", "gather", "scatter",   "send",       "receive"};
  return names.at(static_cast<std::size_t>(k));
}

}  // namespace ferry::inline FERRY_ABI::detail
