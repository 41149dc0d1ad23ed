#include "ferry/multigpu/halo_exchange.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "box_copies.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/machine.hpp"
#include "halo_choice.hpp"
#include "packed_boxes.hpp"
#include "team_link.hpp"

namespace ferry::detail {
namespace {

// Bytes that a plan touches, and that stay alive with it.
struct planned_use {
  allocation_ref owner;
  byte_range where;
  bool write;
  bool whole = true;  // every byte of it; else what lies between is kept
};

// A kernel of one member.
struct planned_kernel {
  std::vector<box_copy> boxes;
  std::vector<planned_use> uses;
  bool empty() const { return boxes.empty(); }
};

using buffer = device_array<std::byte>;

// A contiguous copy that the driver makes.
struct planned_copy {
  array_view<const std::byte, 1, memory_kind::device> from;
  array_view<std::byte, 1, memory_kind::device> to;
};

// Ranges of one allocation that touch or overlap become one.
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

// Of one piece that several boxes are packed to.
std::size_t packed_bytes(const std::vector<const halo_box*>& boxes) {
  if (boxes.size() == 1) return bytes_of(boxes.front()->shape);
  std::size_t n = 0;
  for (const halo_box* b : boxes) n += aligned(bytes_of(b->shape));
  return n;
}

void run(const std::vector<const planned_kernel*>& kernels, stream_ref on) {
  thread_local std::vector<box_copy> boxes;
  thread_local std::vector<access> accesses;
  thread_local std::vector<kernel_use> uses;
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
  planned_kernel give, take;
  std::vector<planned_copy> copies;
  std::vector<buffer> buffers;
};

halo_plan::~halo_plan() = default;

halo_plan::halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how) : team_(t) {
  for (std::size_t i = 0; i < t.local_size(); ++i) members_.push_back(std::make_unique<member_plan>());
  machine& m = machine::current();
  if (how == halo_method::automatic) how = choose_halo_method(t, boxes);
  std::map<std::pair<std::size_t, std::size_t>, box_list> packed, carried;  // by (from, to)
  // Tested on first use, now: what fails is packed and copied.
  const auto reaches = [&](std::size_t from, const allocation& a) {
    try {
      return a.kind != memory_kind::device || m.peers().grant(t.device(from).index(), a.device, a.sort());
    } catch (const peer_access_error&) {
      return false;
    }
  };
  const auto stores_reach = [&](const halo_box& b) { return reaches(b.from, b.target_owner.get()); };
  const auto by_store = [&](const halo_box& b) {
    return b.from == b.to || (how != halo_method::copies && stores_reach(b));
  };
  for (const halo_box& b : boxes) {
    if (!t.is_local(b.from) || !t.is_local(b.to)) {
      carried[{b.from, b.to}].push_back(&b);
      continue;
    }
    member_plan& giver = of(b.from);
    const bool in_device_memory = b.target_owner.get().kind == memory_kind::device;
    if (by_store(b) && (b.from == b.to || b.target_contiguous)) {
      giver.give.boxes.push_back(plan_box(b.target, b.source, b.shape));
      giver.give.uses.push_back({b.source_owner, b.read, false});
      giver.give.uses.push_back({b.target_owner, b.written, true, b.target_contiguous});
    } else if (!by_store(b) && in_device_memory && b.source_contiguous && b.target_contiguous) {
      const std::size_t n = bytes_of(b.shape);
      giver.copies.push_back(
          {{b.source_owner, b.source.base, extents<1>(n), {1}}, {b.target_owner, b.target.base, extents<1>(n), {1}}});
    } else {
      packed[{b.from, b.to}].push_back(&b);
    }
  }
  // What is strided goes as one piece: packed beside the giver, or straight into memory of the taker, and unpacked there.
  for (const auto& [ends, list] : packed) {
    std::size_t bytes = 0;
    for (const halo_box* b : list) bytes += aligned(bytes_of(b->shape));
    member_plan &giver = of(ends.first), &taker = of(ends.second);
    taker.buffers.emplace_back(extents<1>(bytes), t.device(ends.second));
    const auto arrived = taker.buffers.back().slice({0, bytes});
    auto given = arrived;
    if (how == halo_method::copies || !reaches(ends.first, arrived.owner().get())) {
      giver.buffers.emplace_back(extents<1>(bytes), t.device(ends.first));
      given = giver.buffers.back().slice({0, bytes});
      giver.copies.push_back({given, arrived});
    }
    std::size_t at = 0;
    for (const halo_box* b : list) {
      const std::size_t n = bytes_of(b->shape);
      const auto to = packed_at(given.unsynchronized_data() + at, b->shape);
      const auto from = packed_at(arrived.unsynchronized_data() + at, b->shape);
      giver.give.boxes.push_back(plan_box(to, b->source, b->shape));
      giver.give.uses.push_back({b->source_owner, b->read, false});
      giver.give.uses.push_back({given.owner(), {to.base, to.base + n}, true});
      taker.take.boxes.push_back(plan_box(b->target, from, b->shape));
      taker.take.uses.push_back({arrived.owner(), {from.base, from.base + n}, false});
      taker.take.uses.push_back({b->target_owner, b->written, true, b->target_contiguous});
      at += aligned(n);
    }
    packs_ = true;
  }
  for (const auto& [ends, list] : carried)
    t.is_local(ends.first) ? plan_sending(ends.first, ends.second, list)
                           : plan_receiving(ends.first, ends.second, list);
  for (const auto& p : members_) merge(p->give.uses), merge(p->take.uses);
}

// One piece for each pair of members, as both ends know it: the boxes one behind the other, or the only one as it is.
void halo_plan::plan_sending(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  if (boxes.size() == 1 && first.source_contiguous) {
    messages_.push_back({from, to, true, first.source_owner, first.source.base, bytes_of(first.shape)});
    return;
  }
  member_plan& giver = of(from);
  giver.buffers.emplace_back(extents<1>(packed_bytes(boxes)), team_.device(from));
  const buffer& b = giver.buffers.back();
  std::byte* at = b.unsynchronized_data();
  messages_.push_back({from, to, true, b.owner(), at, b.size()});
  for (const halo_box* box : boxes) {
    const std::size_t n = bytes_of(box->shape);
    giver.give.boxes.push_back(plan_box(packed_at(at, box->shape), box->source, box->shape));
    giver.give.uses.push_back({box->source_owner, box->read, false});
    giver.give.uses.push_back({b.owner(), {at, at + n}, true});
    at += aligned(n);
  }
}

void halo_plan::plan_receiving(std::size_t from, std::size_t to, const box_list& boxes) {
  const halo_box& first = *boxes.front();
  if (boxes.size() == 1 && first.target_contiguous) {
    messages_.push_back({to, from, false, first.target_owner, first.target.base, bytes_of(first.shape)});
    return;
  }
  member_plan& taker = of(to);
  taker.buffers.emplace_back(extents<1>(packed_bytes(boxes)), team_.device(to));
  const buffer& b = taker.buffers.back();
  std::byte* at = b.unsynchronized_data();
  messages_.push_back({to, from, false, b.owner(), at, b.size()});
  for (const halo_box* box : boxes) {
    const std::size_t n = bytes_of(box->shape);
    taker.take.boxes.push_back(plan_box(box->target, packed_at(at, box->shape), box->shape));
    taker.take.uses.push_back({b.owner(), {at, at + n}, false});
    taker.take.uses.push_back({box->target_owner, box->written, true, box->target_contiguous});
    at += aligned(n);
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

void halo_plan::start(std::span<halo_plan* const> plans, std::size_t member, stream_ref on) {
  std::vector<const planned_kernel*> kernels;
  for (const halo_plan* p : plans) kernels.push_back(&p->of(member).give);
  run(kernels, on);
  for (const halo_plan* p : plans)
    for (planned_copy& c : p->of(member).copies) copy(on, c.from, c.to, source_line{});
}

void halo_plan::finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on) {
  std::vector<const planned_kernel*> kernels;
  for (const halo_plan* p : plans) kernels.push_back(&p->of(member).take);
  run(kernels, on);
}

}  // namespace ferry::detail
