#include "ferry/core/assert.hpp"

#include <string>

#include "ferry/core/error.hpp"

namespace ferry::detail {

void assertion_failed(const char* condition, const char* text, const char* file, int line) {
  throw invalid_argument(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + condition + " (" +
                         text + ")");
}

void index_failed(const char* array, int dimension, std::size_t index, std::size_t extent) {
  const std::string name = array && *array ? std::string("array '") + array + "'" : "an unnamed array";
  throw invalid_argument("index " + std::to_string(static_cast<std::ptrdiff_t>(index)) + " in dimension " +
                         std::to_string(dimension) + " of " + name + " is outside its extent " +
                         std::to_string(extent) + " (name arrays by .name(\"u\") to see which)");
}

}  // namespace ferry::detail
