#if defined(FERRY_HAS_NCCL)
#include "nccl_transport.hpp"

#include <cstring>

#include "communicators.hpp"
#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/graph.hpp"
#include "ferry/multigpu/process_error.hpp"
#include "joint_submission.hpp"
#include "watch.hpp"

namespace ferry::nccl {
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
    case reduction::minimum: return ncclMin;
    case reduction::maximum: return ncclMax;
    case reduction::average: return ncclAvg;
  }
  return ncclSum;
}

class nccl_transport final : public transport, public std::enable_shared_from_this<nccl_transport> {
 public:
  nccl_transport(const rank_layout& team, std::unique_ptr<communicators> comms, processes* all)
      : ranks_(team.ranks),
        first_(team.first),
        nccl_(library::get()),
        comms_(std::move(comms)),
        watch_(all ? std::make_unique<watch>(*comms_, mutex_, *all) : nullptr) {}
  ~nccl_transport() override {
    watch_.reset();
    if (ranks_ == comms_->devices().size())
      give_to_stock(std::move(comms_));
    else
      (void)comms_.release();  // other processes may still use their end
  }

  std::string_view name() const override { return "nccl"; }

  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (watch_) lock.lock();
    if (comms_->has_failed()) refuse();
    detail::submit_jointly(calls, streams, [&](detail::joint_uses&) {
      const bool one = calls.size() == 1 && is_one_call(calls.front().kind);
      if (const ncclResult_t start = one ? ncclSuccess : nccl_.group_start(); start != ncclSuccess)
        nccl_.check(start, "ncclGroupStart");
      ncclResult_t bad = ncclSuccess;
      const collective_call* at = nullptr;
      for (const collective_call& c : calls) {
        bad =
            give(c, comms_->operator[](c.member), static_cast<cudaStream_t>(streams[c.member].line().stream().handle));
        if (bad == ncclSuccess) continue;
        at = &c;
        break;
      }
      const ncclResult_t end = one ? ncclSuccess : nccl_.group_end();
      if (at) nccl_.check(bad, describe(*at));
      if (end != ncclSuccess) nccl_.check(end, describe(calls.front()));
    });
    if (!watch_) return;
    const std::string what = describe(calls.front());
    if (this_thread_state.capture) {
      watch_->captured();
      when_launched([self = weak_from_this(), what](stream_ref s) {
        if (const auto here = self.lock()) here->watch_->submitted(s.line(), what + " in a graph");
      });
    } else {
      watch_->submitted(streams[calls.front().member].line(), what);
    }
  }
  void check() override {
    if (!watch_) return;
    std::lock_guard lock(mutex_);  // who ends them may be at it
    if (!comms_->why().empty()) refuse();
  }

 private:
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
    return std::string(name_of(c.kind)) + " of " + std::to_string(c.count) + " elements of " + name_of(c.type);
  }

  ncclResult_t give(const collective_call& c, ncclComm_t comm, cudaStream_t s) const {
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
  std::timed_mutex mutex_;        // comms_, where others watch them
  std::unique_ptr<watch> watch_;  // for several processes
};

std::vector<int> devices_of(const rank_layout& team) {
  std::vector<int> all;
  for (const device d : team.members) all.push_back(d.index());
  return all;
}

}  // namespace

void need_library() { (void)library::get(); }

std::shared_ptr<transport> make_transport(const rank_layout& team) {
  return std::make_shared<nccl_transport>(team, take_from_stock(devices_of(team)), nullptr);
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
  return std::make_shared<nccl_transport>(
      team, std::make_unique<communicators>(devices_of(team), team.first, team.ranks, id), &all);
}

}  // namespace ferry::nccl
#endif
