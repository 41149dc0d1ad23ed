/// @file
/// Structures of arrays: the arrays, functor arguments, copies, and spans for the CPU.
#pragma once
#include "ferry/core/copy.hpp"
#include "ferry/core/soa_argument.hpp"
#include "ferry/core/soa_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Copies every member, as copies of arrays; the sizes must be equal.
template <memory_kind From, memory_kind To, class... M>
void copy(const basic_soa<From, M...>& from, basic_soa<To, M...>& to, source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member([&](auto i) { copy(from.template member<i()>(), to.template member<i()>(), at); });
}
/// @overload
template <memory_kind From, memory_kind To, class... M>
void copy(stream_ref s, const basic_soa<From, M...>& from, basic_soa<To, M...>& to,
          source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member(
      [&](auto i) { copy(s, from.template member<i()>(), to.template member<i()>(), at); });
}

/// Copies a structure of arrays into another kind of memory, on device d.
template <memory_kind To, memory_kind Kind, class... M>
basic_soa<To, M...> to_kind(const basic_soa<Kind, M...>& s, device d) {
  basic_soa<To, M...> made(s.size(), d);
  copy(s, made, source_line{});
  if (s.owner() && made.owner()) made.name(s.name());
  return made;
}
/// Copies a structure of arrays into the same kind of memory on device d.
template <memory_kind Kind, class... M>
auto clone_on(device d, const basic_soa<Kind, M...>& s) {
  return to_kind<Kind>(s, d);
}
/// Copies a structure of arrays into unified memory on the same device.
template <memory_kind Kind, class... M>
auto to_unified(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::unified>(s, s.device());
}
/// Copies a structure of arrays into device memory on the same device.
template <memory_kind Kind, class... M>
auto to_device(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::device>(s, s.device());
}
template <memory_kind Kind, class... M>
basic_soa<Kind, M...> basic_soa<Kind, M...>::clone() const {
  return to_kind<Kind>(*this, device());
}

/// All members for CPU access at raw pointer speed. Blocks, and stays valid, as host_span of an array.
template <memory_kind Kind, class... M>
soa_span<M...> host_span(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(true, at);
  return s.unsynchronized_span();
}
/// @overload
template <memory_kind Kind, class... M>
soa_span<const M...> host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(false, at);
  return s.unsynchronized_span();
}
/// Read-only members; see host_span.
template <memory_kind Kind, class... M>
soa_span<const M...> const_host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return host_span(s, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
