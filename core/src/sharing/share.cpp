#include "ferry/core/share.hpp"

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

pool_backend& pools_of(runtime& m) {
  pool_backend* const pools = m.backend().pools();
  if (!pools) throw not_supported("this backend has no pools of a driver, and memory cannot be shared with others");
  return *pools;
}

native_pool shareable(const memory_pool& p, const char* verb) {
  if (p.options().kind != pool_kind::driver || !p.options().shareable)
    throw invalid_argument(concat(verb,
                                  ": the pool is not shareable: make it with ferry::pool_options{.kind = "
                                  "ferry::pool_kind::driver, .shareable = true}"));
  return p.native();
}

}  // namespace

int export_pool(pool& p) {
  pool_backend& pools = pools_of(runtime::current());
  return pools.export_pool(shareable(p.of(memory_kind::device), "export_pool"));
}

array_key detail::share_bytes(const allocation_ref& owner, byte_range bytes) {
  if (!owner) throw invalid_argument("share: the array is empty");
  allocation& a = owner.get();
  auto* const resource = dynamic_cast<memory_pool*>(a.resource);
  if (!resource)
    throw invalid_argument("share: " + array_text(a) +
                           " is no block of a pool itself: it was adopted, borrowed, made in a workspace, or under "
                           "memory checks (FERRY_POISON)");
  (void)shareable(*resource, "share");
  return {pools_of(runtime::current()).export_pointer(a.begin), static_cast<std::uint64_t>(bytes.begin - a.begin),
          bytes.size()};
}

shared_event::shared_event(device d)
    : native_(pools_of(runtime::current()).create_shared_event(d.index())),
      serial_(runtime::current().serial()) {}
shared_event::shared_event(const shared_event_key& key)
    : native_(pools_of(runtime::current()).import_event(key)),
      serial_(runtime::current().serial()) {}
shared_event::shared_event(shared_event&& o) noexcept : native_(std::exchange(o.native_, {})), serial_(o.serial_) {}
shared_event& shared_event::operator=(shared_event&& o) noexcept {
  std::swap(native_, o.native_);
  std::swap(serial_, o.serial_);
  return *this;
}
shared_event::~shared_event() {
  if (!native_.handle) return;
  try {
    runtime_registry::if_alive(serial_, [&](runtime& m) { m.backend().destroy_event(native_); });
  } catch (const error&) {  // a failed device: process exit releases its events
  }
}
native_event shared_event::native() const {
  if (!native_.handle) throw_moved_from("the shared event");
  return native_;
}
shared_event_key shared_event::key() const { return pools_of(runtime::current()).export_event(native()); }

void detail::record_shared(native_stream s, const shared_event& e) {
  runtime::current().backend().record(e.native(), s);
}
void detail::wait_shared(native_stream s, const shared_event& e) { runtime::current().backend().wait(s, e.native()); }

imported_pool::imported_pool(device d, int descriptor)
    : native_(pools_of(runtime::current()).import_pool(d.index(), descriptor)) {}

void* imported_pool::map(const array_key& a) {
  return static_cast<std::byte*>(pools_of(runtime::current()).import_pointer(native_, a.block)) + a.offset;
}

void imported_pool::unmap(void* p, std::uint64_t offset, stream_ref s) {
  pools_of(runtime::current()).free(static_cast<std::byte*>(p) - offset, s.timeline().stream());
}

}  // namespace ferry::inline FERRY_ABI
