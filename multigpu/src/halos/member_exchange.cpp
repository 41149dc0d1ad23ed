#include "halos/member_exchange.hpp"

#include <algorithm>

#include "ferry/core/detail/support/small_vector.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool reads_strided(const box_list& boxes) {
  return std::any_of(boxes.begin(), boxes.end(), [](const halo_box* b) { return !b->source_contiguous; });
}

}  // namespace

// The interior may read halo cells along axes other than that of the team: a member copies these to itself first.
void member_exchange::store(const halo_box& b) {
  stores_.store(b);
  (b.from == b.to ? pack_first_ : stores_beside_).store(b);
}

void member_exchange::copy(const halo_box& b) {
  const extents<1> n(bytes_of(b.shape));
  copies_.push_back({{b.source_owner, b.source.base, n, {1}}, {b.target_owner, b.target.base, n, {1}}});
  copies_beside_.push_back(copies_.back());
}

void member_exchange::send(const box_list& boxes, const packed_cells& packed, const packed_cells& arrived,
                           bool stores) {
  if (!stores) copies_.push_back({packed, arrived});
  copies_beside_.push_back({packed, arrived});
  pack(boxes, stores ? arrived : packed, packed);
}

void member_exchange::pack(const box_list& boxes, const packed_cells& on_own, const packed_cells& beside) {
  halo_kernel& first = reads_strided(boxes) ? pack_first_ : stores_beside_;
  std::size_t at = 0;
  for (const halo_box* b : boxes) {
    stores_.pack(*b, on_own.owner(), on_own.unsynchronized_data() + at);
    first.pack(*b, beside.owner(), beside.unsynchronized_data() + at);
    at += aligned(bytes_of(b->shape));
  }
}

void member_exchange::unpack(const box_list& boxes, const packed_cells& from) {
  std::byte* at = from.unsynchronized_data();
  for (const halo_box* b : boxes) {
    unpack_.unpack(*b, from.owner(), at);
    at += aligned(bytes_of(b->shape));
  }
}

packed_cells member_exchange::add_buffer(std::size_t bytes, device on) {
  return buffers_.emplace_back(extents<1>(bytes), on).slice({0, bytes});
}

void member_exchange::merge_uses() {
  for (halo_kernel* k : {&stores_, &unpack_, &pack_first_, &stores_beside_}) k->merge_uses();
}

void member_exchange::run(std::span<member_exchange* const> arrays, halo_kernel member_exchange::*which,
                          stream_ref on) {
  small_vector<const halo_kernel*, 8> kernels;
  for (const member_exchange* a : arrays) kernels.push_back(&(a->*which));
  halo_kernel::run(kernels.get(), on);
}

void member_exchange::start(std::span<member_exchange* const> arrays, const team& t, std::size_t member,
                            halo_streams where) {
  const bool beside = where == halo_streams::side;
  const stream_ref own = t.stream(member), on = beside ? t.side_stream(member) : own;
  if (beside) run(arrays, &member_exchange::pack_first_, own);
  run(arrays, beside ? &member_exchange::stores_beside_ : &member_exchange::stores_, on);
  for (member_exchange* a : arrays)
    for (planned_copy& c : beside ? a->copies_beside_ : a->copies_) ferry::copy(on, c.from, c.to, source_line{});
}

void member_exchange::finish(std::span<member_exchange* const> arrays, stream_ref on) {
  run(arrays, &member_exchange::unpack_, on);
}

}  // namespace ferry::inline FERRY_ABI::detail
