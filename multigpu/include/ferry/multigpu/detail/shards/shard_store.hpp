// The memory and the state of a sharded array. Expressions share it, so that it lives at least as long as they do.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/halos/halo_currency.hpp"
#include "ferry/multigpu/detail/halos/halo_plan.hpp"
#include "ferry/multigpu/detail/halos/halo_validity.hpp"
#include "ferry/multigpu/detail/shards/sharded_operand.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class T, std::size_t Rank, memory_kind Kind>
class shard_store : public sharded_operand {
 public:
  using view = array_view<T, Rank, Kind>;
  explicit shard_store(std::shared_ptr<const shard_layout<Rank>> l) : layout(std::move(l)) {}

  const ferry::team& team() const override { return layout->team(); }
  std::string text() const override { return name.empty() ? "sharded array" : name; }
  std::string described() const override {
    return (name.empty() ? "an unnamed sharded array" : "sharded array '" + name + "'") + " of " + layout->text();
  }
  shard_distribution distribution() const override {
    shard_distribution d;
    d.extents.rank = Rank;
    for (std::size_t k = 0; k != Rank; ++k) {
      const std::size_t axis = Rank - 1 - k;
      d.extents.extent[axis] = layout->extents()[k];
      d.halo[axis] = layout->halo(k);
      d.periodic[axis] = layout->periodic(k);
    }
    d.grid = layout->grid();
    return d;
  }
  program_operand cells(const program_part& p) const override {
    const box<Rank> seen = layout->local(p.member);
    program_operand o = operand_of(shards[p.member - team().first_local()]);
    for (std::size_t d = 0; d != Rank; ++d) {
      o.data += (p.first[d] - seen.begin[Rank - 1 - d]) * o.stride_bytes[d];
      o.shape.extent[d] = p.shape.extent[d];
      if (p.shape.extent[d] == 1) o.stride_bytes[d] = 0;
    }
    return o;
  }
  byte_range memory(std::size_t member) const override { return shards[member - team().first_local()].bytes(); }
  halo_plan* plan() const override { return halos.get(); }
  bool halos_are_filled() const override { return currency->are_filled(); }
  void note_filled() const override {
    currency->filled();
    if (validity) validity->refreshed();
  }
  void note_changed() const override {
    currency->changed();
    if (validity) validity->changed();
  }

  std::shared_ptr<const shard_layout<Rank>> layout;
  std::vector<view> shards;  // of local members, with halos
  std::shared_ptr<halo_plan> halos;
  std::shared_ptr<halo_validity<Rank>> validity;  // null if it is not tracked
  std::shared_ptr<halo_currency> currency = std::make_shared<halo_currency>();
  std::string name;
};

}  // namespace ferry::inline FERRY_ABI::detail
