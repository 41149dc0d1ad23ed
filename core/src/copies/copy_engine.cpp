#include "copies/copy_engine.hpp"

#include <algorithm>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "nvml/nvml_links.hpp"
#include "platform/host_topology.hpp"
#include "platform/nvlink_neighbours.hpp"

namespace ferry::inline FERRY_ABI {

copy_options copy_options::from_environment() {
  copy_options o;
  o.multipath =
      detail::environment_choice<multipath_use>("FERRY_MULTIPATH", {"teams", "always", "never"}).value_or(o.multipath);
  if (const auto threads = detail::environment("FERRY_COPY_THREADS")) {
    o.threads = detail::parse_number<std::size_t>(*threads).value_or(0);
    if (o.threads == 0 || o.threads > 1024)
      detail::refuse_variable("FERRY_COPY_THREADS", *threads, "numbers from 1 to 1024");
  }
  return o;
}

namespace detail {
namespace {

// Threads for each device. Measured in several runs on two H200 GPUs with 32 cores, as a fraction of the rate of pinned
// memory: 1 GiB up to one device 0.78 to 0.96 with 8 threads, 0.91 to 0.98 with 12, 0.89 to 0.96 with 16; down 0.77 to
// 0.94, 0.85 to 0.98 and 0.98. To both devices concurrently 0.56 to 0.71, 0.71 to 0.76 and 0.62 to 0.65.
constexpr std::size_t most_threads = 12;
constexpr std::size_t most_chunks = 4096;  // in a ring

}  // namespace

copy_engine::copy_engine(runtime& of, peer_grants& peers, copy_options options)
    : runtime_(of),
      memory_(of.memory()),
      backend_(of.backend()),
      peers_(peers),
      lanes_(backend_),
      options_(options) {
  handler_ = memory_.handlers().add({"chunks of the copy engine", handler_order::discard_scratch,
                                     [this](const memory_demand& d) { return lanes_.trim(d.kind, d.device); }});
}

copy_engine::~copy_engine() { memory_.handlers().remove(handler_); }

copy_options copy_engine::options() const {
  lock_guard lock(mutex_);
  return options_;
}

void copy_engine::options(const copy_options& o) {
  const auto need = [](const char* name, std::size_t value, std::size_t least, std::size_t most) {
    if (value < least || value > most)
      throw invalid_argument(concat("copy_options: ", name, " is ", value, ": allowed are ", least, " to ", most));
  };
  for (const auto& [name, bytes] : {std::pair{"chunk_bytes", o.chunk_bytes},
                                    {"small_chunk_bytes", o.small_chunk_bytes},
                                    {"parallel_chunk_bytes", o.parallel_chunk_bytes},
                                    {"multipath_chunk_bytes", o.multipath_chunk_bytes}})
    need(name, bytes, 1, std::size_t{1} << 40);
  need("chunks", o.chunks, 2, most_chunks);
  need("parallel_chunks", o.parallel_chunks, 2, most_chunks);
  need("threads", o.threads, 0, 1024);
  lock_guard lock(mutex_);
  options_ = o;
}

bool copy_engine::links(int device, int owner, peer_memory sort) {
  if (peers_.reaches(device, owner, sort)) return true;
  try {
    return peers_.grant(device, owner, sort);
  } catch (const peer_access_error&) {
    return false;
  } catch (const out_of_memory&) {  // for the test's memory
    return false;
  }
}

bool copy_engine::reaches(int device, const allocation& a) {
  if (a.kind != memory_kind::device || a.device == device) return true;
  if (!links(device, a.device, a.peer_class())) return false;
  try {
    a.resource->need_peer(a, device);
    return true;
  } catch (const peer_access_error&) {
    return false;
  }
}

route_choice copy_engine::choose(const copy_end& from, const copy_end& to, std::size_t bytes) {
  using memory = copy_end::memory;
  using reason = route_choice::reason;
  if (from.where == memory::device && to.where == memory::device) {
    if (from.on == to.on) return {};
    route_choice way{route_kind::staged,
                     reason::no_link,
                     from.on,
                     to.on,
                     from.sort.value_or(runtime_.pools().peer_class(from.on)),
                     to.sort.value_or(runtime_.pools().peer_class(to.on))};
    if (links(from.on, to.on, way.sort_to) && links(to.on, from.on, way.sort_from))
      way.kind = route_kind::peer, way.why = reason::link;
    else if (this_thread_state.capture)
      way.why = reason::in_graph;
    return way;
  }
  const copy_options o = options();
  const copy_end& device = from.where == memory::device ? from : to;
  const copy_end& host = from.where == memory::device ? to : from;
  if (from.where == memory::pageable && to.where == memory::pageable) {
    const bool by_threads = bytes >= o.parallel_from_bytes && thread_count(0) > 1;
    return {by_threads ? route_kind::parallel : route_kind::direct, reason::on_cpu};
  }
  if (device.where != memory::device || host.where == memory::unified) return {};
  if (host.where == memory::pageable) {
    if (bytes < o.parallel_from_bytes) return {route_kind::direct, reason::small};
    if (thread_count(device.on) < 2) return {route_kind::direct, reason::few_threads};
    return {route_kind::parallel, reason::threads, device.on, device.on};
  }
  if (bytes < o.multipath_from_bytes || this_thread_state.capture || helpers(device.on).empty()) return {};
  return {route_kind::multipath, reason::helpers, device.on, device.on};
}

std::string copy_engine::explain(const route_choice& c, std::size_t bytes) const {
  using reason = route_choice::reason;
  const std::string pair = concat("devices ", c.from, " and ", c.to);
  switch (c.why) {
    case reason::one_place: return "the driver copies it at once";
    case reason::link: return pair + " are peers";
    case reason::no_link: {
      std::string why = peers_.why_not(c.from, c.to, c.sort_to);
      if (why.empty()) why = peers_.why_not(c.to, c.from, c.sort_from);
      return pair + " do not reach each other's memory: " + (why.empty() ? "the driver refused it just now" : why);
    }
    case reason::in_graph: return pair + " do not reach each other's memory; pinned memory of the graph";
    case reason::threads:
      return concat("pageable memory, ", thread_count(c.from), " threads copy it through pinned chunks");
    case reason::small: return concat("pageable memory, and only ", bytes, " bytes: left to the driver");
    case reason::few_threads: return "pageable memory, and no second core to copy it: left to the driver";
    case reason::on_cpu: return "memory of the CPU, which copies it";
    case reason::helpers: return "large, and other devices share their links";
  }
  return {};
}

std::vector<int> copy_engine::helpers(int device) {
  std::vector<int> asked;
  {
    lock_guard lock(mutex_);
    if (options_.multipath == multipath_use::never) return {};
    const auto add = [&](int d) {
      if (d != device && std::find(asked.begin(), asked.end(), d) == asked.end()) asked.push_back(d);
    };
    if (options_.multipath == multipath_use::always)
      for (const ferry::device d : runtime_.devices()) add(d.index());
    for (const auto& [id, devices] : shared_)
      if (std::find(devices.begin(), devices.end(), device) != devices.end())
        for (const int d : devices) add(d);
  }
  std::erase_if(asked, [&](int d) { return !links(d, device) || !links(device, d); });
  return nvlink_neighbours(asked, [&](int d) { return nvlinks(d, device); });
}

// Caches the result, because NVML takes some microseconds for each link.
int copy_engine::nvlinks(int a, int b) {
  const std::pair<int, int> pair = std::minmax(a, b);
  lock_guard lock(mutex_);
  const auto [known, is_new] = nvlinks_.try_emplace(pair, 0);
  if (is_new)
    known->second = nvml::nvlinks_between(backend_.properties(a).pci_bus_id, backend_.properties(b).pci_bus_id);
  return known->second;
}

std::size_t copy_engine::thread_count(int device) const {
  if (const std::size_t set = options().threads; set > 0) return set;
  const std::vector<int> near = cores_near(backend_.properties(device).pci_bus_id);
  return std::min(most_threads, std::max<std::size_t>(near.size(), 1));
}

copy_workers& copy_engine::workers(int device) {
  const std::size_t count = thread_count(device);
  lock_guard lock(mutex_);
  auto& w = workers_[{device, count}];
  if (!w) w = std::make_unique<copy_workers>(count, cores_near(backend_.properties(device).pci_bus_id));
  return *w;
}

std::uint64_t copy_engine::share_links(std::vector<int> devices) {
  lock_guard lock(mutex_);
  shared_[++last_sharing_] = std::move(devices);
  return last_sharing_;
}

void copy_engine::end_sharing(std::uint64_t id) {
  lock_guard lock(mutex_);
  shared_.erase(id);
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
