#include "ferry/core/detail/ordering/allocation_home.hpp"

#include <utility>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

// Without books only the name is noted.
void allocation_home::rename(allocation& a, std::string text) { a.name = std::move(text); }
void allocation_home::set_aside(allocation& a) noexcept { a.name.clear(); }
void allocation_home::hand_out(allocation&) {}

}  // namespace ferry
