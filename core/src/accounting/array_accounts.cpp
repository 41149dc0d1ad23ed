#include "ferry/core/detail/accounting/array_accounts.hpp"

#include <algorithm>
#include <utility>

namespace ferry::inline FERRY_ABI::detail {
namespace {
constexpr std::size_t kinds = 3;
}

array_accounts::array_accounts(std::size_t devices)
    : devices_(devices),
      counters_(kinds * devices),
      labels_(kinds * devices),
      quarantined_(kinds * devices) {}

void array_accounts::add_tagged(const allocation& a) noexcept {
  const std::size_t i = index(a.kind, a.device);
  labels_.add(label_kind::tag, this_thread_state.tag, i, a.bytes);
  labels_.add_labelled(i, a.bytes);
}

void array_accounts::retain(allocation& a, retained_by whom) noexcept {
  const bool quarantined = whom == retained_by::checks;
  if (quarantined) quarantined_[index(a.kind, a.device)] += a.bytes;
  set_labels(a, allocation_labels::aside | (quarantined ? quarantine_label_ : retained_label_));
}

void array_accounts::end_retention(allocation& a) noexcept {
  if (labels_of(a).tag == quarantine_label_) quarantined_[index(a.kind, a.device)] -= a.bytes;
  set_labels(a, 0);
}

void array_accounts::name(allocation& a, std::string text) {
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

std::size_t array_accounts::bytes(memory_kind kind, int device, memory_label tag) const {
  if (tag != 0) return labels_.use(label_kind::tag, tag, index(kind, device)).bytes;
  return static_cast<std::size_t>(std::max<std::int64_t>(counts(kind, device).current_bytes(), 0));
}

// Saturates at 0: threads may be between an allocation and its count.
label_use array_accounts::unlabelled(memory_kind kind, int device) const {
  const memory_counts all = counts(kind, device);
  const label_use some = labels_.labelled(index(kind, device));
  const auto minus = [](std::int64_t a, std::size_t b) {
    return static_cast<std::size_t>(std::max<std::int64_t>(a - static_cast<std::int64_t>(b), 0));
  };
  return {{}, 0, minus(all.current_bytes(), some.bytes), 0, minus(all.current_allocations(), some.allocations)};
}

bool array_accounts::has_quarantine() const {
  return std::any_of(quarantined_.begin(), quarantined_.end(), [](const auto& bytes) { return bytes > 0; });
}

}  // namespace ferry::inline FERRY_ABI::detail
