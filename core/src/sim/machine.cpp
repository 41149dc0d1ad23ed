// The simulated machine: devices, peers, memory, unified memory, inspection.
#include "machine.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
std::uint64_t fresh_id() {
  static std::atomic<std::uint64_t> next{0x1000};  // small numbers are CUDA's special streams
  return next++;
}

std::unique_ptr<backend> make_backend(const options& how, std::function<void(const kernel_text&)> check) {
  if (how.nvrtc && !check)
    throw not_supported(
        "simulated devices with nvrtc=on, but ferry was built without CUDA: build it with -DFERRY_CUDA=ON");
  options all = how;
  if (check_level_of_environment() == check_level::all) {
    all.check_races = true;
    all.check = check_level::all;
    if (all.are_cpus) all.indices = index_checks::always;
  }
  return std::make_unique<machine>(all, std::move(check));
}

namespace {

std::vector<std::unique_ptr<cpu_workers>> workers_for(const options& how) {
  std::vector<std::unique_ptr<cpu_workers>> all(std::max<std::size_t>(how.nodes.size(), 1));
  for (std::size_t k = 0; k != all.size(); ++k) {
    const bool is_bound = !how.nodes.empty() && how.nodes[k].can_bind;
    if (const unsigned n = how.threads_of(k); n > 1)
      all[k] = std::make_unique<cpu_workers>(n, is_bound ? how.nodes[k].cores : std::vector<int>());
  }
  return all;
}

}  // namespace

// The simulator imitates the quirks whose workarounds are in code that all backends share.
machine::machine(const options& how, std::function<void(const kernel_text&)> check)
    : options_(how),
      quirks_{.managed_pools_lose_bytes = true,
              .aligned_arrays_delay_loads = true,
              .read_mostly_keeps_old_mappings = false,
              .links_may_lose_bytes = true,
              .discarded_pages_lose_writes = false,
              .faults_fetch_neighbours = true},
      memory_(how),
      schedule_(how),
      workers_(workers_for(how)),
      check_functor_(std::move(check)) {}

void machine::check_device(int device) const {
  if (device < 0 || device >= options_.devices)
    throw invalid_argument(
        concat("invalid device ordinal: ", device, "; this machine has devices 0 to ", options_.devices - 1));
}

device_properties machine::properties(int device) const {
  check_device(device);
  std::string name = concat(options_.are_cpus ? "CPU " : "simulated device ", device);
  if (!options_.nodes.empty()) name += concat(", NUMA node ", options_.nodes[static_cast<std::size_t>(device)].number);
  return {std::move(name), options_.memory_of(device), 8, 9, 0, options_.concurrent_managed, options_.pageable_access};
}

device_memory machine::memory(int device) const {
  check_device(device);
  const std::size_t used = memory_.held(memory_kind::device, device).bytes + memory_.resident(device);
  const std::size_t all = options_.memory_of(device);
  return {all - std::min(all, used), all};
}

bool machine::can_access_peer(int device, int peer) const {
  check_device(device), check_device(peer);
  return options_.are_peers(device, peer);
}

void machine::enable_peer_access(int device, int peer) {
  call c(*this);
  check_device(device), check_device(peer);
  schedule_.check(device);
  if (device == peer) throw invalid_argument(concat("device ", device, " needs no peer access to itself"));
  may_fail(failing_verb::peer, c.lock, device);
  if (!options_.are_peers(device, peer))
    throw peer_access_error(concat("peer access is not supported: device ", device,
                                   " has no way to the memory of device ", peer, "; copy instead, or add ", device, "-",
                                   peer, " to peers= in FERRY_SIM"));
  memory_.grant(device, peer);
}

void machine::disable_peer_access(int device, int peer) {
  call c(*this);
  check_device(device), check_device(peer);
  schedule_.check(device);
  memory_.revoke(device, peer);
}

peer_properties machine::peer(int device, int peer) const {
  const bool can = can_access_peer(device, peer);
  return {can, can, 0};
}

bool machine::are_lost(int device, std::span<const kernel_use> uses) const {
  if (!options_.broken.empty())
    for (const kernel_use& u : uses) {
      const place here = memory_.at(u.begin);
      if (here.state == address_state::live && here.kind == memory_kind::device && here.device != device &&
          options_.is_broken(device, here.device, here.pool ? peer_memory::pooled : peer_memory::plain) &&
          may_reach(device, u.begin, here))
        return true;
    }
  return false;
}

bool machine::may_reach(int device, const void* p, const place& here) const {
  return here.pool ? memory_.may_copy(device, p) : memory_.is_granted(device, here.device);
}

int machine::exchange_current_device(int device) {
  scheduler::refuse_inside_operation();
  check_device(device);
  const lock_guard lock(current_mutex_);
  return std::exchange(current_[std::this_thread::get_id()], device);
}

void machine::may_fail(failing_verb verb, const scheduler::lock& l, int device, std::size_t bytes) {
  const std::uint64_t nth = ++calls_[static_cast<std::size_t>(verb)];
  for (const failure& f : options_.failures) {
    if (f.verb != verb || f.nth != nth) continue;
    const std::string text = concat("fail= in FERRY_SIM makes call ", nth, " of this function fail");
    switch (verb) {
      case failing_verb::alloc: throw out_of_memory("out of memory: " + text, bytes);
      case failing_verb::peer: throw peer_access_error("peer access could not be enabled: " + text);
      case failing_verb::copy:
      case failing_verb::launch: schedule_.fail(l, device, text); schedule_.check(device);
    }
  }
}

void* machine::allocate(memory_kind kind, int device, std::size_t bytes) {
  call c(*this);
  check_device(device);
  schedule_.check(device);
  schedule_.run_few(c.lock);
  may_fail(failing_verb::alloc, c.lock, device, bytes);
  void* const p = memory_.allocate(kind, device, bytes);
  schedule_.forget(p, bytes);  // late operations may have accessed it while it was free
  return p;
}

void machine::release(memory_kind kind, int device, void* p, std::size_t bytes) {
  call c(*this);
  check_device(device);
  memory_.release(kind, device, p, bytes);
  refuse_in_use(c, p, bytes);
  schedule_.check(device);
}

// If races are checked: throws device_error if the CPU has not observed completion of all operations on the bytes.
void machine::refuse_in_use(call& c, const void* p, std::size_t bytes) {
  if (const int device = schedule_.refuse_in_use(c.lock, p, bytes); device >= 0) schedule_.check(device);
}

pointer_attributes machine::attributes(const void* p) {
  const place here = memory_.at(p);
  if ((here.state == address_state::freed && !here.pool) || (here.state == address_state::live && here.room == 0))
    throw invalid_argument("attributes: " + readable_address(p) +
                           " lies in no allocation: it was released, or is the end of one");
  return {here.state != address_state::pageable, here.kind, std::max(here.device, 0)};
}

void machine::pin(void* p, std::size_t bytes) {
  call c(*this);
  if (!options_.pinning) throw not_supported("pin: the simulated machine pins no memory (pinning=off)");
  memory_.pin(p, bytes);
  schedule_.forget(p, bytes);
}

void machine::unpin(void* p, std::size_t bytes) {
  call c(*this);
  memory_.unpin(p, bytes);
  refuse_in_use(c, p, bytes);
}

void machine::check_managed(const void* p, std::size_t bytes, memory_location where, bool needs_concurrent,
                            std::string_view verb) const {
  if (!where.is_host()) check_device(where.device);
  if (where.numa_node > 0)
    throw invalid_argument(
        concat(verb, ": there is no NUMA node ", where.numa_node, "; simulated machines have node 0"));
  const place here = memory_.at(p);
  if (here.state == address_state::pageable && options_.pageable_access) return;  // moves like managed memory
  if (here.state != address_state::live || here.kind != memory_kind::unified || bytes > here.room)
    throw invalid_argument(concat(verb, ": ", readable_bytes(bytes), " at ", readable_address(p),
                                  " do not lie within one allocation of unified memory"));
  if (needs_concurrent && !where.is_host() && !options_.concurrent_managed)
    throw not_supported(concat(verb, ": device ", where.device,
                               " lacks concurrent managed access, so managed memory cannot be sent to it"));
}

void machine::prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) {
  call c(*this);
  stream& on = find_working(s);
  if (bytes == 0) return;
  check_managed(p, bytes, to, true, "prefetch");
  enqueue(c, on,
          {"prefetch", reach::copied, {}, [this, p, bytes, to](const relocation&) { memory_.move(p, bytes, to); }});
}

void machine::prefetch_many(native_stream s, std::span<const page_move> moves, bool discard_first) {
  for (const page_move& m : moves) {
    if (discard_first) discard(s, m.begin, m.bytes);
    prefetch(s, m.begin, m.bytes, m.to);
  }
}

void machine::discard(native_stream s, void* p, std::size_t bytes) {
  call c(*this);
  stream& on = find_working(s);
  if (bytes == 0) return;
  check_managed(p, bytes, {}, true, "discard");
  work w{"discard", reach::copied, {}, [this, p, bytes](const relocation&) { memory_.discard(p, bytes); }};
  w.changes = {{static_cast<const std::byte*>(p), bytes, false, true}};
  enqueue(c, on, std::move(w));
}

std::optional<memory_location> machine::prefetched_to(const void* p, std::size_t bytes) const {
  const auto places = memory_.residency(p, bytes);
  if (places.size() != 1) return {};
  return memory_location{places.begin()->first};
}

traffic machine::moved() const { return memory_.moved(); }

void machine::advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  call c(*this);
  if (bytes == 0) return;
  const bool needs = advice == memory_advice::preferred_location || advice == memory_advice::accessed_by;
  check_managed(p, bytes, where, needs, "advise");
  memory_.advise(p, bytes, advice, where);
}

std::size_t machine::pending_operations() {
  call c(*this);
  return schedule_.pending();
}

std::map<int, std::size_t> machine::residency(const void* p, std::size_t bytes) const {
  return memory_.residency(p, bytes);
}
usage machine::held(memory_kind kind, int device) const {
  check_device(device);
  return memory_.held(kind, device);
}
place machine::at(const void* p) const { return memory_.at(p); }

void machine::reset_errors() {
  call c(*this);
  schedule_.forget_failures(c.lock);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
