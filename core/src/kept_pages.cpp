#include "kept_pages.hpp"

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"

namespace ferry {

void kept_pages::keep(timeline& on, std::span<const access> uses) {
  std::lock_guard lock(mutex_);
  if (!is_at_rest_) {
    try {
      machine_.streams().synchronize();
    } catch (const device_error&) {  // a broken device has nothing pending
    }
    is_at_rest_ = true;
  }
  for (const access& use : uses) {
    allocation& a = *use.what;
    if (a.kind != memory_kind::unified) continue;
    std::uint64_t& owner = kept_.try_emplace(&a, ~std::uint64_t{0}).first->second;
    const std::uint64_t generation = a.state.load(std::memory_order_relaxed) >> 32;
    if (owner == generation) continue;
    if (machine_.verbs().attributes(a.begin).kind == memory_kind::unified) keep(on, a);  // else memory of the program
    owner = generation;
  }
}

void kept_pages::keep(timeline& on, allocation& a) {
  {
    std::lock_guard lock(a.log);
    a.log.set_advised(true);  // the next owner of the bytes has it undone
  }
  backend& verbs = machine_.verbs();
  verbs.advise(a.begin, a.bytes, memory_advice::unset_read_mostly, {});
  verbs.advise(a.begin, a.bytes, memory_advice::preferred_location, {});
  access all{&a, a.range(), true};
  access_guard guard(on, {&all, 1});
  verbs.prefetch(on.stream(), a.begin, a.bytes, {});
}

}  // namespace ferry
