/// @file
/// Sharing arrays of driver pools between processes of one computer. CUDA only. A pool is exported once by file
/// descriptor, and an array by a few bytes; events order access between the processes. A process must close an opened
/// array before the owner frees it.
#pragma once
#include <cstdint>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/pool.hpp"
#include "ferry/core/submit.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup foreign_memory
/// @{

/// File descriptor of a pool for another process. The caller sends it over a Unix socket (SCM_RIGHTS) and closes it.
/// @param p a driver pool with .shareable = true
/// @throws invalid_argument for other pools
/// @throws not_supported if the backend cannot export pools
int export_pool(pool& p);

/// Location of an array for another process; trivially copyable.
struct array_key {
  detail::shared_pointer_key block{};
  std::uint64_t offset = 0, bytes = 0;  ///< within the block
};

/// Key of an event for another process; trivially copyable.
using shared_event_key = detail::shared_event_key;

/// An event that another process can open by its key. One process records it, and streams of the other wait for it.
class shared_event {
 public:
  /// Creates an event on a device.
  explicit shared_event(device d);
  /// Opens an event of another process.
  explicit shared_event(const shared_event_key& key);
  shared_event(shared_event&& o) noexcept;
  shared_event& operator=(shared_event&& o) noexcept;
  ~shared_event();
  /// Key to send to another process. Only for events that were created in this process.
  shared_event_key key() const;
  /// @throws invalid_argument for a moved-from event
  native_event native() const;

 private:
  native_event native_;
  std::uint64_t serial_;
};

/// A pool of another process. It does not keep memory alive there.
class imported_pool {
 public:
  /// Does not close the descriptor.
  /// @throws not_supported if the backend cannot import pools
  imported_pool(device d, int descriptor);
  /// Opens an array of the other process, with as many T as fit. Its destruction closes it here and frees nothing
  /// there. It is not ordered with the other process: call take_over() first.
  template <class T>
  device_array<T> open(const array_key& a) {
    return adopt(static_cast<T*>(map(a)), static_cast<std::size_t>(a.bytes) / sizeof(T),
                 [offset = a.offset](T* p, stream_ref s) { unmap(p, offset, s); });
  }

 private:
  void* map(const array_key& a);
  static void unmap(void* p, std::uint64_t offset, stream_ref s);
  detail::native_pool native_;
};

namespace detail {
array_key share_bytes(const allocation_ref& owner, byte_range bytes);
void record_shared(native_stream s, const shared_event& e);
void wait_shared(native_stream s, const shared_event& e);
}  // namespace detail

/// Location of an array of a shareable pool. The array must stay alive while other processes have it open.
/// @throws invalid_argument if the view is strided
template <class T, std::size_t Rank>
array_key share(const array_view<T, Rank, memory_kind::device>& v) {
  if (!v.is_contiguous())
    throw invalid_argument("share: the view of " + detail::array_text(v.look()) + " is strided: share the whole array");
  return detail::share_bytes(v.owner(), v.bytes());
}
/// Records the event on s after all uses of the array. The other process may use the array then. This process must not
/// use it before it calls take_over() again. Never blocks.
template <class T, std::size_t Rank>
void hand_over(stream_ref s, array_view<T, Rank, memory_kind::device>& v, const shared_event& e) {
  submit(
      s, [&](native_stream n, mdspan<T, Rank>) { detail::record_shared(n, e); }, inout(v, source_line{}));
}
/// Makes later work of this process on the array wait for the event of the other process. The other process must have
/// recorded the event before the call. Never blocks.
template <class T, std::size_t Rank>
void take_over(stream_ref s, array_view<T, Rank, memory_kind::device>& v, const shared_event& e) {
  submit(
      s, [&](native_stream n, mdspan<T, Rank>) { detail::wait_shared(n, e); }, inout(v, source_line{}));
}

/// @}

}  // namespace ferry::inline FERRY_ABI
