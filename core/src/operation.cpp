#include "ferry/core/operation.hpp"

#include "ferry/core/error.hpp"

namespace ferry::detail {

void need_access(stream_ref s, std::span<const access> uses, reach how) {
  machine& m = machine::current();
  if (&s.line().family() != &m.streams())
    throw invalid_argument(
        "the stream belongs to another machine (another backend or simulation) than the current one: "
        "make streams and arrays inside the same ferry::simulation");
  for (const access& a : uses) {
    if (&a.what->home->verbs() != &m.verbs())
      throw invalid_argument("the array '" + a.what->name.get() +
                             "' belongs to another machine (another backend or simulation) than the current one: make "
                             "streams and arrays inside the same ferry::simulation");
    if (how != reach::by_kernel) continue;
    if (a.what->kind == memory_kind::device) m.need_peer(s.line().device(), a.what->device);
    a.what->home->need_peer(s.line().device());
  }
}

}  // namespace ferry::detail
