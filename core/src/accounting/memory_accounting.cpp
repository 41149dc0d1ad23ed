#include "ferry/core/detail/accounting/memory_accounting.hpp"

#include <algorithm>

#include "accounting/reclaim_state.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {
constexpr std::size_t kinds = 3;
}

memory_accounting::memory_accounting(detail::backend& backend)
    : backend_(backend),
      devices_(static_cast<std::size_t>(backend.device_count())),
      reserved_(kinds * devices_),
      quarantined_(kinds * devices_),
      counters_(kinds * devices_),
      labels_(kinds * devices_),
      reclaiming_(std::make_unique<reclaim_state>()) {
  for (int d = 0; d < backend.device_count(); ++d) device_bytes_.push_back(backend.properties(d).memory_bytes);
  add_own_handlers();
}

memory_accounting::~memory_accounting() = default;

void memory_accounting::name(allocation& a, std::string text) {
  const memory_label now = intern_name(text);
  const auto [tag, before] = labels_of(a);
  labels_.expect(label_kind::name, now);
  a.name = std::move(text);
  if (now == before) return;
  const std::size_t i = index(a.kind, a.device);
  if (before != 0) labels_.remove(label_kind::name, before, i, a.bytes);
  if (now != 0) labels_.add(label_kind::name, now, i, a.bytes);
  if (tag == 0 && (before == 0) != (now == 0))
    now == 0 ? labels_.remove_labelled(i, a.bytes) : labels_.add_labelled(i, a.bytes);
  set_labels(a, allocation_labels{tag, now}.packed());
}

void memory_accounting::retain(allocation& a, retained_by whom) noexcept {
  freed(a);
  const bool quarantined = whom == retained_by::checks;
  if (quarantined) quarantined_[index(a.kind, a.device)] += a.bytes;
  set_labels(a, allocation_labels::aside | (quarantined ? quarantine_label_ : retained_label_));
}

void memory_accounting::take_back(allocation& a) noexcept {
  if (labels_of(a).tag == quarantine_label_) quarantined_[index(a.kind, a.device)] -= a.bytes;
  set_labels(a, 0);
}

void memory_accounting::reissue(allocation& a) {
  if (this_thread_state.tag == 0) {
    tag_reservation none;
    return allocated(a, none);
  }
  tag_reservation reserved(*this, {a.kind, a.device, a.bytes, nullptr});
  allocated(a, reserved);
}

void memory_accounting::register_source(memory_source& s) {
  std::lock_guard lock(enrolling_);
  sources_.push_back(&s);
}

void memory_accounting::unregister_source(memory_source& s) noexcept {
  std::lock_guard lock(enrolling_);
  std::erase(sources_, &s);
}

void memory_accounting::each_source(const std::function<void(memory_source&)>& f) const {
  std::shared_lock lock(enrolling_);
  for (memory_source* s : sources_) f(*s);
}

void memory_accounting::observe(allocation_observer& o) {
  std::lock_guard lock(observing_);
  observers_.push_back(&o);
  observed_ = true;
}

void memory_accounting::stop_observing(allocation_observer& o) noexcept {
  std::lock_guard lock(observing_);
  std::erase(observers_, &o);
  observed_ = !observers_.empty();
}

std::uint64_t memory_accounting::add_handler(reclaim_handler r) {
  std::lock_guard lock(handlers_mutex_);
  const auto at = std::upper_bound(handlers_.begin(), handlers_.end(), r.order,
                                   [](int order, const numbered_handler& n) { return order < n.what->order; });
  handlers_.insert(at, {next_handler_, std::make_shared<const reclaim_handler>(std::move(r))});
  return next_handler_++;
}

out_of_memory_policy memory_accounting::policy() const {
  std::lock_guard lock(handlers_mutex_);
  return policy_;
}

void memory_accounting::set_policy(const out_of_memory_policy& p) {
  std::lock_guard lock(handlers_mutex_);
  policy_ = p;
}

std::size_t memory_accounting::reclaim(int device) {
  refuse_inside_submission("reclaim");
  std::size_t bytes = 0;
  each_source([&](memory_source& s) {
    if (device < 0 || s.device() == device) bytes += s.release_cached(release_depth::unused);
  });
  look_for_pressure();
  return bytes;
}

void memory_accounting::add_own_handlers() {
  const auto from_sources = [this](const memory_demand& d, release_depth how, bool own) {
    // Pages of unified memory may be on any device, and freeing them does not move them off it.
    const bool pages = how == release_depth::unused && d.kind == memory_kind::device;
    std::size_t bytes = 0;
    each_source([&](memory_source& s) {
      // A limit may cover device and unified memory together.
      const bool both = how == release_depth::unused && d.kind != memory_kind::host && s.kind() != memory_kind::host;
      const bool here = s.device() == d.device || d.kind == memory_kind::host;  // limits on the RAM cover all devices
      const bool near = ((both || s.kind() == d.kind) && here) || (pages && s.kind() == memory_kind::unified);
      if (own ? &s == d.asker : near) bytes += s.release_cached(how);
    });
    return bytes;
  };
  add_handler({"the pool's own cache", handler_order::own_cache,
               [=](const memory_demand& d) { return from_sources(d, release_depth::finished, true); }});
  add_handler({"bytes of other pools whose work is over", handler_order::finished_frees,
               [=](const memory_demand& d) { return from_sources(d, release_depth::finished, false); }});
  add_handler({"trim of every pool on the device", handler_order::every_pool,
               [=](const memory_demand& d) { return from_sources(d, release_depth::unused, false); }});
}

}  // namespace ferry::inline FERRY_ABI::detail
