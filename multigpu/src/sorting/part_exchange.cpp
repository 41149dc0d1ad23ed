#include "sorting/part_exchange.hpp"

#include "ferry/core/copy.hpp"
#include "ferry/multigpu/collective_group.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"

namespace ferry::inline FERRY_ABI::detail {
void exchange_parts(const team& t, const std::function<part(std::size_t from, std::size_t to)>& sent,
                    const std::vector<moved_elements>& all) {
  using byte_view = array_view<std::uint8_t, 1, memory_kind::device>;
  // Calls f(bytes that leave, bytes where they arrive). Those of other processes are empty.
  const auto for_each_piece = [&](std::size_t from, std::size_t to, auto f) {
    const part piece = sent(from, to);
    if (piece.size() == 0) return;
    std::size_t at = 0;
    for (std::size_t m = 0; m != from; ++m) at += sent(m, to).size();
    for (const moved_elements& e : all)
      f(t.is_local(from)
            ? elements_in<std::uint8_t>((*e.leaving)[from - t.first_local()], piece.begin * e.row, piece.size() * e.row)
            : byte_view(),
        t.is_local(to)
            ? elements_in<std::uint8_t>((*e.arriving)[to - t.first_local()], at * e.row, piece.size() * e.row)
            : byte_view());
  };
  t.for_each([&](std::size_t to) {
    for (std::size_t from = t.first_local(); from != t.first_local() + t.local_size(); ++from)
      for_each_piece(from, to, [&](const byte_view& leaving, byte_view arriving) {
        copy(t.stream(to), leaving, arriving, source_line{});
      });
  });
  if (!spans_processes(t)) return;
  collective_group messages = collective_group::at_once(t);
  for (std::size_t from = 0; from != t.size(); ++from)
    for (std::size_t to = 0; to != t.size(); ++to) {
      if (t.is_local(from) == t.is_local(to)) continue;  // both are local, or neither is
      for_each_piece(from, to, [&](const byte_view& leaving, byte_view arriving) {
        if (t.is_local(from))
          messages.send(leaving, from, to);
        else
          messages.receive(arriving, to, from);
      });
    }
  messages.submit();
}

}  // namespace ferry::inline FERRY_ABI::detail
