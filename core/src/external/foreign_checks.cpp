#include "external/foreign_checks.hpp"

#include <optional>
#include <utility>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"
#include "runtime/other_runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

const char* name_of(foreign_verb v) {
  switch (v) {
    case foreign_verb::borrow: return "borrow";
    case foreign_verb::pin: return "pin";
    case foreign_verb::adopt: return "adopt";
  }
  return "?";
}

std::string text_of(byte_range bytes, const std::string& name) {
  plain_stream out;
  if (!name.empty()) out << "'" << name << "', ";
  out << bytes.size() << " bytes at " << static_cast<const void*>(bytes.begin);
  return out.str();
}

known_memory known_memory_at(detail::backend& backend, const pinned_ranges& pins, byte_range bytes, memory_kind kind,
                             foreign_verb of, const std::string& name) {
  const bool pin = of == foreign_verb::pin;
  pointer_attributes first = backend.attributes(bytes.begin), last = backend.attributes(bytes.end - 1);
  if (pin)  // the range may be pinned already, by another pin
    for (const auto& [end, what] : {std::pair{bytes.begin, &first}, {bytes.end - 1, &last}})
      if (pins.has(end)) *what = {};
  const std::string what = concat(name_of(of), " of ", text_of(bytes, name));
  if (first.is_known != last.is_known || (first.is_known && (first.kind != last.kind || first.device != last.device)))
    throw invalid_argument(what + ": they begin and end in different memory: check the extents");
  if (first.is_known && first.kind != kind && pin)
    throw invalid_argument(what + ": this is " + kind_name(first.kind) +
                           " memory, and only memory of the CPU is pinned: use it as it is with ferry::borrow<ferry::"
                           "memory_kind::" +
                           kind_name(first.kind) + ">(pointer, extents)");
  if (first.is_known && first.kind != kind)
    throw invalid_argument(what + ": this is " + kind_name(first.kind) + " memory, and was taken for " +
                           kind_name(kind) + " memory: write ferry::" + name_of(of) +
                           "<ferry::memory_kind::" + kind_name(first.kind) + ">(...)");
  return {first.is_known, first.device};
}

void refuse_own(runtime& m, byte_range bytes, foreign_verb of) {
  const pointer_attributes memory = m.backend().attributes(bytes.begin);
  if (!memory.is_known) return;  // pools contain only memory that the driver reports
  std::optional<block_info> own;
  m.memory().pools().each([&](memory_source& s) {
    if (own || s.kind() != memory.kind || (memory.kind == memory_kind::device && s.device() != memory.device)) return;
    s.each_block([&](const block_info& b) {
      if (!own && byte_range{b.begin, b.begin + b.bytes}.overlaps(bytes)) own = b;
    });
  });
  if (!own) return;
  const std::string what = concat(name_of(of), " of ", text_of(bytes, {}), ": ");
  if (own->is_free || own->is_retained)
    throw invalid_argument(what + "they are of a pool of ferry, and the array that had them is gone");
  throw invalid_argument(concat(what, "they belong to ", quoted_name(label_text(label_kind::name, own->name)),
                                " of ferry (", kind_name(memory.kind), " memory, ", own->bytes,
                                " bytes), and their work would not be ordered against that of the array: use the array "
                                "itself, or a view of it (slice, reshape)"));
}

void check_stream(runtime& m, const borrow_options& how) {
  if (!how.stream) return;
  timeline& line = how.stream->timeline();
  if (&line.registry() != &m.streams()) throw_other_runtime("the stream");
  if (line.is_special()) refuse_special(line);
}

}  // namespace ferry::inline FERRY_ABI::detail
