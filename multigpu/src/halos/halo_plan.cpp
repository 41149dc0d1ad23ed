#include "ferry/multigpu/detail/halos/halo_plan.hpp"

#include <map>
#include <utility>

#include "ferry/core/detail/support/small_vector.hpp"
#include "halos/halo_choice.hpp"
#include "halos/halo_message.hpp"
#include "halos/halo_routes.hpp"
#include "halos/member_exchange.hpp"
#include "teams/team_link.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the bytes of one message between processes, as both sides expect it.
std::size_t message_bytes(const box_list& boxes) {
  return boxes.size() == 1 ? bytes_of(boxes.front()->shape) : packed_bytes(boxes);
}

}  // namespace

halo_plan::halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how) : team_(t), members_(t.local_size()) {
  if (how == halo_method::automatic) how = choose_halo_method(t, boxes);
  const halo_routes routes(t, boxes, how);
  std::map<std::pair<std::size_t, std::size_t>, box_list> packed, messages;  // by (from, to)
  for (const halo_box& b : boxes) {
    switch (routes.of(b)) {
      case halo_route::store: of(b.from).store(b); break;
      case halo_route::copy: of(b.from).copy(b); break;
      case halo_route::packed: packed[{b.from, b.to}].push_back(&b); break;
      case halo_route::message: messages[{b.from, b.to}].push_back(&b); break;
    }
  }
  for (const auto& [ends, list] : packed) plan_packed(ends.first, ends.second, list, routes);
  for (const auto& [ends, list] : messages)
    t.is_local(ends.first) ? plan_sending(ends.first, ends.second, list)
                           : plan_receiving(ends.first, ends.second, list);
  for (member_exchange& m : members_) {
    m.merge_uses();
    packs_ = packs_ || m.unpacks();
  }
}

halo_plan::~halo_plan() = default;

member_exchange& halo_plan::of(std::size_t member) { return members_[member - team_.first_local()]; }

void halo_plan::plan_packed(std::size_t from, std::size_t to, const box_list& boxes, const halo_routes& routes) {
  const std::size_t bytes = packed_bytes(boxes);
  const packed_cells arrived = of(to).add_buffer(bytes, team_.device(to));
  const packed_cells packed = of(from).add_buffer(bytes, team_.device(from));
  of(from).send(boxes, packed, arrived, routes.can_store(from, arrived.owner().get()));
  of(to).unpack(boxes, arrived);
}

// One message for each pair of members: all boxes one after the other, or a single contiguous box in place.
void halo_plan::plan_sending(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  const std::size_t bytes = message_bytes(boxes);
  if (boxes.size() == 1 && first.source_contiguous) {
    messages_.push_back({collective_kind::send, from, to, first.source_owner, first.source.base, bytes});
    return;
  }
  const packed_cells packed = of(from).add_buffer(bytes, team_.device(from));
  messages_.push_back({collective_kind::send, from, to, packed.owner(), packed.unsynchronized_data(), bytes});
  of(from).pack(boxes, packed, packed);
}

void halo_plan::plan_receiving(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  const std::size_t bytes = message_bytes(boxes);
  if (boxes.size() == 1 && first.target_contiguous) {
    messages_.push_back({collective_kind::receive, to, from, first.target_owner, first.target.base, bytes});
    return;
  }
  const packed_cells arrived = of(to).add_buffer(bytes, team_.device(to));
  messages_.push_back({collective_kind::receive, to, from, arrived.owner(), arrived.unsynchronized_data(), bytes});
  of(to).unpack(boxes, arrived);
}

void halo_plan::start(std::span<halo_plan* const> plans, const team& t, std::size_t member, halo_streams where) {
  small_vector<member_exchange*, 8> parts;
  for (halo_plan* p : plans) parts.push_back(&p->of(member));
  member_exchange::start(parts.get(), t, member, where);
}

void halo_plan::finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on) {
  small_vector<member_exchange*, 8> parts;
  for (halo_plan* p : plans) parts.push_back(&p->of(member));
  member_exchange::finish(parts.get(), on);
}

void halo_plan::carry(std::span<halo_plan* const> plans, const team& t, halo_streams where) {
  std::vector<collective_call> calls;
  for (const halo_plan* p : plans)
    for (const halo_message& m : p->messages_) calls.push_back(m.call(t.first_local()));
  if (calls.empty()) return;
  std::vector<stream_ref> streams;
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
    streams.push_back(where == halo_streams::own ? t.stream(m) : t.side_stream(m));
  t.link().transport().submit(calls, streams);
}

}  // namespace ferry::inline FERRY_ABI::detail
