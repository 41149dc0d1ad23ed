// Each process combines the elements of its own members. Then all processes exchange blocks with each other. Reductions
// are split by elements: each process combines one block of all processes, in their order, so that all receive the same
// bits. These are the reduce-scatter and all-gather of Rabenseifner's algorithm, by direct messages.
#include "mpi_transport.hpp"

#include <algorithm>
#include <cstring>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "staging.hpp"
#include "transport/collective_math.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {
namespace {

using bytes = std::vector<std::byte>;

void put(std::byte* to, const std::byte* from, std::size_t n) {
  if (n > 0 && to != from) std::memmove(to, from, n);
}

struct block {
  std::size_t begin = 0, end = 0;  // in elements
  std::size_t size() const { return end - begin; }
};

class mpi_transport final : public transport {
 public:
  mpi_transport(const rank_layout& team, processes& all) : all_(all), ranks_(team, all), total_(team.ranks) {}

  std::string_view name() const override { return "mpi"; }

  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    refuse_inside_submission("a collective between processes");
    if (this_thread_state.capture)
      throw not_supported(
          "a collective between processes inside a capture: its messages are work of the CPU, which a graph cannot "
          "hold. Submit it between two graphs, or use CUDA devices and NCCL, whose collectives can be captured");
    const std::size_t members = ranks_.members(all_.rank());
    const bool has_collectives = std::any_of(calls.begin(), calls.end(), [](const auto& c) { return !is_exchange(c); });
    if (has_collectives) need_same_calls(calls, ranks_, all_);
    staging memory(calls, streams);
    for (std::size_t i = 0; i < calls.size();) {
      if (is_exchange(calls[i])) {
        ++i;
        continue;
      }
      run(calls.subspan(i, members), i, memory);
      i += members;
    }
    exchange(calls, memory);
    memory.put_back();
  }

 private:
  static bool is_exchange(const collective_call& c) { return detail::is_exchange(c.kind); }
  static std::string describe(const collective_call& c) {
    return concat(name_of(c.kind), " of ", c.count, " elements of ", name_of(c.type));
  }
  std::size_t here() const { return all_.rank(); }
  std::size_t processes_count() const { return ranks_.processes(); }

  // Returns the combined elements of this process' members.
  bytes own_sum(std::span<const collective_call> members, std::size_t first, staging& memory) const {
    const collective_call& c = members.front();
    bytes sum(c.from.bytes);
    put(sum.data(), memory.from(first), sum.size());
    for (std::size_t m = 1; m < members.size(); ++m)
      detail::combine(c.type, c.op, sum.data(), memory.from(first + m), sum.size() / c.element_bytes);
    return sum;
  }

  // Returns the block of this process in the combination of all; blocks[p] is that of process p.
  bytes reduce_blocks(const collective_call& c, const bytes& mine, const std::vector<block>& blocks) const {
    const std::size_t size = blocks[here()].size() * c.element_bytes;
    std::vector<bytes> theirs(processes_count());
    std::vector<processes::outgoing> out;
    std::vector<processes::incoming> in;
    for (std::size_t p = 0; p < processes_count(); ++p) {
      if (p == here()) continue;
      theirs[p].resize(size);
      in.push_back({p, processes::usual_tag, theirs[p].data(), size});
      out.push_back({p, processes::usual_tag, mine.data() + blocks[p].begin * c.element_bytes,
                     blocks[p].size() * c.element_bytes});
    }
    const auto own = mine.begin() + static_cast<std::ptrdiff_t>(blocks[here()].begin * c.element_bytes);
    theirs[here()].assign(own, own + static_cast<std::ptrdiff_t>(size));
    all_.exchange(out, in, describe(c));
    bytes sum = std::move(theirs[0]);
    for (std::size_t p = 1; p < processes_count(); ++p)
      detail::combine(c.type, c.op, sum.data(), theirs[p].data(), blocks[here()].size());
    detail::finish(c.type, c.op, sum.data(), blocks[here()].size(), total_);
    return sum;
  }

  // Returns the bytes of every process; those of process p are at bounds[p] to bounds[p + 1]. If `only` is set, only
  // that process receives them.
  bytes collect(const collective_call& c, const bytes& mine, const std::vector<std::size_t>& bounds,
                std::size_t only = std::size_t(-1)) const {
    const bool gets = only == std::size_t(-1) || only == here();
    bytes all(gets ? bounds.back() : 0);
    std::vector<processes::outgoing> out;
    std::vector<processes::incoming> in;
    for (std::size_t p = 0; p < processes_count(); ++p) {
      if (p == here()) continue;
      if (only == std::size_t(-1) || only == p) out.push_back({p, processes::usual_tag, mine.data(), mine.size()});
      if (gets) in.push_back({p, processes::usual_tag, all.data() + bounds[p], bounds[p + 1] - bounds[p]});
    }
    if (gets) put(all.data() + bounds[here()], mine.data(), mine.size());
    all_.exchange(out, in, describe(c));
    return all;
  }

  // Returns equal blocks, one for each process. bounds_of returns blocks in bytes, as bounds.
  std::vector<block> even_blocks(std::size_t count) const {
    std::vector<block> blocks;
    for (std::size_t p = 0, n = processes_count(); p < n; ++p)
      blocks.push_back({count / n * p + std::min(p, count % n), count / n * (p + 1) + std::min(p + 1, count % n)});
    return blocks;
  }
  static std::vector<std::size_t> bounds_of(const std::vector<block>& blocks, std::size_t element_bytes) {
    std::vector<std::size_t> bounds{0};
    for (const block& b : blocks) bounds.push_back(b.end * element_bytes);
    return bounds;
  }
  // Returns blocks of `share` elements for each rank.
  std::vector<block> blocks_by_rank(std::size_t share) const {
    std::vector<block> blocks;
    for (std::size_t p = 0; p < processes_count(); ++p)
      blocks.push_back({ranks_.first[p] * share, ranks_.first[p + 1] * share});
    return blocks;
  }

  void run(std::span<const collective_call> members, std::size_t first, staging& memory) const {
    const collective_call& c = members.front();
    const std::size_t share = c.bytes();
    if (share == 0) return;
    const std::size_t root = ranks_.process_of(c.other);
    const std::size_t root_place = root == here() ? c.other - ranks_.first[here()] : 0;
    using enum collective_kind;
    const auto to_each = [&](auto bytes_of_member) {
      for (std::size_t m = 0; m < members.size(); ++m)
        if (members[m].to.owner) put(memory.to(first + m), bytes_of_member(m), members[m].to.bytes);
    };
    switch (c.kind) {
      case all_reduce: {
        const auto blocks = even_blocks(c.count);
        const bytes mine = reduce_blocks(c, own_sum(members, first, memory), blocks);
        const bytes all = collect(c, mine, bounds_of(blocks, c.element_bytes));
        return to_each([&](std::size_t) { return all.data(); });
      }
      case reduce: {
        const auto blocks = even_blocks(c.count);
        const bytes mine = reduce_blocks(c, own_sum(members, first, memory), blocks);
        const bytes all = collect(c, mine, bounds_of(blocks, c.element_bytes), root);
        return to_each([&](std::size_t) { return all.data(); });
      }
      case reduce_scatter: {
        const bytes mine = reduce_blocks(c, own_sum(members, first, memory), blocks_by_rank(c.count));
        return to_each([&](std::size_t m) { return mine.data() + m * share; });
      }
      case all_gather:
      case gather: {
        bytes mine(members.size() * share);
        for (std::size_t m = 0; m < members.size(); ++m) put(mine.data() + m * share, memory.from(first + m), share);
        const auto bounds = bounds_of(blocks_by_rank(c.count), c.element_bytes);
        const bytes all = c.kind == gather ? collect(c, mine, bounds, root) : collect(c, mine, bounds);
        return to_each([&](std::size_t) { return all.data(); });
      }
      case broadcast: {
        bytes all(share);
        if (root == here()) put(all.data(), memory.from(first + root_place), share);
        all_.broadcast(all, root, describe(c));
        return to_each([&](std::size_t) { return all.data(); });
      }
      case scatter: {
        bytes mine(members.size() * share);
        std::vector<processes::outgoing> out;
        std::vector<processes::incoming> in;
        if (root == here()) {
          const std::byte* const all = memory.from(first + root_place);
          for (std::size_t p = 0; p < processes_count(); ++p)
            if (p != here())
              out.push_back({p, processes::usual_tag, all + ranks_.first[p] * share, ranks_.members(p) * share});
          put(mine.data(), all + ranks_.first[here()] * share, mine.size());
        } else {
          in.push_back({root, processes::usual_tag, mine.data(), mine.size()});
        }
        all_.exchange(out, in, describe(c));
        return to_each([&](std::size_t m) { return mine.data() + m * share; });
      }
      case all_to_all: return turn(members, first, memory);
      case send:
      case receive: return;
    }
  }

  // Bytes between two processes: for each member of the source, in order, the shares of the destination's members.
  void turn(std::span<const collective_call> members, std::size_t first, staging& memory) const {
    const collective_call& c = members.front();
    const std::size_t share = c.bytes(), own = members.size();
    std::vector<bytes> enqueue(processes_count()), get(processes_count());
    std::vector<processes::outgoing> out;
    std::vector<processes::incoming> in;
    for (std::size_t p = 0; p < processes_count(); ++p) {
      const std::size_t theirs = ranks_.members(p) * share;
      enqueue[p].resize(own * theirs), get[p].resize(own * theirs);
      for (std::size_t m = 0; m < own; ++m)
        put(enqueue[p].data() + m * theirs, memory.from(first + m) + ranks_.first[p] * share, theirs);
      if (p == here()) continue;
      out.push_back({p, processes::usual_tag, enqueue[p].data(), enqueue[p].size()});
      in.push_back({p, processes::usual_tag, get[p].data(), get[p].size()});
    }
    get[here()] = enqueue[here()];
    all_.exchange(out, in, describe(c));
    for (std::size_t m = 0; m < own; ++m)
      for (std::size_t p = 0; p < processes_count(); ++p)
        for (std::size_t s = 0; s < ranks_.members(p); ++s)
          put(memory.to(first + m) + (ranks_.first[p] + s) * share, get[p].data() + (s * own + m) * share, share);
  }

  // Executes all sends and receives of a group together: first exchanges their descriptions, then the elements.
  void exchange(std::span<const collective_call> calls, staging& memory) const {
    struct what {
      std::uint64_t count, element_bytes, type;
    };
    std::vector<std::size_t> remote, local;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (is_exchange(calls[i])) (ranks_.process_of(calls[i].other) == here() ? local : remote).push_back(i);
    exchange_locally(calls, local, memory);
    if (remote.empty()) return;
    std::vector<what> said(calls.size());
    const auto all_at_once = [&](auto data_of, auto bytes_of, std::string_view text) {
      std::vector<processes::outgoing> out;
      std::vector<processes::incoming> in;
      for (const std::size_t i : remote) {
        const collective_call& c = calls[i];
        const std::size_t p = ranks_.process_of(c.other), place = c.other - ranks_.first[p];
        const bool sends = c.kind == collective_kind::send;
        const std::size_t from = sends ? c.member : place, to = sends ? place : c.member;
        const int tag = static_cast<int>(processes::usual_tag + 1 + from * 128 + to);
        if (sends)
          out.push_back({p, tag, data_of(i), bytes_of(i)});
        else
          in.push_back({p, tag, data_of(i), bytes_of(i)});
      }
      all_.exchange(out, in, text);
    };
    for (const std::size_t i : remote)
      if (calls[i].kind == collective_kind::send)
        said[i] = {calls[i].count, calls[i].element_bytes, static_cast<std::uint64_t>(calls[i].type)};
    all_at_once([&](std::size_t i) { return reinterpret_cast<std::byte*>(&said[i]); },
                [](std::size_t) { return sizeof(what); }, describe(calls[remote.front()]));
    for (const std::size_t i : remote) {
      const collective_call& c = calls[i];
      if (said[i].count == c.count && said[i].element_bytes == c.element_bytes &&
          said[i].type == static_cast<std::uint64_t>(c.type))
        continue;
      const std::string text = concat("rank ", c.other, " sends ", said[i].count, " elements of ",
                                      name_of(static_cast<element_type>(said[i].type)), " (", said[i].element_bytes,
                                      " bytes), and rank ", ranks_.first[here()] + c.member, " receives ", c.count,
                                      " of ", name_of(c.type), " (", c.element_bytes, " bytes)");
      all_.fail(text);  // the sender has continued
      throw invalid_argument(text);
    }
    all_at_once(
        [&](std::size_t i) {
          return calls[i].kind == collective_kind::send ? const_cast<std::byte*>(memory.from(i)) : memory.to(i);
        },
        [&](std::size_t i) { return calls[i].bytes(); }, describe(calls[remote.front()]));
  }

  // The nth send of a pair of members matches its nth receive.
  void exchange_locally(std::span<const collective_call> calls, std::span<const std::size_t> local,
                        staging& memory) const {
    std::vector<bool> done(calls.size());
    for (const std::size_t i : local) {
      if (calls[i].kind != collective_kind::send) continue;
      for (const std::size_t j : local) {
        if (done[j] || calls[j].kind != collective_kind::receive ||
            calls[j].member + ranks_.first[here()] != calls[i].other ||
            calls[i].member + ranks_.first[here()] != calls[j].other)
          continue;
        put(memory.to(j), memory.from(i), calls[i].bytes());
        done[j] = true;
        break;
      }
    }
  }

  processes& all_;
  const rank_table ranks_;
  const std::size_t total_;
};

}  // namespace

std::shared_ptr<transport> make_transport(const rank_layout& team, processes& all) {
  return std::make_shared<mpi_transport>(team, all);
}

}  // namespace ferry::inline FERRY_ABI::detail::mpi
