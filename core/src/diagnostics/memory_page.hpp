// The page that draws a memory snapshot: what comes before and after its data.
#pragma once
#include <string_view>

namespace ferry::memory_page {

extern const std::string_view before_data, after_data;

}  // namespace ferry::memory_page
