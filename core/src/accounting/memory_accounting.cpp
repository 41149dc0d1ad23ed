#include "ferry/core/detail/accounting/memory_accounting.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accounting/shortage_of.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry::inline FERRY_ABI::detail {

memory_accounting::memory_accounting(detail::backend& backend)
    : backend_(backend),
      arrays_(static_cast<std::size_t>(backend.device_count())),
      pools_(backend),
      limits_(arrays_, pools_),
      pressure_(limits_, pools_) {
  add_own_handlers();
}

void memory_accounting::reissue(allocation& a) {
  if (this_thread_state.tag == 0) {
    tag_reservation none;
    return allocated(a, none);
  }
  tag_reservation reserved = under_tag({a.kind, a.device, a.bytes, nullptr});
  allocated(a, reserved);
}

void memory_accounting::reserve_pinned(std::size_t bytes, int device) {
  try {
    limits_.reserve_pinned(bytes);
  } catch (const out_of_memory& e) {
    run_handlers({memory_kind::host, device, bytes, nullptr}, e, [&] { limits_.reserve_pinned(bytes); });
  }
  pressure_.look();
}

tag_reservation memory_accounting::under_tag(const memory_demand& d) {
  arrays_.expect_tag(this_thread_state.tag);
  if (!limits_.limits_tag()) return {};
  return tag_reservation([&](tag_reservation& b) {
    try {
      limits_.enter(b, d);
    } catch (const out_of_memory& e) {
      run_handlers(d, e, [&] { limits_.enter(b, d); });
    }
    pressure_.look();
  });
}

void memory_accounting::limit(std::span<const scoped_memory_limit> all) {
  limits_.set(all, [this](const limit_rule& r) { trim_to(r); });
  pressure_.look();
}

// Releases cached bytes until the hard limit holds: blocks in quarantine, then bytes whose uses are complete, then all
// bytes that no array holds. Blocks until the last uses of the released bytes are complete.
void memory_accounting::trim_to(const limit_rule& r) {
  if (r.tag != 0) return;  // a limit on a tag counts only arrays
  refuse_inside_submission("trim pools for a memory limit");
  const auto excess = [&] {
    const std::size_t used = limits_.used_bytes(r.scope);
    return used > r.hard ? used - r.hard : 0;
  };
  const auto release = [&](release_depth how) {
    pools_.each([&](memory_source& s) {
      if (!r.scope.covers(s.kind(), s.device())) return;
      while (excess() > 0 && s.release_some(how, excess()) > 0) {
      }
    });
  };
  end_quarantine(handlers_.all(), {});
  release(release_depth::finished);
  if (excess() > 0) release(release_depth::unused);
}

std::size_t memory_accounting::reclaim(int device) {
  refuse_inside_submission("reclaim");
  std::size_t bytes = 0;
  pools_.each([&](memory_source& s) {
    if (device < 0 || s.device() == device) bytes += s.release_cached(release_depth::unused);
  });
  pressure_.look();
  return bytes;
}

void memory_accounting::end_quarantine(const handler_chain::handlers& all, const memory_demand& d) {
  if (!arrays_.has_quarantine()) return;
  for (const auto& h : all)
    if (h->order == handler_order::quarantine) (void)h->reclaim(d);
}

// An allocation inside a callback does not call the callbacks again.
void memory_accounting::run_handlers(const memory_demand& d, const out_of_memory& first,
                                     const std::function<void()>& again) {
  refuse_inside_submission("allocate");
  const handler_chain::handlers all = handlers_.all();
  struct chain_of_handlers {
    chain_of_handlers() { ++this_thread_state.handler_chains; }
    ~chain_of_handlers() { --this_thread_state.handler_chains; }
  } now;
  reason_of_failure reason(first);
  std::vector<memory_shortage::attempt> tried;
  const bool may_synchronize = handlers_.policy().synchronize;
  for (const auto& h : all) {
    if (h->order == handler_order::synchronize && !may_synchronize) continue;
    if (this_thread_state.handler_chains > 1 && h->order == handler_order::callbacks) continue;
    tried.push_back({h->name, h->reclaim(d)});
    if (tried.back().freed_bytes == 0) continue;
    if (h->order >= handler_order::callbacks) end_quarantine(all, d);  // checked arrays that a callback freed are there
    try {
      return again();
    } catch (const out_of_memory& e) {
      reason = reason_of_failure(e);
    }
    if (h->order < handler_order::callbacks) continue;  // the freed bytes went to the driver, not to pools
    if (reclaim(d.device) == 0) continue;
    try {
      return again();
    } catch (const out_of_memory& e) {  // try the next handler
      reason = reason_of_failure(e);
    }
  }
  auto s = std::make_shared<memory_shortage>(shortage_of(*this, d, reason));
  s->tried = std::move(tried);
  const std::string text = s->text();
  throw out_of_memory(text, d.bytes, std::move(s));
}

void memory_accounting::add_own_handlers() {
  const auto from_sources = [this](const memory_demand& d, release_depth how, bool own) {
    // Pages of unified memory may be on any device, and freeing them does not move them off it.
    const bool pages = how == release_depth::unused && d.kind == memory_kind::device;
    std::size_t bytes = 0;
    pools_.each([&](memory_source& s) {
      // A limit may cover device and unified memory together.
      const bool both = how == release_depth::unused && d.kind != memory_kind::host && s.kind() != memory_kind::host;
      const bool here = s.device() == d.device || d.kind == memory_kind::host;  // limits on the RAM cover all devices
      const bool near = ((both || s.kind() == d.kind) && here) || (pages && s.kind() == memory_kind::unified);
      if (own ? &s == d.asker : near) bytes += s.release_cached(how);
    });
    return bytes;
  };
  handlers_.add({"the pool's own cache", handler_order::own_cache,
                 [=](const memory_demand& d) { return from_sources(d, release_depth::finished, true); }});
  handlers_.add({"bytes of other pools whose work is over", handler_order::finished_frees,
                 [=](const memory_demand& d) { return from_sources(d, release_depth::finished, false); }});
  handlers_.add({"trim of every pool on the device", handler_order::every_pool,
                 [=](const memory_demand& d) { return from_sources(d, release_depth::unused, false); }});
}

}  // namespace ferry::inline FERRY_ABI::detail
