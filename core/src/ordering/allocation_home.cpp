#include "ferry/core/detail/ordering/allocation_home.hpp"

#include <utility>

#include "ferry/core/detail/accounting/memory_ledger.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

void allocation_home::rename(allocation& a, std::string text) {
  if (memory_ledger* const books = ledger())
    books->name(a, std::move(text));
  else
    a.name = std::move(text);
}

void allocation_home::set_aside(allocation& a) noexcept {
  if (memory_ledger* const books = ledger()) books->set_aside(a, kept_by::workspace);
  a.name.clear();
}

void allocation_home::hand_out(allocation& a) {
  if (memory_ledger* const books = ledger()) books->hand_out(a);
}

}  // namespace ferry
