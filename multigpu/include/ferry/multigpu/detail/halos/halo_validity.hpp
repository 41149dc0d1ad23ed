// Tracks which halos of a sharded array are up to date: on simulated devices, and for arrays that are made while
// check::halos is on.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/multigpu/detail/halos/halo_copies.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A set of cells, as the union of a few boxes. It may lack cells that were added, but contains no others.
template <std::size_t Rank>
class cell_set {
 public:
  void add(box<Rank> b) {
    if (b.empty()) return;
    for (std::size_t i = 0; i < boxes_.size();) {
      if (!join(b, boxes_[i])) {
        ++i;
        continue;
      }
      boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;  // the larger box may join others
    }
    if (boxes_.size() < most) boxes_.push_back(b);
  }
  void clear() { boxes_.clear(); }
  bool contains(const box<Rank>& b) const {
    return std::any_of(boxes_.begin(), boxes_.end(), [&](const box<Rank>& c) { return c.contains(b); });
  }
  const std::vector<box<Rank>>& boxes() const { return boxes_; }

 private:
  static constexpr std::size_t most = 16;
  // Extends b to the union of both if that is a box. True if it is.
  static bool join(box<Rank>& b, const box<Rank>& c) {
    if (b.contains(c)) return true;
    if (c.contains(b)) return b = c, true;
    std::size_t differ = 0, along = 0;
    for (std::size_t d = 0; d != Rank; ++d)
      if (b.begin[d] != c.begin[d] || b.end[d] != c.end[d]) ++differ, along = d;
    if (differ != 1 || b.end[along] < c.begin[along] || c.end[along] < b.begin[along]) return false;
    b = b.with(along, std::min(b.begin[along], c.begin[along]), std::max(b.end[along], c.end[along]));
    return true;
  }
  std::vector<box<Rank>> boxes_;
};

// The halo cells that are out of date when a loop begins.
template <std::size_t Rank>
struct stale_halos {
  struct part {
    std::size_t member;
    box<Rank> cells;
  };
  // The complete halo on one side of a shard.
  struct side {
    std::size_t member, axis;
    bool low;
  };
  std::vector<part> parts;
  std::vector<side> sides;
};

// Halo cells that mirror no cell, beyond the end of an axis that is not periodic, are never out of date. Inside a
// capture, changes are recorded, and each launch of the graph applies them. When a capture begins, the state of all
// halos is unknown, which counts as up to date. Thread-safe.
template <std::size_t Rank>
class halo_validity : public std::enable_shared_from_this<halo_validity<Rank>> {
 public:
  // Returns the state of a new array, whose halos are all out of date; null if halos are not tracked.
  static std::shared_ptr<halo_validity> of_new_array(const shard_layout<Rank>& l) {
    const runtime& m = runtime::current();
    if (!l.has_halo() || !(m.is_simulated() || m.checks.has(check::halos))) return nullptr;
    return std::make_shared<halo_validity>(l);
  }
  explicit halo_validity(const shard_layout<Rank>& l) : copies_(halo_copies(l)), untracked_(copies_.size(), false) {
    for (const auto& c : copies_) own_.push_back(l.own(c.to)), local_.push_back(l.local(c.to));
    known_.resize(copies_.size());
    for (std::size_t i = 0; i < copies_.size(); ++i) known_[i].stale.add(copies_[i].target);
  }

  // Records that all halos were filled.
  void refreshed() {
    const lock_guard lock(mutex_);
    for (mark& m : now()) m.refreshed = true, m.stale.clear();
  }
  // Takes the state of another array, of the same distribution, whose cells were copied.
  void copied_from(const halo_validity& o) FERRY_UNCHECKED_LOCKS {
    if (current_capture()) return refreshed();
    const std::scoped_lock lock(mutex_, o.mutex_);
    known_ = o.known_;
    untracked_ = o.untracked_;
  }
  // Records that all cells were written, or those of a region.
  void changed() {
    const lock_guard lock(mutex_);
    marks& all = now();
    for (std::size_t i = 0; i < copies_.size(); ++i) all[i].stale.add(copies_[i].target);
  }
  template <class Region>
  void changed(const Region& r) {
    std::vector<decltype(r.parts(0))> parts;
    for (std::size_t m = 0; m < r.layout().team().size(); ++m) parts.push_back(r.parts(m));
    const lock_guard lock(mutex_);
    marks& all = now();
    for (std::size_t i = 0; i < copies_.size(); ++i)
      for (const auto& p : parts[copies_[i].from])
        for (std::size_t k = 0; k < p.slabs(); ++k) all[i].stale.add(mirror_of(p.slab(k), copies_[i]));
  }
  // Records that a view exists which can write these cells of a member. Its halo cells are not tracked from now on.
  void handed_out(std::size_t member, const box<Rank>& cells) {
    const lock_guard lock(mutex_);
    for (std::size_t i = 0; i < copies_.size(); ++i)
      if (copies_[i].to == member && !(copies_[i].target & cells).empty()) untracked_[i] = true;
  }

  // Returns the halo cells that are out of date; null if there are none.
  std::shared_ptr<const stale_halos<Rank>> stale() const {
    const lock_guard lock(mutex_);
    const std::shared_ptr<const marks> inside = captured(current_capture());
    if (!inside && current_capture()) return nullptr;
    const marks& all = inside ? *inside : known_;
    std::shared_ptr<stale_halos<Rank>> found;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (untracked_[i] || all[i].stale.boxes().empty()) continue;
      if (!found) found = std::make_shared<stale_halos<Rank>>();
      for (const auto& b : all[i].stale.boxes()) found->parts.push_back({copies_[i].to, b});
      if (all[i].stale.contains(copies_[i].target)) add_side(*found, i, all);
    }
    return found;
  }

 private:
  struct mark {
    bool refreshed = false;  // before the cells of `stale` were written; used in captures only
    cell_set<Rank> stale;    // in indices of the halo
  };
  using marks = std::vector<mark>;  // one for each copy

  static box<Rank> mirror_of(const box<Rank>& cells, const halo_copy<Rank>& c) {
    std::array<std::ptrdiff_t, Rank> shift;
    for (std::size_t d = 0; d != Rank; ++d) shift[d] = c.target.begin[d] - c.source.begin[d];
    return (cells & c.source).shifted(shift);
  }
  // Adds the side that contains the cells of copy i, if every cell of that side is out of date. A span refuses whole
  // planes of indices. So the side must not contain ghost cells that mirror nothing, cells that a view can write, or
  // cells that are up to date.
  void add_side(stale_halos<Rank>& to, std::size_t i, const marks& all) const FERRY_LOCKED(mutex_) {
    const box<Rank>&t = copies_[i].target, &own = own_[i];
    std::size_t outside = 0, axis = 0;
    for (std::size_t d = 0; d != Rank; ++d)
      if (t.begin[d] < own.begin[d] || t.end[d] > own.end[d]) ++outside, axis = d;
    if (outside != 1) return;
    const bool low = t.begin[axis] < own.begin[axis];
    const box<Rank> plane = low ? local_[i].with(axis, local_[i].begin[axis], own.begin[axis])
                                : local_[i].with(axis, own.end[axis], local_[i].end[axis]);
    std::size_t missing = plane.extents().count();
    for (std::size_t k = 0; k < copies_.size(); ++k) {
      if (copies_[k].to != copies_[i].to || untracked_[k]) continue;
      for (const auto& b : all[k].stale.boxes()) missing -= (b & plane).extents().count();
    }
    if (missing == 0) to.sides.push_back({copies_[i].to, axis, low});
  }
  std::shared_ptr<marks> captured(std::uint64_t capture) const FERRY_LOCKED(mutex_) {
    for (const auto& [id, what] : captured_)
      if (capture != 0 && id == capture) return what.lock();
    return nullptr;
  }
  // Returns the marks that record the next change.
  marks& now() FERRY_LOCKED(mutex_) {
    const std::uint64_t capture = current_capture();
    if (capture == 0) return known_;
    if (const auto there = captured(capture)) return *there;
    std::erase_if(captured_, [](const auto& c) { return c.second.expired(); });
    const auto made = std::make_shared<marks>(copies_.size());
    at_each_launch([self = this->shared_from_this(), made] { self->launched(*made); });  // owns both
    captured_.emplace_back(capture, made);
    return *made;
  }
  void launched(const marks& changes) {
    const lock_guard lock(mutex_);
    marks& all = now();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (changes[i].refreshed) all[i].refreshed = true, all[i].stale.clear();
      for (const auto& b : changes[i].stale.boxes()) all[i].stale.add(b);
    }
  }

  mutable mutex mutex_;
  const std::vector<halo_copy<Rank>> copies_;
  std::vector<box<Rank>> own_;                            // cells that the mirroring member owns, for each copy
  std::vector<box<Rank>> local_;                          // cells that it sees, for each copy
  std::vector<bool> untracked_ FERRY_GUARDED_BY(mutex_);  // for each copy
  marks known_ FERRY_GUARDED_BY(mutex_);
  std::vector<std::pair<std::uint64_t, std::weak_ptr<marks>>> captured_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
