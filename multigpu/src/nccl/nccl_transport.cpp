#if defined(FERRY_HAS_NCCL)
#include "nccl_transport.hpp"

#include <cstring>
#include <optional>

#include "communicators.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/multigpu/process_error.hpp"
#include "mpi/mpi_transport.hpp"
#include "transport/joint_submission.hpp"
#include "watchdog.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {
namespace {

ncclDataType_t native(element_type t) {
  switch (t) {
    case element_type::int8: return ncclInt8;
    case element_type::uint8:
    case element_type::bytes: return ncclUint8;
    case element_type::int32: return ncclInt32;
    case element_type::uint32: return ncclUint32;
    case element_type::int64: return ncclInt64;
    case element_type::uint64: return ncclUint64;
    case element_type::float16: return ncclFloat16;
    case element_type::bfloat16: return ncclBfloat16;
    case element_type::float32: return ncclFloat32;
    case element_type::float64: return ncclFloat64;
  }
  return ncclUint8;
}

ncclRedOp_t native(reduction r) {
  switch (r) {
    case reduction::sum: return ncclSum;
    case reduction::product: return ncclProd;
    case reduction::minimum:  // integers only: keyed_transport.hpp converts floats to integers
    case reduction::minimum_number: return ncclMin;
    case reduction::maximum:
    case reduction::maximum_number: return ncclMax;
    case reduction::average: return ncclAvg;
  }
  return ncclSum;
}

class nccl_transport final : public transport, public std::enable_shared_from_this<nccl_transport> {
 public:
  nccl_transport(const rank_layout& team, std::unique_ptr<communicators> comms)
      : ranks_(team.ranks),
        first_(team.first),
        nccl_(library::get()),
        comms_(std::move(comms)) {}
  // For several processes.
  nccl_transport(const rank_layout& team, std::unique_ptr<communicators> comms, const mpi::rank_table& table,
                 processes& all)
      : nccl_transport(team, std::move(comms)) {
    all_ = &all, table_ = table;
    watch_ = std::make_unique<watch>(*comms_, mutex_, all);
  }
  ~nccl_transport() override {
    watch_.reset();
    if (ranks_ == comms_->devices().size())
      give_to_stock(std::move(comms_));
    else
      (void)comms_.release();  // other processes may still use their side
  }

  std::string_view name() const override { return "nccl"; }

  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    if (watch_) return submit_watched(calls, streams);
    if (comms_->has_failed()) refuse();
    detail::submit_jointly(calls, streams, [&](detail::joint_uses&) { enqueue_all(calls, streams); });
  }
  void check() override {
    if (!watch_) return;
    std::lock_guard lock(mutex_);  // the watchdog may be ending them
    if (!comms_->why().empty()) refuse();
  }

 private:
  void submit_watched(std::span<const collective_call> calls, std::span<const stream_ref> streams) {
    const std::lock_guard lock(mutex_);
    if (comms_->has_failed()) refuse();
    const joint_part part = part_of(calls);
    if (!this_thread_state.capture) {
      detail::submit_jointly(calls, streams, [&](const detail::joint_uses& uses) {
        std::vector<timeline*> on;
        for (const detail::joint_uses::member& m : uses.members()) on.push_back(&streams[m.place].timeline());
        needed_parts needs = all_->parts().enqueue(part);
        try {
          watch_->giving(on, std::move(needs), describe(calls.front()));
          enqueue_all(calls, streams);
        } catch (...) {
          all_->parts().take_back(part);
          throw;
        }
      });
      return;
    }
    // The operation is enqueued at each launch of the graph. It counts even if the team is destroyed.
    auto tell = [self = weak_from_this(), all = all_, part, what = describe(calls.front()) + " in a graph",
                 token = watch_->graph_token()](stream_ref s) {
      needed_parts needs = all->parts().enqueue(part);
      if (const auto here = self.lock()) here->watch_->launched(s.timeline(), std::move(needs), what);
    };
    detail::submit_jointly(calls, streams, [&](detail::joint_uses&) { enqueue_all(calls, streams); });
    when_launched(std::move(tell));
  }
  // Operations between members of this process wait for no other process.
  joint_part part_of(std::span<const collective_call> calls) const {
    joint_part p;
    for (const collective_call& c : calls) {
      if (!is_exchange(c.kind)) {
        p.collectives += c.member == 0;
        continue;
      }
      const std::size_t with = table_->process_of(c.other);
      if (with != all_->rank()) (c.kind == collective_kind::send ? p.sends_to : p.receives_from).push_back(with);
    }
    return p;
  }
  void enqueue_all(std::span<const collective_call> calls, std::span<const stream_ref> streams) {
    const bool one = calls.size() == 1 && is_one_call(calls.front().kind);
    if (const ncclResult_t start = one ? ncclSuccess : nccl_.group_start(); start != ncclSuccess)
      nccl_.check(start, "ncclGroupStart");
    ncclResult_t bad = ncclSuccess;
    const collective_call* at = nullptr;
    for (const collective_call& c : calls) {
      bad = enqueue(c, comms_->operator[](c.member),
                    static_cast<cudaStream_t>(streams[c.member].timeline().stream().handle));
      if (bad == ncclSuccess) continue;
      at = &c;
      break;
    }
    const ncclResult_t end = one ? ncclSuccess : nccl_.group_end();
    if (at) nccl_.check(bad, describe(*at));
    if (end != ncclSuccess) nccl_.check(end, describe(calls.front()));
  }
  [[noreturn]] void refuse() const {
    const std::string text = "a collective of a team that failed: " + comms_->why();
    if (watch_) throw process_error(text);
    throw device_error(text + ". Make a new team", device_error::severity::passing);
  }
  static bool is_one_call(collective_kind k) {
    using enum collective_kind;
    return k != gather && k != scatter && k != all_to_all;
  }
  static std::string describe(const collective_call& c) {
    return concat(name_of(c.kind), " of ", c.count, " elements of ", name_of(c.type));
  }

  ncclResult_t enqueue(const collective_call& c, ncclComm_t comm, cudaStream_t s) const {
    const ncclDataType_t type = native(c.type);
    const std::size_t n = c.type == element_type::bytes ? c.bytes() : c.count;
    const int other = static_cast<int>(c.other);
    std::byte *from = c.from.data, *to = c.to.data;
    switch (c.kind) {
      case collective_kind::all_reduce: return nccl_.all_reduce(from, to, n, type, native(c.op), comm, s);
      case collective_kind::reduce: return nccl_.reduce(from, to, n, type, native(c.op), other, comm, s);
      case collective_kind::broadcast: return nccl_.broadcast(from ? from : to, to, n, type, other, comm, s);
      case collective_kind::all_gather: return nccl_.all_gather(from, to, n, type, comm, s);
      case collective_kind::reduce_scatter: return nccl_.reduce_scatter(from, to, n, type, native(c.op), comm, s);
      case collective_kind::send: return nccl_.send(from, n, type, other, comm, s);
      case collective_kind::receive: return nccl_.receive(to, n, type, other, comm, s);
      case collective_kind::all_to_all:
        return each_rank([&](std::size_t r) {
          const ncclResult_t sent = nccl_.send(from + r * c.bytes(), n, type, static_cast<int>(r), comm, s);
          return sent == ncclSuccess ? nccl_.receive(to + r * c.bytes(), n, type, static_cast<int>(r), comm, s) : sent;
        });
      case collective_kind::gather: {
        const ncclResult_t sent = nccl_.send(from, n, type, other, comm, s);
        if (sent != ncclSuccess || first_ + c.member != c.other) return sent;
        return each_rank(
            [&](std::size_t r) { return nccl_.receive(to + r * c.bytes(), n, type, static_cast<int>(r), comm, s); });
      }
      case collective_kind::scatter: {
        const ncclResult_t got = nccl_.receive(to, n, type, other, comm, s);
        if (got != ncclSuccess || first_ + c.member != c.other) return got;
        return each_rank(
            [&](std::size_t r) { return nccl_.send(from + r * c.bytes(), n, type, static_cast<int>(r), comm, s); });
      }
    }
    return ncclInternalError;
  }
  template <class F>
  ncclResult_t each_rank(F f) const {
    for (std::size_t r = 0; r < ranks_; ++r)
      if (const ncclResult_t bad = f(r); bad != ncclSuccess) return bad;
    return ncclSuccess;
  }

  const std::size_t ranks_, first_;
  const library& nccl_;
  std::unique_ptr<communicators> comms_;
  // For several processes
  processes* all_ = nullptr;
  std::optional<mpi::rank_table> table_;
  std::timed_mutex mutex_;  // guards comms_
  std::unique_ptr<watch> watch_;
};

std::vector<int> devices_of(const rank_layout& team) {
  std::vector<int> all;
  for (const device d : team.members) all.push_back(d.index());
  return all;
}

}  // namespace

void need_library() { (void)library::get(); }

std::shared_ptr<transport> make_transport(const rank_layout& team) {
  return std::make_shared<nccl_transport>(team, take_from_stock(devices_of(team)));
}

std::shared_ptr<transport> make_transport(const rank_layout& team, processes& all) {
  const library& nccl = library::get();
  unique_id id{};
  if (team.first == 0) {
    ncclUniqueId native_id;
    nccl.check(nccl.unique_id(&native_id), "ncclGetUniqueId");
    std::memcpy(id.data(), &native_id, id.size());
  }
  all.broadcast(std::as_writable_bytes(std::span(id)), 0, "setting up NCCL");
  const mpi::rank_table ranks(team, all);
  auto comms = std::make_unique<communicators>(devices_of(team), team.first, team.ranks, id);
  return std::make_shared<nccl_transport>(team, std::move(comms), ranks, all);
}

}  // namespace ferry::inline FERRY_ABI::detail::nccl
#endif
