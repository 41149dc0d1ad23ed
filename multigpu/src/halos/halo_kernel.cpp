#include "halos/halo_kernel.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/thread_object.hpp"
#include "halos/packed_boxes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct halo_scratch {
  std::vector<box_copy> boxes;
  std::vector<access> accesses;
  std::vector<kernel_use> uses;
};

}  // namespace

void halo_kernel::store(const halo_box& b) {
  boxes_.push_back(plan_box(b.target, b.source, b.shape));
  uses_.push_back({b.source_owner, b.read, false});
  uses_.push_back({b.target_owner, b.written, true, b.target_contiguous});
}

void halo_kernel::pack(const halo_box& b, const allocation_ref& owner, std::byte* at) {
  boxes_.push_back(plan_box(packed_at(at, b.shape), b.source, b.shape));
  uses_.push_back({b.source_owner, b.read, false});
  uses_.push_back({owner, {at, at + bytes_of(b.shape)}, true});
}

void halo_kernel::unpack(const halo_box& b, const allocation_ref& owner, std::byte* at) {
  boxes_.push_back(plan_box(b.target, packed_at(at, b.shape), b.shape));
  uses_.push_back({owner, {at, at + bytes_of(b.shape)}, false});
  uses_.push_back({b.target_owner, b.written, true, b.target_contiguous});
}

void halo_kernel::merge_uses() {
  const auto key = [](const use& u) { return std::tuple(u.owner.unchecked(), u.write, u.where.begin); };
  std::sort(uses_.begin(), uses_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<use> merged;
  for (use& u : uses_) {
    if (!merged.empty() && merged.back().owner.unchecked() == u.owner.unchecked() && merged.back().write == u.write &&
        u.where.begin <= merged.back().where.end) {
      merged.back().where.end = std::max(merged.back().where.end, u.where.end);
      merged.back().whole = merged.back().whole && u.whole;
    } else {
      merged.push_back(std::move(u));
    }
  }
  uses_ = std::move(merged);
}

void halo_kernel::run(std::span<const halo_kernel* const> kernels, stream_ref on) {
  halo_scratch& scratch = thread_object<halo_scratch>::get();
  std::vector<box_copy>& boxes = scratch.boxes;
  std::vector<access>& accesses = scratch.accesses;
  std::vector<kernel_use>& uses = scratch.uses;
  boxes.clear(), accesses.clear(), uses.clear();
  for (const halo_kernel* k : kernels) {
    boxes.insert(boxes.end(), k->boxes_.begin(), k->boxes_.end());
    for (const use& u : k->uses_) {
      accesses.push_back({&u.owner.get(), u.where, u.write});
      uses.push_back({u.where.begin, u.where.size(), !u.write || !u.whole, u.write});
    }
  }
  if (boxes.empty()) return;
  submit_ordered(on, accesses, reach::by_kernel,
                 [&](native_stream s) { copy_boxes(s, on.where().index(), boxes, uses); });
}

}  // namespace ferry::inline FERRY_ABI::detail
