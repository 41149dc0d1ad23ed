#include "copies/contiguous_copy.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::size_t clamped(std::size_t n, std::size_t low, std::size_t high) { return std::min(std::max(n, low), high); }

// Forks lanes from a stream and joins them again. The destructor joins them after an exception, too, so that enqueued
// work stays ordered.
class forked {
 public:
  forked(std::vector<copy_lane*>& lanes, native_stream s, int device) : lanes_(lanes), s_(s) {
    for (copy_lane* l : lanes_) l->fork(s, device);
  }
  void join() {
    joined_ = true;
    for (copy_lane* l : lanes_) l->join(s_);
  }
  ~forked() {
    if (joined_) return;
    for (copy_lane* l : lanes_) {
      try {
        l->join(s_);
      } catch (const error&) {  // a failed device: its work counts as complete
      }
    }
  }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;

 private:
  std::vector<copy_lane*>& lanes_;
  native_stream s_;
  bool joined_ = false;
};

}  // namespace

contiguous_copy::contiguous_copy(copy_engine& engine, lane_set& lanes, const route_choice& way, copy_address to,
                                 copy_address from, std::size_t bytes, int stream_device, int near)
    : backend_(engine.backend()),
      way_(way),
      to_(to),
      from_(from),
      bytes_(bytes),
      stream_device_(stream_device) {
  const copy_options o = engine.options();
  const auto lease = [&](const lane_key& key) { lanes_.push_back(&lanes.get(key)); };
  switch (way.kind) {
    case route_kind::direct:
    case route_kind::peer: return;
    case route_kind::staged: {
      const std::size_t most = bytes <= o.small_chunk_bytes ? o.small_chunk_bytes : o.chunk_bytes;
      // Each chunk is 1/16 of the copy, because the first chunk overlaps with nothing.
      chunk_ = clamped((bytes / 16 + 511) / 512 * 512, std::min(most, std::size_t{256} << 10), most);
      lease({memory_kind::host, from.device, from.device, to.device, most, o.chunks});
      return;
    }
    case route_kind::multipath: {
      const int there = to.device >= 0 ? to.device : from.device;
      chunk_ = o.multipath_chunk_bytes;
      lease({memory_kind::device, there, there, there, 0, 0});
      for (const int h : engine.helpers(there)) lease({memory_kind::device, h, h, h, chunk_, o.chunks});
      return;
    }
    case route_kind::parallel: {
      copy_workers& workers = engine.workers(near);
      // Each chunk costs about 3 us, and the first overlaps with nothing: 1/8 of the copy. A copy in turn overlaps with
      // the previous operation: 1/4 of the copy. It uses half of the chunks, because two operations use chunks at a
      // time.
      const bool in_turn = lanes.is_in_turn();
      const std::size_t chunks = in_turn ? std::max<std::size_t>(o.parallel_chunks / 2, 2) : o.parallel_chunks;
      chunk_ = clamped((bytes / (in_turn ? 4 : 8) + 511) / 512 * 512,
                       std::min(o.parallel_chunk_bytes, std::size_t{256} << 10), o.parallel_chunk_bytes);
      ring_ = std::make_unique<ring>(workers, chunks);
      lease({memory_kind::host, near, near, near, o.parallel_chunk_bytes, chunks});
      return;
    }
  }
}

void contiguous_copy::enqueue(native_stream s) {
  if (lanes_.empty()) return enqueue_direct(s);
  forked branches(lanes_, s, stream_device_);
  if (way_.kind != route_kind::parallel)
    enqueue_chunks();
  else if (from_.device < 0)
    enqueue_upload();
  else
    enqueue_download();
  branches.join();
}

void contiguous_copy::enqueue_direct(native_stream s) {
  if (to_.device >= 0 && from_.device >= 0 && to_.device != from_.device)
    backend_.copy_peer(s, to_.data, to_.device, from_.data, from_.device, bytes_);
  else
    backend_.copy(s, to_.data, from_.data, bytes_);
}

void contiguous_copy::enqueue_chunks() {
  for (std::size_t i = 0; i < count(); ++i) relay(*lanes_[i % lanes_.size()], at(i));
}

void contiguous_copy::relay(copy_lane& lane, part p) {
  if (lane.key().chunks == 0) return backend_.copy(lane.out(), to_.data + p.begin, from_.data + p.begin, p.bytes);
  const int between = lane.key().kind == memory_kind::device ? lane.key().home : -1;
  const auto hop = [&](native_stream s, copy_address to, copy_address from) {
    if (to.device >= 0 && from.device >= 0)
      backend_.copy_peer(s, to.data, to.device, from.data, from.device, p.bytes);
    else
      backend_.copy(s, to.data, from.data, p.bytes);
  };
  copy_lane::chunk& c = lane.next();
  backend_.wait(lane.in(), c.emptied);
  hop(lane.in(), {c.data, between}, {from_.data + p.begin, from_.device});
  backend_.record(c.filled, lane.in());
  backend_.wait(lane.out(), c.filled);
  hop(lane.out(), {to_.data + p.begin, to_.device}, {c.data, between});
  backend_.record(c.emptied, lane.out());
}

void contiguous_copy::begin_reading() {
  if (way_.kind != route_kind::parallel || from_.device >= 0) return;
  while (ring_->filled < std::min(count(), ring_->jobs.size())) fill_next();
}

void contiguous_copy::fill_next() {
  const std::size_t i = ring_->filled, turn = i % ring_->jobs.size();
  copy_lane::chunk& c = *(ring_->chunks[turn] = &lanes_.front()->next());
  backend_.synchronize(c.emptied);
  copy_workers::job& j = ring_->jobs[turn];
  j.to = c.data, j.from = from_.data + at(i).begin, j.bytes = at(i).bytes;
  ring_->workers.start(j);
  ++ring_->filled;
}

// In steady state the threads fill most of the ring, while the rest is being transferred.
void contiguous_copy::enqueue_upload() {
  copy_lane& lane = *lanes_.front();
  const std::size_t size = ring_->jobs.size(), ahead = size - std::max<std::size_t>(size / 4, 1), n = count();
  for (std::size_t sent = 0; sent < n; ++sent) {
    while (ring_->filled < std::min(n, sent + ahead)) fill_next();
    ring_->workers.wait(ring_->jobs[sent % size]);
    copy_lane::chunk& c = *ring_->chunks[sent % size];
    backend_.copy(lane.out(), to_.data + at(sent).begin, c.data, at(sent).bytes);
    backend_.record(c.emptied, lane.out());
  }
}

void contiguous_copy::enqueue_download() {
  copy_lane& lane = *lanes_.front();
  const std::size_t size = ring_->jobs.size(), ahead = std::max<std::size_t>(size / 4, 1), n = count();
  const auto fetch = [&](std::size_t i) {
    ring_->workers.wait(ring_->jobs[i % size]);  // the job that empties the chunk is done
    copy_lane::chunk& c = *(ring_->chunks[i % size] = &lane.next());
    backend_.wait(lane.in(), c.emptied);
    backend_.copy(lane.in(), c.data, from_.data + at(i).begin, at(i).bytes);
    backend_.record(c.filled, lane.in());
  };
  for (std::size_t fetched = 0, stored = 0; stored < n; ++stored) {
    for (; fetched < n && fetched < stored + ahead; ++fetched) fetch(fetched);
    copy_lane::chunk& c = *ring_->chunks[stored % size];
    backend_.synchronize(c.filled);
    copy_workers::job& j = ring_->jobs[stored % size];
    j.to = to_.data + at(stored).begin, j.from = c.data, j.bytes = at(stored).bytes;
    ring_->workers.start(j);
  }
  ring_->wait();
}

}  // namespace ferry::inline FERRY_ABI::detail
