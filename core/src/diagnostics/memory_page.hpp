// The HTML page that draws a memory snapshot: its text before and after the data.
#pragma once
#include <string_view>

namespace ferry::memory_page {

extern const std::string_view before_data, after_data;

}  // namespace ferry::memory_page
