#include "ferry/multigpu/detail/halos/halo_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/support/thread_object.hpp"
#include "ferry/core/runtime.hpp"
#include "halos/box_copies.hpp"
#include "halos/halo_choice.hpp"
#include "halos/packed_boxes.hpp"
#include "teams/team_link.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Bytes that a plan accesses. It holds a reference to their allocation.
struct planned_use {
  allocation_ref owner;
  byte_range where;
  bool write;
  bool whole = true;  // false: bytes in between are preserved
};

// A kernel of one member.
struct planned_kernel {
  std::vector<box_copy> boxes;
  std::vector<planned_use> uses;
  bool empty() const { return boxes.empty(); }
};

using buffer = device_array<std::byte>;

// A contiguous copy by the driver.
struct planned_copy {
  array_view<const std::byte, 1, memory_kind::device> from;
  array_view<std::byte, 1, memory_kind::device> to;
};

// Merges ranges of one allocation that touch or overlap.
void merge(std::vector<planned_use>& uses) {
  const auto key = [](const planned_use& u) { return std::tuple(u.owner.unchecked(), u.write, u.where.begin); };
  std::sort(uses.begin(), uses.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<planned_use> merged;
  for (planned_use& u : uses) {
    if (!merged.empty() && merged.back().owner.unchecked() == u.owner.unchecked() && merged.back().write == u.write &&
        u.where.begin <= merged.back().where.end) {
      merged.back().where.end = std::max(merged.back().where.end, u.where.end);
      merged.back().whole = merged.back().whole && u.whole;
    } else {
      merged.push_back(std::move(u));
    }
  }
  uses = std::move(merged);
}

// Returns the bytes of one message with several packed boxes.
std::size_t packed_bytes(const std::vector<const halo_box*>& boxes) {
  if (boxes.size() == 1) return bytes_of(boxes.front()->shape);
  std::size_t n = 0;
  for (const halo_box* b : boxes) n += aligned(bytes_of(b->shape));
  return n;
}

// Adds a copy of a box to contiguous memory, as a part of a message.
void pack(planned_kernel& k, const halo_box& b, const allocation_ref& owner, std::byte* at) {
  k.boxes.push_back(plan_box(packed_at(at, b.shape), b.source, b.shape));
  k.uses.push_back({b.source_owner, b.read, false});
  k.uses.push_back({owner, {at, at + bytes_of(b.shape)}, true});
}
void unpack(planned_kernel& k, const halo_box& b, const allocation_ref& owner, std::byte* at) {
  k.boxes.push_back(plan_box(b.target, packed_at(at, b.shape), b.shape));
  k.uses.push_back({owner, {at, at + bytes_of(b.shape)}, false});
  k.uses.push_back({b.target_owner, b.written, true, b.target_contiguous});
}
void store(planned_kernel& k, const halo_box& b) {
  k.boxes.push_back(plan_box(b.target, b.source, b.shape));
  k.uses.push_back({b.source_owner, b.read, false});
  k.uses.push_back({b.target_owner, b.written, true, b.target_contiguous});
}

bool reads_strided(const std::vector<const halo_box*>& boxes) {
  return std::any_of(boxes.begin(), boxes.end(), [](const halo_box* b) { return !b->source_contiguous; });
}

struct halo_scratch {
  std::vector<box_copy> boxes;
  std::vector<access> accesses;
  std::vector<kernel_use> uses;
};

void run(const std::vector<const planned_kernel*>& kernels, stream_ref on) {
  halo_scratch& scratch = thread_object<halo_scratch>::get();
  std::vector<box_copy>& boxes = scratch.boxes;
  std::vector<access>& accesses = scratch.accesses;
  std::vector<kernel_use>& uses = scratch.uses;
  boxes.clear(), accesses.clear(), uses.clear();
  for (const planned_kernel* k : kernels) {
    boxes.insert(boxes.end(), k->boxes.begin(), k->boxes.end());
    for (const planned_use& u : k->uses) {
      accesses.push_back({&u.owner.get(), u.where, u.write});
      uses.push_back({u.where.begin, u.where.size(), !u.write || !u.whole, u.write});
    }
  }
  if (boxes.empty()) return;
  submit_ordered(on, accesses, reach::by_kernel,
                 [&](native_stream s) { copy_boxes(s, on.where().index(), boxes, uses); });
}

}  // namespace

struct halo_plan::member_plan {
  planned_kernel enqueue, take;
  std::vector<planned_copy> copies;
  // The same exchange on side streams, concurrent with other work of the member. The access history records strided
  // cells as the range from their first to their last byte. The next work that writes between them would wait for
  // readers of the range. So they are packed on the member's own stream, and the packed copy travels.
  planned_kernel pack_first, stores_beside;
  std::vector<planned_copy> copies_beside;
  std::vector<buffer> buffers;

  buffer& add_buffer(std::size_t bytes, device on) { return buffers.emplace_back(extents<1>(bytes), on); }
  planned_kernel& pack_beside(const std::vector<const halo_box*>& boxes) {
    return reads_strided(boxes) ? pack_first : stores_beside;
  }
};

halo_plan::~halo_plan() = default;

halo_plan::halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how) : team_(t) {
  for (std::size_t i = 0; i < t.local_size(); ++i) members_.push_back(std::make_unique<member_plan>());
  runtime& m = runtime::current();
  if (how == halo_method::automatic) how = choose_halo_method(t, boxes);
  std::map<std::pair<std::size_t, std::size_t>, box_list> packed, carried;  // by (from, to)
  // Tested now, at first use: cells of a pair that fails are packed and copied.
  const auto reaches = [&](std::size_t from, const allocation& a) {
    try {
      return a.kind != memory_kind::device || m.peers().grant(t.device(from).index(), a.device, a.peer_class());
    } catch (const peer_access_error&) {
      return false;
    }
  };
  const auto by_store = [&](const halo_box& b) {
    return how != halo_method::copies && reaches(b.from, b.target_owner.get());
  };
  // If any box between two members is strided, all boxes between them travel as one message: then single cells, too,
  // lie between interior cells.
  std::set<std::pair<std::size_t, std::size_t>> strided;
  for (const halo_box& b : boxes)
    if (!b.source_contiguous || !b.target_contiguous) strided.insert({b.from, b.to});
  for (const halo_box& b : boxes) {
    if (!t.is_local(b.from) || !t.is_local(b.to)) {
      carried[{b.from, b.to}].push_back(&b);
      continue;
    }
    member_plan& giver = of(b.from);
    const bool in_device_memory = b.target_owner.get().kind == memory_kind::device;
    const bool one_by_one = !strided.contains({b.from, b.to});
    if (b.from == b.to || (one_by_one && by_store(b))) {
      store(giver.enqueue, b);
      // The interior may read halo cells along axes other than that of the team: a member copies these to itself first.
      store(b.from == b.to ? giver.pack_first : giver.stores_beside, b);
    } else if (one_by_one && in_device_memory) {
      const extents<1> n(bytes_of(b.shape));
      giver.copies.push_back({{b.source_owner, b.source.base, n, {1}}, {b.target_owner, b.target.base, n, {1}}});
      giver.copies_beside.push_back(giver.copies.back());
    } else {
      packed[{b.from, b.to}].push_back(&b);
    }
  }
  // Strided boxes travel as one message: packed on the device of the giver, or directly in memory of the taker, and
  // unpacked there.
  for (const auto& [ends, list] : packed) {
    std::size_t bytes = 0;
    for (const halo_box* b : list) bytes += aligned(bytes_of(b->shape));
    member_plan &giver = of(ends.first), &taker = of(ends.second);
    const auto arrived = taker.add_buffer(bytes, t.device(ends.second)).slice({0, bytes});
    const auto given = giver.add_buffer(bytes, t.device(ends.first)).slice({0, bytes});
    const bool is_copied = how == halo_method::copies || !reaches(ends.first, arrived.owner().get());
    if (is_copied) giver.copies.push_back({given, arrived});
    giver.copies_beside.push_back({given, arrived});
    const auto& first = is_copied ? given : arrived;
    std::size_t at = 0;
    for (const halo_box* b : list) {
      pack(giver.enqueue, *b, first.owner(), first.unsynchronized_data() + at);
      pack(giver.pack_beside(list), *b, given.owner(), given.unsynchronized_data() + at);
      unpack(taker.take, *b, arrived.owner(), arrived.unsynchronized_data() + at);
      at += aligned(bytes_of(b->shape));
    }
    packs_ = true;
  }
  for (const auto& [ends, list] : carried)
    t.is_local(ends.first) ? plan_sending(ends.first, ends.second, list)
                           : plan_receiving(ends.first, ends.second, list);
  for (const auto& p : members_)
    for (planned_kernel* k : {&p->enqueue, &p->take, &p->pack_first, &p->stores_beside}) merge(k->uses);
}

// One message for each pair of members, as both sides expect it: all boxes one after the other, or a single contiguous
// box in place.
void halo_plan::plan_sending(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  if (boxes.size() == 1 && first.source_contiguous) {
    messages_.push_back({from, to, true, first.source_owner, first.source.base, bytes_of(first.shape)});
    return;
  }
  member_plan& giver = of(from);
  const buffer& b = giver.add_buffer(packed_bytes(boxes), team_.device(from));
  std::byte* at = b.unsynchronized_data();
  messages_.push_back({from, to, true, b.owner(), at, b.size()});
  for (const halo_box* box : boxes) {
    pack(giver.enqueue, *box, b.owner(), at);
    pack(giver.pack_beside(boxes), *box, b.owner(), at);
    at += aligned(bytes_of(box->shape));
  }
}

void halo_plan::plan_receiving(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  if (boxes.size() == 1 && first.target_contiguous) {
    messages_.push_back({to, from, false, first.target_owner, first.target.base, bytes_of(first.shape)});
    return;
  }
  member_plan& taker = of(to);
  const buffer& b = taker.add_buffer(packed_bytes(boxes), team_.device(to));
  std::byte* at = b.unsynchronized_data();
  messages_.push_back({to, from, false, b.owner(), at, b.size()});
  for (const halo_box* box : boxes) {
    unpack(taker.take, *box, b.owner(), at);
    at += aligned(bytes_of(box->shape));
  }
  packs_ = true;
}

void carry_exchange(const team& t, std::span<halo_plan* const> plans, halo_streams where) {
  if (std::none_of(plans.begin(), plans.end(), [](const halo_plan* p) { return p->is_carried(); })) return;
  std::vector<stream_ref> streams;
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
    streams.push_back(where == halo_streams::own ? t.stream(m) : t.side_stream(m));
  halo_plan::carry(plans, t, streams);
}

void halo_plan::carry(std::span<halo_plan* const> plans, const team& t, std::span<const stream_ref> streams) {
  std::vector<collective_call> calls;
  for (const halo_plan* p : plans)
    for (const message& m : p->messages_) {
      collective_call c{m.sends ? collective_kind::send : collective_kind::receive,
                        element_type::bytes,
                        reduction::sum,
                        m.member - t.first_local(),
                        m.other,
                        m.bytes,
                        1,
                        {},
                        {}};
      (m.sends ? c.from : c.to) = collective_buffer{&m.owner.get(), m.data, m.bytes};
      calls.push_back(c);
    }
  if (!calls.empty()) t.link().transport().submit(calls, streams);
}

halo_plan::member_plan& halo_plan::of(std::size_t member) const { return *members_[member - team_.first_local()]; }

void halo_plan::start(std::span<halo_plan* const> plans, const team& t, std::size_t member, halo_streams where) {
  const bool beside = where == halo_streams::side;
  const auto all = [&](planned_kernel member_plan::*which) {
    std::vector<const planned_kernel*> kernels;
    for (const halo_plan* p : plans) kernels.push_back(&(p->of(member).*which));
    return kernels;
  };
  const stream_ref own = t.stream(member), on = beside ? t.side_stream(member) : own;
  if (beside) run(all(&member_plan::pack_first), own);
  run(all(beside ? &member_plan::stores_beside : &member_plan::enqueue), on);
  for (const halo_plan* p : plans)
    for (planned_copy& c : beside ? p->of(member).copies_beside : p->of(member).copies)
      copy(on, c.from, c.to, source_line{});
}

void halo_plan::finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on) {
  std::vector<const planned_kernel*> kernels;
  for (const halo_plan* p : plans) kernels.push_back(&p->of(member).take);
  run(kernels, on);
}

}  // namespace ferry::inline FERRY_ABI::detail
