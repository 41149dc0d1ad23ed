#include "ferry/core/assert.hpp"

#include <string>

#include "ferry/core/error.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

void assertion_failed(const char* condition, const char* text, const char* file, int line) {
  throw invalid_argument(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + condition + " (" +
                         text + ")");
}

// i is the fastest index, and the last one of a functor that takes several.
void failed_at(const char* why, std::size_t indices, std::size_t i, std::size_t j, std::size_t k) {
  const std::string x = std::to_string(i), y = std::to_string(j), z = std::to_string(k);
  throw invalid_argument(std::string(why) + ", called with index " +
                         (indices == 1   ? x
                          : indices == 2 ? "(" + y + ", " + x + ")"
                                         : "(" + z + ", " + y + ", " + x + ")"));
}

void index_failed(const char* array, int dimension, std::size_t index, std::size_t extent) {
  const bool named = array && *array;
  const std::string name = quoted_name(named ? array : "");
  throw invalid_argument("index " + std::to_string(static_cast<std::ptrdiff_t>(index)) + " in dimension " +
                         std::to_string(dimension) + " of " + name + " is outside its extent " +
                         std::to_string(extent) + (named ? "" : " (name arrays by .name(\"u\") to see which)"));
}

}  // namespace ferry::inline FERRY_ABI::detail
