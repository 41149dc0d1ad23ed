// The halo exchange of one array: which cells travel where, and how.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Cells that member `from` owns and member `to` mirrors. The side of a member in another process is empty.
struct halo_box {
  std::size_t from = 0, to = 0;
  strided_bytes source, target;
  strided_shape shape;
  allocation_ref source_owner, target_owner;
  byte_range read, written;
  bool source_contiguous = true, target_contiguous = true;
};

// The streams of an exchange: the members' own streams, or their side streams. With side streams, only strided cells
// are packed on the own streams.
enum class halo_streams : std::uint8_t { own, side };

// The planned exchange of one array, for the members of this process.
class halo_plan {
 public:
  halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how);
  ~halo_plan();
  halo_plan(const halo_plan&) = delete;
  halo_plan& operator=(const halo_plan&) = delete;

  // Executes the plans of several arrays of one team for one member, in one kernel or none. Call start for all members,
  // then finish for all. start stores or copies the cells of the member to the members that mirror them. finish
  // unpacks, on the stream, the cells that arrived packed.
  static void start(std::span<halo_plan* const> plans, const team& t, std::size_t member, halo_streams where);
  static void finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on);
  // For teams that span processes, between start and finish: exchanges cells with members of other processes, in one
  // submission to one stream for each member. Blocks for them if the processes communicate through the CPU.
  static void carry(std::span<halo_plan* const> plans, const team& t, std::span<const stream_ref> streams);
  bool is_carried() const { return !messages_.empty(); }
  // True if finish has work for some member.
  bool packs() const { return packs_; }

 private:
  struct member_plan;
  // A message to or from a member of another process.
  struct message {
    std::size_t member, other;
    bool sends;
    allocation_ref owner;
    std::byte* data;
    std::size_t bytes;
  };
  using box_list = std::vector<const halo_box*>;
  void plan_sending(std::size_t from, std::size_t to, const box_list& boxes);
  void plan_receiving(std::size_t from, std::size_t to, const box_list& boxes);
  member_plan& of(std::size_t member) const;
  team team_;
  std::vector<std::unique_ptr<member_plan>> members_;
  std::vector<message> messages_;
  bool packs_ = false;
};

// One copy in coordinates: `target` is a box of halo cells of member `to`. `source` contains the cells of member `from`
// that they mirror.
template <std::size_t Rank>
struct halo_copy {
  std::size_t from, to;
  box<Rank> source, target;
};

// Returns all copies, in the same order in every process.
template <std::size_t Rank>
std::vector<halo_copy<Rank>> halo_copies(const shard_layout<Rank>& l) {
  struct segment {
    std::ptrdiff_t begin, end, shift;
  };
  std::vector<halo_copy<Rank>> all;
  for (std::size_t to = 0; to < l.team().size(); ++to) {
    const box<Rank> own = l.own(to);
    if (own.empty()) continue;
    std::array<std::vector<segment>, Rank> along;
    for (std::size_t d = 0; d != Rank; ++d) {
      const auto n = static_cast<std::ptrdiff_t>(l.extents()[d]), w = static_cast<std::ptrdiff_t>(l.halo(d));
      along[d].push_back({own.begin[d], own.end[d], 0});
      for (const auto& [b, e] : {std::pair(own.begin[d] - w, own.begin[d]), std::pair(own.end[d], own.end[d] + w)})
        for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n, -n}) {
          if (shift != 0 && !l.periodic(d)) continue;
          const segment s{std::max(b, -shift), std::min(e, n - shift), shift};
          if (s.begin < s.end) along[d].push_back(s);
        }
    }
    std::array<std::size_t, Rank> which{};
    for (;;) {
      std::size_t d = 0;  // the next combination; the first one is the shard itself, and no halo
      while (d != Rank && ++which[d] == along[d].size()) which[d++] = 0;
      if (d == Rank) break;
      box<Rank> target;
      std::array<std::ptrdiff_t, Rank> shift;
      for (std::size_t k = 0; k != Rank; ++k) {
        const segment& s = along[k][which[k]];
        target.begin[k] = s.begin, target.end[k] = s.end, shift[k] = s.shift;
      }
      std::array<std::ptrdiff_t, Rank> back = shift;
      for (auto& b : back) b = -b;
      for (std::size_t from = 0; from < l.team().size(); ++from) {
        const box<Rank> source = target.shifted(shift) & l.own(from);
        if (!source.empty()) all.push_back({from, to, source, source.shifted(back)});
      }
    }
  }
  return all;
}

// Exchanges cells between members of different processes.
void carry_exchange(const team& t, std::span<halo_plan* const> plans, halo_streams where);

}  // namespace ferry::inline FERRY_ABI::detail
