#include "address_space.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

// Addresses just past an allocation still count as part of it, so that overruns are detected. Device memory has guard
// bytes before it, too, because only operations write it.
constexpr std::size_t gap_of(memory_kind kind) { return kind == memory_kind::device ? guard_bytes : 256; }
constexpr std::size_t lead_of(memory_kind kind) { return kind == memory_kind::device ? guard_bytes : 0; }

// What bytes contain before their first use, and after their last one.
constexpr int fresh = 0xA5, freed = 0xDD;

std::string_view words_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::device: return "device";
    case memory_kind::unified: return "unified";
    case memory_kind::host: return "pinned host";
  }
  return "?";
}

}  // namespace

std::string readable_bytes(std::size_t bytes) {
  for (const auto& [unit, shift] : {std::pair{" GiB", 30}, std::pair{" MiB", 20}, std::pair{" KiB", 10}})
    if (bytes >> shift != 0 && bytes % (std::size_t{1} << shift) == 0) return concat(bytes >> shift, unit);
  return concat(bytes, " bytes");
}

std::string readable_address(const void* p) {
  ferry::detail::plain_stream out;
  out << p;
  return out.str();
}

address_space::address_space(const options& how)
    : how_(how),
      usage_(static_cast<std::size_t>(how.devices) + 2),
      resident_(static_cast<std::size_t>(how.devices)),
      granted_(static_cast<std::size_t>(how.devices)) {}

address_space::~address_space() {
  for (const auto& [p, a] : table_) give_back(p, a);
}

void address_space::give_back(const std::byte* p, const allocation& a) {
  if (!a.pinned_later) ::operator delete (const_cast<std::byte*>(p) - lead_of(a.kind), std::align_val_t{a.alignment});
}

// Programs that use such bytes then get wrong values. The CPU as a device does it only with all checks: the threads
// that use memory touch its pages first, which places them near these threads.
void address_space::overwrite(void* p, int pattern, std::size_t bytes) const {
  if (overwrites()) std::memset(p, pattern, bytes);
}

usage& address_space::account(memory_kind kind, int device) {
  const auto devices = static_cast<std::size_t>(how_.devices);
  return usage_[kind == memory_kind::device    ? static_cast<std::size_t>(device)
                : kind == memory_kind::unified ? devices
                                               : devices + 1];
}

void* address_space::allocate(memory_kind kind, int device, std::size_t bytes, std::uint64_t pool) {
  if (bytes == 0) return nullptr;
  {
    lock_guard lock(mutex_);
    usage& u = account(kind, device);
    const std::size_t pages = kind == memory_kind::device ? resident_[static_cast<std::size_t>(device)] : 0;
    const std::size_t limit = kind == memory_kind::device ? how_.memory_of(device) : 0;
    if (kind == memory_kind::device && bytes > limit - u.bytes - pages)
      throw out_of_memory(concat("out of memory: simulated device ", device, " cannot allocate ", readable_bytes(bytes),
                                 "; ", readable_bytes(u.bytes), " of ", readable_bytes(limit), " are in use",
                                 pages > 0 ? ", and pages of unified memory take " + readable_bytes(pages) : "",
                                 ". Free arrays, or raise memory= in FERRY_SIM"),
                          bytes);
    u.bytes += bytes, ++u.allocations;  // counted before the slow part, so that the limit holds
  }
  allocation a{kind, device, bytes, 256, false, false, {}, pool, pool == 0};
  void* p = nullptr;
  try {
    // user addresses on x86-64: larger requests fail without calling the allocator
    constexpr std::size_t address_bits = 47;
    if (bytes >> address_bits) throw std::bad_alloc();
    if (kind == memory_kind::unified) {
      a.pages.resize((bytes + page_bytes - 1) / page_bytes);
      if (bytes >= page_bytes) a.alignment = page_bytes;  // then pages counted from the start are aligned pages
    }
    p = ::operator new (lead_of(kind) + bytes + gap_of(kind), std::align_val_t{a.alignment});
  } catch (const std::bad_alloc&) {
    lock_guard lock(mutex_);
    usage& u = account(kind, device);
    u.bytes -= bytes, --u.allocations;
    throw out_of_memory("out of memory: the CPU that simulates the devices has no " + readable_bytes(bytes), bytes);
  }
  overwrite(p, fresh, lead_of(kind) + bytes + gap_of(kind));
  p = static_cast<std::byte*>(p) + lead_of(kind);
  lock_guard lock(mutex_);
  table_.emplace(static_cast<const std::byte*>(p), std::move(a));
  return p;
}

void address_space::begin_life(void* p) {
  lock_guard lock(mutex_);
  allocation& a = table_.at(static_cast<const std::byte*>(p));
  a.born = true, a.freed = false;
  overwrite(p, fresh, a.bytes);
}

bool address_space::end_life(void* p) {
  lock_guard lock(mutex_);
  allocation& a = table_.at(static_cast<const std::byte*>(p));
  const bool lived = a.born && !a.freed;
  a.freed = true;
  overwrite(p, freed, a.bytes);
  return lived;
}

void address_space::release_block(memory_kind kind, int device, void* p, std::size_t bytes) {
  {
    lock_guard lock(mutex_);
    table_.at(static_cast<const std::byte*>(p)).freed = false;
  }
  release(kind, device, p, bytes);
}

void address_space::release(memory_kind kind, int device, void* p, std::size_t bytes) {
  if (p == nullptr && bytes == 0) return;
  lock_guard lock(mutex_);
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument(concat("cannot release ", words_of(kind), " memory at ", readable_address(p), " (",
                                  readable_bytes(bytes), "): ", why));
  };
  const auto found = table_.find(static_cast<const std::byte*>(p));
  if (found == table_.end()) refuse("no allocation of this machine begins there");
  allocation& a = found->second;
  if (a.freed) refuse("it was released before");
  if (a.pinned_later) refuse("it is the program's own, and was pinned only");
  if (a.kind != kind || (kind == memory_kind::device && a.device != device) || a.bytes != bytes)
    refuse(concat("it was allocated as ", readable_bytes(a.bytes), " of ", words_of(a.kind), " memory of device ",
                  a.device));
  usage& u = account(a.kind, a.device);
  u.bytes -= bytes, --u.allocations;
  for (std::size_t i = 0; i < a.pages.size(); ++i) settle(a.pages[i], size_of_page(a, i), -1);
  overwrite(p, freed, bytes);
  a.freed = true;
  quarantine_.push_back(found->first);
  quarantined_ += bytes;
  while (quarantined_ > (overwrites() ? quarantine_bytes : 0)) {
    const auto oldest = table_.find(quarantine_.front());
    quarantine_.pop_front();
    quarantined_ -= oldest->second.bytes;
    give_back(oldest->first, oldest->second);
    table_.erase(oldest);
  }
}

void address_space::pin(void* p, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(p);
  lock_guard lock(mutex_);
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument("cannot pin " + readable_bytes(bytes) + " at " + readable_address(p) + ": " + why);
  };
  if (p == nullptr || bytes == 0) refuse("there is nothing to pin");
  const auto next = table_.lower_bound(begin);
  const bool meets_next = next != table_.end() && next->first < begin + bytes;
  if (find(begin) != table_.end() || meets_next) refuse("some of it is known already, as pinned or as other memory");
  table_.emplace(begin, allocation{memory_kind::host, 0, bytes, 0, false, true, {}});
}

void address_space::unpin(void* p, std::size_t bytes) {
  lock_guard lock(mutex_);
  const auto found = table_.find(static_cast<const std::byte*>(p));
  if (found == table_.end() || !found->second.pinned_later || found->second.bytes != bytes)
    throw invalid_argument("cannot unpin " + readable_bytes(bytes) + " at " + readable_address(p) +
                           ": they were not pinned as a whole");
  table_.erase(found);
}

address_space::table::const_iterator address_space::find(const std::byte* p) const {
  auto next = table_.upper_bound(p);
  if (next == table_.begin()) return table_.end();
  --next;
  const std::size_t gap = next->second.pinned_later ? 0 : gap_of(next->second.kind);
  return p < next->first + next->second.bytes + gap ? next : table_.end();
}

place address_space::at(const void* p) const {
  lock_guard lock(mutex_);
  const auto* at = static_cast<const std::byte*>(p);
  const auto found = find(at);
  if (found == table_.end()) return {};
  const allocation& a = found->second;
  const auto offset = static_cast<std::size_t>(at - found->first);
  const address_state state = a.freed ? address_state::freed : !a.born ? address_state::unborn : address_state::live;
  return {state, a.kind, a.device, offset < a.bytes ? a.bytes - offset : 0, a.pool};
}

std::span<const std::byte> address_space::guarded(const void* p) const {
  lock_guard lock(mutex_);
  const auto found = find(static_cast<const std::byte*>(p));
  if (found == table_.end() || found->second.kind != memory_kind::device) return {};
  return {found->first - guard_bytes, guard_bytes + found->second.bytes + guard_bytes};
}

usage address_space::held(memory_kind kind, int device) const {
  lock_guard lock(mutex_);
  return const_cast<address_space*>(this)->account(kind, device);
}

std::size_t address_space::resident(int device) const {
  lock_guard lock(mutex_);
  return resident_[static_cast<std::size_t>(device)];
}

void address_space::grant_pool(std::uint64_t pool, int device) {
  lock_guard lock(mutex_);
  has_pools_.store(true, std::memory_order_relaxed);
  pool_grants_[pool] |= std::uint64_t{1} << device;
}

void address_space::grant(int device, int peer) {
  lock_guard lock(mutex_);
  granted_[static_cast<std::size_t>(device)] |= std::uint64_t{1} << peer;
}

void address_space::revoke(int device, int peer) {
  lock_guard lock(mutex_);
  granted_[static_cast<std::size_t>(device)] &= ~(std::uint64_t{1} << peer);
}

bool address_space::is_granted(int device, int peer) const {
  lock_guard lock(mutex_);
  return (granted_[static_cast<std::size_t>(device)] >> peer & 1) != 0;
}

std::string address_space::forbids(int device, std::span<const kernel_use> uses, reach how) const {
  for (const kernel_use& use : uses) {
    const std::string why = use.bytes == 0 ? std::string{} : forbids(device, use, how);
    if (!why.empty())
      return "illegal memory access: " + readable_bytes(use.bytes) + " at " + readable_address(use.begin) + ' ' + why;
  }
  return {};
}

std::string address_space::lifeless(std::span<const kernel_use> uses) const {
  if (!has_pools_.load(std::memory_order_relaxed)) return {};
  for (const kernel_use& use : uses) {
    const place here = use.bytes == 0 ? place{} : at(use.begin);
    if (!here.pool || here.state == address_state::live) continue;
    return "illegal memory access: " + readable_bytes(use.bytes) + " at " + readable_address(use.begin) +
           (here.state == address_state::freed
                ? " were released to their pool"
                : " are not allocated yet: nothing orders this behind their allocation from a pool");
  }
  return {};
}

bool address_space::is_granted_pool(std::uint64_t pool, int device) const {
  const auto grants = pool_grants_.find(pool);
  return grants != pool_grants_.end() && (grants->second >> device & 1) != 0;
}

bool address_space::may_copy(int device, const void* p) const {
  const place here = at(p);
  if (!here.pool || here.kind != memory_kind::device || here.device == device) return true;
  lock_guard lock(mutex_);
  return is_granted_pool(here.pool, device);
}

std::string address_space::forbids(int device, const kernel_use& use, reach how) const {
  const place here = at(use.begin);
  const std::string on = concat("device ", device);
  if (here.state == address_state::pageable)
    return how == reach::copied || how_.pageable_access
               ? ""
               : "are no memory that " + on + " can reach; use device, unified or pinned memory";
  if (here.state == address_state::freed && !here.pool) return "were released";
  if (use.bytes > here.room) return "run past the end of an allocation, which ends after " + readable_bytes(here.room);
  if (how == reach::copied || here.kind != memory_kind::device || here.device == device) return {};
  lock_guard lock(mutex_);
  if (here.pool) {
    if (is_granted_pool(here.pool, device)) return {};
    return concat("belong to a pool of device ", here.device, ", and ", on, " was granted no access to that pool");
  }
  if ((granted_[static_cast<std::size_t>(device)] >> here.device & 1) != 0) return {};
  return concat("belong to device ", here.device, ", and ", on,
                " has no peer access to it; call enable_peer_access first");
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
