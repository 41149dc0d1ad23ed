#include "driver_pools.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "machine.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

bool driver_pools::has_pools(memory_kind kind, int) const { return kind != memory_kind::unified; }

native_pool driver_pools::create_pool(memory_kind kind, int device, const pool_options& options) {
  machine::call c(machine_);
  machine_.check_device(device);
  if (!has_pools(kind, device))
    throw not_supported("the driver has no pools for this kind of memory: use pool_kind::split");
  const std::uint64_t id = fresh_id();
  pools_.emplace(id, pool{kind, device, options, {}, {}});
  if (kind == memory_kind::device)
    machine_.memory_.grant_pool(id, device);
  else
    for (int d = 0; d < machine_.options_.devices; ++d) machine_.memory_.grant_pool(id, d);
  return to_handle<native_pool>(id);
}

native_pool driver_pools::default_pool(int device, const pool_options& options) {
  {
    machine::call c(machine_);
    if (const auto known = defaults_.find(device); known != defaults_.end()) {
      pools_[known->second].options = options;
      return to_handle<native_pool>(known->second);
    }
  }
  const native_pool p = create_pool(memory_kind::device, device, options);
  machine::call c(machine_);
  defaults_.emplace(device, to_id(p.handle));
  return to_handle<native_pool>(defaults_[device]);
}

driver_pools::pool& driver_pools::find(native_pool p) {
  const auto found = pools_.find(to_id(p.handle));
  if (found == pools_.end())
    throw invalid_argument(
        concat("invalid resource handle: ", to_id(p.handle), " is no pool of this simulated machine"));
  return found->second;
}

native_pool_usage driver_pools::usage(native_pool p) {
  machine::call c(machine_);
  return find(p).usage;
}

void driver_pools::seen(std::uint64_t stream, std::uint64_t place) {
  for (auto& [id, p] : pools_)
    for (block& b : p.free) b.seen = b.seen || (b.freed_on == stream && b.place < place);
}

// Releases only blocks whose free the CPU has seen to be complete. If memory is short, the driver checks completion
// itself (frees::over).
void driver_pools::release_down_to(machine& m, pool& p, std::size_t keep, frees which) {
  std::erase_if(p.free, [&](const block& b) {
    if (p.usage.reserved_bytes <= keep || !(b.freed->fired && (b.seen || which == frees::over))) return false;
    m.memory_.release_block(p.kind, p.device, b.p, b.bytes);
    m.schedule_.forget(b.p, b.bytes);
    p.usage.reserved_bytes -= b.bytes;
    return true;
  });
}

void driver_pools::trim(native_pool p, std::size_t keep) {
  machine::call c(machine_);
  release_down_to(machine_, find(p), keep, frees::seen_by_cpu);
}

void driver_pools::after_synchronization(const scheduler::lock&) {
  for (auto& [id, p] : pools_)
    if (p.usage.reserved_bytes > p.options.release_threshold)
      release_down_to(machine_, p, std::max(p.options.release_threshold, p.usage.used_bytes), frees::seen_by_cpu);
}

void driver_pools::grant(native_pool p, int device) {
  machine::call c(machine_);
  machine_.check_device(device);
  const pool& of = find(p);
  if (of.kind != memory_kind::device || of.device == device) return;
  machine_.may_fail(failing_verb::peer, c.lock, device);
  if (!machine_.options_.are_peers(device, of.device))
    throw peer_access_error(
        concat("device ", device, " has no way to the memory of device ", of.device,
               ", so not to its pools: copy the array first (ferry::clone_on), or change peers= in FERRY_SIM"));
  machine_.memory_.grant_pool(to_id(p.handle), device);
}

// Takes a block that the stream itself freed. With opportunistic reuse, also one whose free is complete; with internal
// dependencies, also one whose free is pending.
bool driver_pools::take_free(pool& p, std::size_t bytes, std::uint64_t stream, block& into) {
  const auto fits = [&](const block& b) { return b.bytes >= bytes && b.bytes <= 2 * bytes; };
  const auto take = [&](auto may) {
    const auto at = std::find_if(p.free.begin(), p.free.end(), [&](const block& b) { return fits(b) && may(b); });
    if (at == p.free.end()) return false;
    into = *at;
    p.free.erase(at);
    return true;
  };
  const reuse_policy& how = p.options.reuse;
  return take([&](const block& b) { return b.freed_on == stream; }) ||
         (how.opportunistic && take([](const block& b) { return b.freed->fired; })) ||
         (how.internal_dependencies && take([](const block&) { return true; }));
}

std::shared_ptr<const footprint> driver_pools::footprint_of(std::string_view verb, const void* p, std::size_t bytes,
                                                            bool begins_life) const {
  if (!machine_.schedule_.finds_races()) return {};
  const kernel_use all{static_cast<const std::byte*>(p), bytes, false, true};
  return std::make_shared<const footprint>(footprint{std::string(verb), {}, {all}, begins_life});
}

void* driver_pools::allocate(native_pool handle, std::size_t bytes, native_stream s) {
  machine::call c(machine_);
  machine_.schedule_.run_few(c.lock);
  machine::stream& on = machine_.find_working(s);
  if (on.in) machine_.refuse_in_capture(*on.in, "an allocation from a pool");
  pool& p = find(handle);
  machine_.may_fail(failing_verb::alloc, c.lock, p.device, bytes);
  if (bytes == 0) return nullptr;
  if (bytes > SIZE_MAX / 4) throw out_of_memory(concat("out of memory: ", bytes, " bytes"), bytes);
  bytes = (bytes + 511) / 512 * 512;
  block b;
  if (!take_free(p, bytes, on.id, b)) {
    if (p.options.max_bytes && p.usage.reserved_bytes + bytes > p.options.max_bytes)
      release_down_to(machine_, p, p.usage.used_bytes, frees::over);
    if (p.options.max_bytes && p.usage.reserved_bytes + bytes > p.options.max_bytes)
      throw out_of_memory("out of memory: the pool may hold " + readable_bytes(p.options.max_bytes) + ", and " +
                              readable_bytes(p.usage.used_bytes) + " are in use",
                          bytes);
    const auto get = [&] { return machine_.memory_.allocate(p.kind, p.device, bytes, to_id(handle.handle)); };
    try {
      b.p = get();
    } catch (const out_of_memory&) {
      release_down_to(machine_, p, p.usage.used_bytes, frees::over);
      b.p = get();
    }
    b.bytes = bytes;
    p.usage.reserved_bytes += bytes;
    p.usage.most_reserved_bytes = std::max(p.usage.most_reserved_bytes, p.usage.reserved_bytes);
  }
  p.usage.used_bytes += b.bytes;
  p.usage.most_used_bytes = std::max(p.usage.most_used_bytes, p.usage.used_bytes);
  used_[b.p] = {to_id(handle.handle), b.bytes};
  const auto run = [this, at = b.p] { machine_.memory_.begin_life(at); };
  const auto touches = footprint_of("allocation", b.p, b.bytes, true);
  if (machine_.schedule_.is_eager()) {
    machine_.schedule_.run_now(c.lock, *on.line, run, touches);
  } else {
    operation op{"allocation", {}, run, {}, {}, {}, touches};
    if (b.freed && !b.freed->fired) op.needs.push_back(b.freed);
    machine_.schedule_.push(c.lock, *on.line, std::move(op));
  }
  return b.p;
}

void driver_pools::free(void* at, native_stream s) {
  if (!at) return;
  machine::call c(machine_);
  machine::stream& on = machine_.find_working(s);
  if (on.in) machine_.refuse_in_capture(*on.in, "freeing to a pool");
  const auto found = used_.find(at);
  if (found == used_.end())
    throw invalid_argument("cannot free " + readable_address(at) + ": it is no block in use of a pool of this machine");
  const used_block was = found->second;
  used_.erase(found);
  auto freed = std::make_shared<signal>();
  freed->who = concat("a free on stream ", on.id);
  const std::uint64_t id = on.id;
  const int device = on.device;
  const auto touches = footprint_of("free", at, was.bytes, false);
  const auto run = [this, at, device] {
    if (!machine_.memory_.end_life(at))
      throw device_fault(device, "memory of a pool was freed before it was allocated");
  };
  // From here on other allocations may get the block.
  const auto list_as_free = [&] {
    pool& p = pools_.at(was.pool);
    p.usage.used_bytes -= was.bytes;
    p.free.push_back({at, was.bytes, freed, id, next_place()});
  };
  if (machine_.schedule_.is_eager()) {
    // run_now() releases the lock while the block's life ends. Until then no other thread may begin its next life.
    try {
      machine_.schedule_.run_now(c.lock, *on.line, run, touches);
    } catch (...) {
      used_.emplace(at, was);
      throw;
    }
    freed->fired = true;
    list_as_free();
  } else {
    list_as_free();
    machine_.schedule_.push(c.lock, *on.line, {"free", {}, run, {}, freed, {}, touches});
    machine_.schedule_.run_lazily(c.lock);
  }
}

void driver_pools::refuse_sharing() {
  throw not_supported("simulated devices live in one process: their pools and events cannot be shared with another");
}
int driver_pools::export_pool(native_pool) { refuse_sharing(); }
native_pool driver_pools::import_pool(int, int) { refuse_sharing(); }
shared_pointer_key driver_pools::export_pointer(void*) { refuse_sharing(); }
void* driver_pools::import_pointer(native_pool, const shared_pointer_key&) { refuse_sharing(); }
native_event driver_pools::create_shared_event(int) { refuse_sharing(); }
shared_event_key driver_pools::export_event(native_event) { refuse_sharing(); }
native_event driver_pools::import_event(const shared_event_key&) { refuse_sharing(); }

}  // namespace ferry::inline FERRY_ABI::detail::sim
