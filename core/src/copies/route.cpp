#include "ferry/core/route.hpp"

#include <ostream>

#include "copies/copy_engine.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

const char* route_name(route_kind k) {
  switch (k) {
    case route_kind::direct: return "direct";
    case route_kind::peer: return "peer";
    case route_kind::staged: return "staged";
    case route_kind::parallel: return "parallel";
    case route_kind::multipath: return "multipath";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, const route_info& r) { return out << r.text(); }

route_info route(const copy_end& from, const copy_end& to, std::size_t bytes) {
  runtime& m = runtime::current();
  for (const copy_end* e : {&from, &to}) (void)m.properties(e->on);
  copy_engine& engine = m.copies();
  const route_choice way = engine.choose(from, to, bytes);
  route_info r{way.kind, engine.explain(way, bytes), {}};
  if (way.kind == route_kind::multipath) r.through = engine.helpers(way.to);
  return r;
}

copy_options current_copy_options() { return runtime::current().copies().options(); }
void set_copy_options(const copy_options& o) { runtime::current().copies().options(o); }

shared_links::shared_links(std::span<const device> devices) {
  runtime& m = runtime::current();
  std::vector<int> indices;
  for (const device d : devices) {
    (void)m.properties(d.index());
    indices.push_back(d.index());
  }
  id_ = m.copies().share_links(std::move(indices));
  serial_ = m.serial();
}

shared_links::~shared_links() {
  if (id_ != 0) runtime_registry::if_alive(serial_, [&](runtime& m) { m.copies().end_sharing(id_); });
}

}  // namespace ferry::inline FERRY_ABI
