#include "ferry/core/memory_pressure.hpp"

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

memory_callback::~memory_callback() {
  if (id_ != 0)
    runtime_registry::if_alive(runtime_, [&](runtime& m) {
      m.memory().handlers().remove(id_);
      m.memory().pressure().remove_callback(id_);
    });
}

memory_callback on_out_of_memory(std::function<std::size_t(const memory_demand&)> f) {
  runtime& m = runtime::current();
  return {m.serial(), m.memory().handlers().add({"a callback of the program", handler_order::callbacks, std::move(f)})};
}

memory_callback on_memory_pressure(std::function<std::size_t(const memory_pressure&)> f) {
  runtime& m = runtime::current();
  return {m.serial(), m.memory().pressure().add_callback(std::move(f))};
}

std::size_t reclaim() { return runtime::current().memory().reclaim(); }

std::size_t reclaim(device d) {
  runtime& m = runtime::current();
  (void)m.properties(d.index());
  return m.memory().reclaim(d.index());
}

void set_out_of_memory_policy(const out_of_memory_policy& p) { runtime::current().memory().handlers().set_policy(p); }

out_of_memory_policy parse_out_of_memory_policy(std::string_view text) {
  out_of_memory_policy p;
  if (text == "none") return p;
  for (const std::string_view item : split_text(text, ',')) {
    if (item == "synchronize")
      p.synchronize = true;
    else if (item == "spill")
      p.spill_to_peers = true;
    else
      throw parse_error(
          concat("'", text,
                 "' is nothing to do when memory runs out: allowed are synchronize, spill, both by a comma, and none"));
  }
  return p;
}

}  // namespace ferry::inline FERRY_ABI
