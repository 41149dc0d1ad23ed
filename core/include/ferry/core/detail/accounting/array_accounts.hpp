// Bytes of arrays by kind and device, and by tag and name.
#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/label_accounts.hpp"
#include "ferry/core/detail/accounting/memory_counters.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/allocation_labels.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Holder of a block that is retained: in no array and not in its pool.
enum class retained_by : std::uint8_t {
  workspace,  // for its next array
  checks      // in quarantine
};

// Thread-safe. Adding and removing an array without tag and name costs no atomic read-modify-write.
class array_accounts {
 public:
  explicit array_accounts(std::size_t devices);

  // Called while only this thread can access the allocation.

  // Adds an array. One under the calling thread's tag also needs add_tagged().
  void add(allocation& a) noexcept {
    counters_.add(index(a.kind, a.device), a.bytes);
    set_labels(a, this_thread_state.tag);
  }
  // Adds the array to the account of the calling thread's tag, for which expect_tag() has made room.
  void add_tagged(const allocation& a) noexcept;
  void expect_tag(memory_label tag) { labels_.expect(label_kind::tag, tag); }
  void remove(allocation& a) noexcept {
    const std::size_t i = index(a.kind, a.device);
    counters_.remove(i, a.bytes);
    const allocation_labels l = labels_of(a);
    set_labels(a, 0);
    if ((l.tag | l.name) == 0) [[likely]]
      return;
    if (l.tag != 0) labels_.remove(label_kind::tag, l.tag, i, a.bytes);
    if (l.name != 0) labels_.remove(label_kind::name, l.name, i, a.bytes);
    labels_.remove_labelled(i, a.bytes);
  }
  // Marks a removed block as retained, and ends that.
  void retain(allocation& a, retained_by whom) noexcept;
  void end_retention(allocation& a) noexcept;
  // Sets the name of the bytes for reports. Only their owner may call it.
  void name(allocation& a, std::string text);

  // Bytes in use, by kind and device.
  memory_counts counts(memory_kind kind, int device) const { return counters_.sum(index(kind, device)); }
  std::size_t peak_bytes(memory_kind kind, int device) const { return counters_.peak(index(kind, device)); }
  memory_counts counts_of_this_thread(memory_kind kind, int device) const {
    return counters_.of_this_thread(index(kind, device));
  }
  // Bytes in arrays with a tag; for 0, in all arrays.
  std::size_t bytes(memory_kind kind, int device, memory_label tag = 0) const;
  const label_accounts& labels() const { return labels_; }
  // Use of one label, by kind and device.
  label_use use_of(label_kind which, memory_label label, memory_kind kind, int device) const {
    return labels_.use(which, label, index(kind, device));
  }
  // Use of arrays without tag and name.
  label_use unlabelled(memory_kind kind, int device) const;
  // Bytes of retained blocks in quarantine.
  std::size_t quarantined_bytes(memory_kind kind, int device) const { return quarantined_[index(kind, device)].load(); }
  bool has_quarantine() const;

 private:
  std::size_t index(memory_kind kind, int device) const {
    return static_cast<std::size_t>(kind) * devices_ + static_cast<std::size_t>(device);
  }

  const std::size_t devices_;
  memory_counters counters_;
  label_accounts labels_;
  std::vector<std::atomic<std::size_t>> quarantined_;
  const memory_label retained_label_ = intern_tag("(kept for the next array)");  // shown in pictures of pools
  const memory_label quarantine_label_ = intern_tag("(in quarantine)");
};

}  // namespace ferry::inline FERRY_ABI::detail
