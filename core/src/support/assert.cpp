#include "ferry/core/assert.hpp"

#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

void assertion_failed(const char* condition, const char* text, const char* file, int line) {
  throw invalid_argument(concat(file, ":", line, ": assertion failed: ", condition, " (", text, ")"));
}

void failed_at(const char* why, const std::size_t* index, std::size_t count) {
  std::string all = std::to_string(index[0]);
  for (std::size_t d = 1; d != count; ++d) all += concat(", ", index[d]);
  throw invalid_argument(concat(why, ", called with index ", count == 1 ? all : "(" + all + ")"));
}

void index_failed(const char* array, int dimension, std::size_t index, std::size_t extent) {
  const bool named = array && *array;
  const std::string name = quoted_name(named ? array : "");
  throw invalid_argument(concat("index ", static_cast<std::ptrdiff_t>(index), " in dimension ", dimension, " of ", name,
                                " is outside its extent ", extent,
                                named ? "" : " (name arrays by .name(\"u\") to see which)"));
}

}  // namespace ferry::inline FERRY_ABI::detail
