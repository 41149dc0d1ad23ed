// The effects of collectives, implemented as simply as possible.
#include <cstring>
#include <vector>

#include "sim_transport.hpp"
#include "transport/collective_math.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

using bytes = std::vector<std::byte>;

void put(std::byte* to, const std::byte* from, std::size_t n) {
  if (n > 0) std::memcpy(to, from, n);
}

// Returns the elements of all ranks, combined in the order of ranks.
bytes reduced(std::span<const collective_call> ranks) {
  const collective_call& c = ranks.front();
  bytes sum(c.from.data, c.from.data + c.from.bytes);
  const std::size_t count = c.from.bytes / c.element_bytes;
  for (const collective_call& r : ranks.subspan(1)) detail::combine(c.type, c.op, sum.data(), r.from.data, count);
  detail::finish(c.type, c.op, sum.data(), count, ranks.size());
  return sum;
}

// Returns the elements that each rank contributes, copied before anything is written: buffers in place are source and
// destination.
std::vector<bytes> given(std::span<const collective_call> ranks) {
  std::vector<bytes> all;
  for (const collective_call& c : ranks)
    all.emplace_back(c.from.data, c.from.owner ? c.from.data + c.from.bytes : c.from.data);
  return all;
}

void run(std::span<const collective_call> ranks) {
  const collective_call& first = ranks.front();
  const std::size_t share = first.bytes();
  if (share == 0) return;
  using enum collective_kind;
  const collective_call& root = ranks[first.other];
  switch (first.kind) {
    case all_reduce: {
      const bytes sum = reduced(ranks);
      for (const collective_call& c : ranks) put(c.to.data, sum.data(), share);
      return;
    }
    case reduce: return put(root.to.data, reduced(ranks).data(), share);
    case reduce_scatter: {
      const bytes sum = reduced(ranks);
      for (std::size_t r = 0; r < ranks.size(); ++r) put(ranks[r].to.data, sum.data() + r * share, share);
      return;
    }
    case broadcast:
      for (const collective_call& c : ranks)
        if (c.to.data != root.from.data) put(c.to.data, root.from.data, share);
      return;
    case scatter: {
      const bytes all(root.from.data, root.from.data + root.from.bytes);
      for (std::size_t r = 0; r < ranks.size(); ++r) put(ranks[r].to.data, all.data() + r * share, share);
      return;
    }
    case all_gather:
    case gather: {
      const std::vector<bytes> all = given(ranks);
      for (const collective_call& c : ranks)
        if (c.to.owner)
          for (std::size_t r = 0; r < ranks.size(); ++r) put(c.to.data + r * share, all[r].data(), share);
      return;
    }
    case all_to_all: {
      const std::vector<bytes> all = given(ranks);
      for (std::size_t to = 0; to < ranks.size(); ++to)
        for (std::size_t from = 0; from < ranks.size(); ++from)
          put(ranks[to].to.data + from * share, all[from].data() + to * share, share);
      return;
    }
    case send:
    case receive: return;
  }
}

// The nth send of a pair of ranks matches its nth receive.
void run_exchanges(std::span<const collective_call> calls) {
  std::vector<const collective_call*> waiting;
  for (const collective_call& c : calls)
    if (c.kind == collective_kind::receive) waiting.push_back(&c);
  for (const collective_call& c : calls) {
    if (c.kind != collective_kind::send) continue;
    for (const collective_call*& r : waiting)
      if (r && r->member == c.other && r->other == c.member) {
        put(r->to.data, c.from.data, c.from.bytes);
        r = nullptr;
        break;
      }
  }
}

}  // namespace

void run_calls(std::span<const collective_call> calls, std::size_t ranks) {
  for (std::size_t i = 0; i < calls.size();) {
    if (calls[i].kind == collective_kind::send || calls[i].kind == collective_kind::receive) {
      ++i;
      continue;
    }
    run(calls.subspan(i, ranks));
    i += ranks;
  }
  run_exchanges(calls);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
