// Arrays of driver pools in several processes of one machine: a pool is exported once, by file descriptor; an array by a few
// bytes; events hand it over. CUDA only. Whoever opens an array closes it before its owner frees it.
#pragma once
#include <cstdint>
#include <utility>

#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/kernels/arguments.hpp"
#include "ferry/core/pool.hpp"
#include "ferry/core/submit.hpp"

namespace ferry {

// A file descriptor for another process: send it over a Unix socket (SCM_RIGHTS), and close it. The pool must be a driver
// pool with .shareable = true. Throws invalid_argument, not_supported.
int export_pool(pool& p);

// Where an array lies, for another process: plain bytes.
struct array_key {
  shared_pointer_key block{};
  std::uint64_t offset = 0, bytes = 0;  // within the block
};

// An event that another process can open by its key. What one process records, the other waits for, on their streams.
class shared_event {
 public:
  explicit shared_event(device d);
  // Made by another process.
  explicit shared_event(const shared_event_key& key);
  shared_event(shared_event&& o) noexcept;
  shared_event& operator=(shared_event&& o) noexcept;
  ~shared_event();
  // Plain bytes to send. Only of events that were made here.
  shared_event_key key() const;
  // Throws invalid_argument for an event that was moved from.
  native_event native() const;

 private:
  native_event native_;
  std::uint64_t serial_;
};

// A pool of another process. Keeps nothing alive there.
class imported_pool {
 public:
  // Does not close the descriptor. Throws not_supported.
  imported_pool(device d, int descriptor);
  // An array of the other process as one of this one, of as many T as fit. Its end closes it here, and frees nothing there.
  // Unordered with the other process: take_over it first.
  template <class T>
  device_array<T> open(const array_key& a) {
    return adopt(static_cast<T*>(map(a)), static_cast<std::size_t>(a.bytes) / sizeof(T),
                 [offset = a.offset](T* p, stream_ref s) { unmap(p, offset, s); });
  }

 private:
  void* map(const array_key& a);
  static void unmap(void* p, std::uint64_t offset, stream_ref s);
  native_pool native_;
};

namespace detail {
array_key share_bytes(const allocation_ref& owner, byte_range bytes);
void record_shared(native_stream s, const shared_event& e);
void wait_shared(native_stream s, const shared_event& e);
}  // namespace detail

// Where an array of a shareable pool lies. The array must stay alive as long as others have it open.
template <class T, std::size_t Rank>
array_key share(const array_view<T, Rank, memory_kind::device>& v) {
  if (!v.is_contiguous())
    throw invalid_argument("share: the view of " + detail::array_text(v.look()) + " is strided: share the whole array");
  return detail::share_bytes(v.owner(), v.bytes());
}
// Records the event on s, behind all uses of the array: then the other process may have it, and this one leaves it alone
// until it takes it over again. Never blocks.
template <class T, std::size_t Rank>
void hand_over(stream_ref s, array_view<T, Rank, memory_kind::device>& v, const shared_event& e) {
  submit(
      s, [&](native_stream n, mdspan<T, Rank>) { detail::record_shared(n, e); }, inout(v, source_line{}));
}
// Work here that uses the array comes after what the other process did before it recorded the event; it must have done so.
// Never blocks.
template <class T, std::size_t Rank>
void take_over(stream_ref s, array_view<T, Rank, memory_kind::device>& v, const shared_event& e) {
  submit(
      s, [&](native_stream n, mdspan<T, Rank>) { detail::wait_shared(n, e); }, inout(v, source_line{}));
}

}  // namespace ferry
