// Structures of arrays: the arrays, arguments of functors, copies, and spans for the CPU.
#pragma once
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/soa/soa_argument.hpp"
#include "ferry/core/detail/soa/soa_array.hpp"

namespace ferry {

// Copies every member; sizes must be equal. As copies of arrays.
template <memory_kind From, memory_kind To, class... M>
void copy(const basic_soa<From, M...>& from, basic_soa<To, M...>& to, source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member([&](auto i) { copy(from.template member<i()>(), to.template member<i()>(), at); });
}
template <memory_kind From, memory_kind To, class... M>
void copy(stream_ref s, const basic_soa<From, M...>& from, basic_soa<To, M...>& to,
          source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member(
      [&](auto i) { copy(s, from.template member<i()>(), to.template member<i()>(), at); });
}

// A copy in another kind of memory, on device d.
template <memory_kind To, memory_kind Kind, class... M>
basic_soa<To, M...> to_kind(const basic_soa<Kind, M...>& s, device d) {
  basic_soa<To, M...> made(s.size(), d);
  copy(s, made, source_line{});
  if (s.owner() && made.owner()) made.name(s.name());
  return made;
}
template <memory_kind Kind, class... M>
auto to(device d, const basic_soa<Kind, M...>& s) {
  return to_kind<Kind>(s, d);
}
template <memory_kind Kind, class... M>
auto to_unified(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::unified>(s, s.device());
}
template <memory_kind Kind, class... M>
auto to_device(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::device>(s, s.device());
}
template <memory_kind Kind, class... M>
basic_soa<Kind, M...> basic_soa<Kind, M...>::clone() const {
  return to_kind<Kind>(*this, device());
}

// All members for the CPU, at raw pointer speed: the rules of ferry::host_span.
template <memory_kind Kind, class... M>
soa_span<M...> host_span(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(true, at);
  return s.unsynchronized_span();
}
template <memory_kind Kind, class... M>
soa_span<const M...> host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(false, at);
  return s.unsynchronized_span();
}
template <memory_kind Kind, class... M>
soa_span<const M...> const_host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return host_span(s, at);
}

}  // namespace ferry
