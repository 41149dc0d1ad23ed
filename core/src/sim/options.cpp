#include "ferry/core/detail/backend/sim_options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/cpu_quota.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/size_text.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/error.hpp"
#include "platform/host_topology.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

constexpr std::string_view allowed =
    "allowed, separated by ';': devices=1..64; memory=BYTES|BYTES,BYTES,... (plain or with B, KiB, MiB, "
    "GiB, at least 1; by device, and the last one for all further devices); "
    "peers=all|none|A-B,C-D,... (devices from 0); "
    "broken=A-B,... (peers whose link loses bytes; A-B:plain, A-B:pools or A-B:unified: of such memory only); "
    "schedule=eager|overlap|random:SEED; threads=1..1024|all, not with schedule=random; "
    "fail=alloc@N|copy@N|launch@N|peer@N,... (N from 1); concurrent_managed=on|off; pageable_access=on|off; "
    "pinning=on|off; nvrtc=on|off; check=on|races|off";

constexpr std::string_view allowed_for_cpu =
    "allowed, separated by ';': devices=1..64|numa|numa:NODE,NODE,...; threads=1..1024|all; oversubscribe=on|off; "
    "memory=BYTES|BYTES,... as in FERRY_SIM; streams=direct|overlap; check=on|off";

constexpr std::array<std::string_view, 6> keys_of_cpu{"devices", "threads", "oversubscribe",
                                                      "memory",  "streams", "check"};

unsigned cores_of_process() { return static_cast<unsigned>(parallel_threads()); }

class parser {
 public:
  parser(std::string_view whole, options initially, unsigned cores, std::function<std::vector<numa_node>()> nodes)
      : whole_(whole),
        result_(std::move(initially)),
        cores_(cores),
        nodes_(std::move(nodes)) {}

  options run() {
    std::vector<std::string_view> keys;
    for (const std::string_view item : split(whole_, ';')) {
      if (item.empty()) continue;
      const auto [key, value] = cut(item, '=');
      if (std::count(keys.begin(), keys.end(), key) != 0) refuse(item, "given twice");
      keys.push_back(key);
      read(item, key, value);
    }
    check_threads();
    if (result_.threads > 1 && result_.schedule == schedule_kind::random)
      refuse(concat("threads=", result_.threads),
             "is for schedule=eager and overlap: a random schedule is reproducible on one thread only");
    const auto known = [&](int a, int b) {  // checked at the end: devices= may come later
      if (a >= result_.devices || b >= result_.devices) refuse(concat(a, "-", b), "names a device that does not exist");
    };
    if (result_.peers)
      for (const auto& [a, b] : *result_.peers) known(a, b);
    for (const broken_link& l : result_.broken) known(l.a, l.b);
    if (const std::size_t sizes = result_.memory_bytes.size(); sizes > static_cast<std::size_t>(result_.devices))
      refuse("memory=", concat("has ", sizes, " sizes for devices=", result_.devices));
    return result_;
  }

 private:
  [[noreturn]] void refuse(std::string_view part, std::string_view why) const {
    throw parse_error(concat(result_.are_cpus ? "options of the CPU \"" : "simulator options \"", whole_, "\": \"",
                             part, "\" ", why, ". ", result_.are_cpus ? allowed_for_cpu : allowed));
  }

  static std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts = split_text(text, by);
    for (std::string_view& p : parts) p = trimmed(p);
    return parts;
  }

  std::pair<std::string_view, std::string_view> cut(std::string_view part, char by) const {
    const auto pair = cut_text(part, by);
    if (!pair) refuse(part, concat("lacks '", by, "'"));
    return {trimmed(pair->first), trimmed(pair->second)};
  }

  template <class Number>
  Number number(std::string_view item, std::string_view text, Number least, Number most) const {
    const std::optional<Number> value = parse_number<Number>(text);
    if (!value || *value < least || *value > most) refuse(item, "has no number in range where one belongs");
    return *value;
  }

  std::size_t bytes(std::string_view item, std::string_view text) const {
    constexpr detail::size_range units{0, 30};  // B to GiB
    const detail::size_parts parts = detail::split_size(text, units);
    const std::string_view digits = trimmed(parts.number);
    const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
    if (!is_number) refuse(item, "is no size: " + detail::why_no_size(text, units));
    const std::size_t most = std::numeric_limits<std::size_t>::max() >> parts.shift;
    return number<std::size_t>(item, digits, 1, most) << parts.shift;
  }

  std::pair<int, int> read_pair(std::string_view item, std::string_view pair) const {
    const auto [a, b] = cut(pair, '-');
    const std::pair found(number(item, a, 0, 63), number(item, b, 0, 63));
    if (found.first == found.second) refuse(pair, "pairs a device with itself");
    return found;
  }

  broken_link read_broken(std::string_view item, std::string_view text) const {
    const bool names_memory = text.find(':') != text.npos;
    const auto [pair, memory] = names_memory ? cut(text, ':') : std::pair(text, std::string_view{});
    const auto [a, b] = read_pair(item, pair);
    if (!names_memory) return {a, b};
    static constexpr std::array<std::string_view, 3> names{"plain", "pools", "unified"};  // by peer_memory
    const auto found = std::find(names.begin(), names.end(), memory);
    if (found == names.end()) refuse(text, "names no sort of memory");
    return {a, b, static_cast<peer_memory>(found - names.begin())};
  }

  void read(std::string_view item, std::string_view key, std::string_view value) {
    if (result_.are_cpus && std::find(keys_of_cpu.begin(), keys_of_cpu.end(), key) == keys_of_cpu.end())
      refuse(item, "is no option");
    if (key == "devices" && result_.are_cpus && value.starts_with("numa")) {
      read_nodes(item, value.substr(4));
    } else if (key == "devices") {
      result_.devices = number(item, value, 1, 64);
    } else if (key == "memory") {
      result_.memory_bytes.clear();
      for (const std::string_view one : split(value, ',')) result_.memory_bytes.push_back(bytes(item, one));
    } else if (key == "peers") {
      if (value == "all") return;
      result_.peers.emplace();
      if (value != "none")
        for (const std::string_view pair : split(value, ',')) result_.peers->push_back(read_pair(item, pair));
    } else if (key == "broken") {
      for (const std::string_view one : split(value, ',')) result_.broken.push_back(read_broken(item, one));
    } else if (key == "schedule") {
      if (value == "eager") return;
      if (value == "overlap") return void(result_.schedule = schedule_kind::overlap);
      if (!value.starts_with("random:")) refuse(item, "names no schedule");
      result_.schedule = schedule_kind::random;
      result_.seed = number<std::uint64_t>(item, value.substr(7), 0, std::numeric_limits<std::uint64_t>::max());
    } else if (key == "streams" && result_.are_cpus) {
      if (value != "direct" && value != "overlap") refuse(item, "is neither direct nor overlap");
      result_.schedule = value == "overlap" ? schedule_kind::overlap : schedule_kind::eager;
      has_streams_ = true;
    } else if (key == "oversubscribe" && result_.are_cpus) {
      if (value != "on" && value != "off") refuse(item, "is neither on nor off");
      may_share_cores_ = value == "on";
    } else if (key == "threads") {
      has_threads_ = value != "all";
      result_.threads = has_threads_ ? number(item, value, 1u, 1024u) : cores_;
    } else if (key == "fail") {
      for (const std::string_view one : split(value, ',')) {
        const auto [verb, nth] = cut(one, '@');
        static constexpr std::array<std::string_view, 4> names{"alloc", "copy", "launch", "peer"};
        const auto found = std::find(names.begin(), names.end(), verb);
        if (found == names.end()) refuse(one, "names no call that can fail");
        result_.failures.push_back({static_cast<failing_verb>(found - names.begin()),
                                    number<std::uint64_t>(item, nth, 1, std::numeric_limits<std::uint64_t>::max())});
      }
    } else if (key == "concurrent_managed" || key == "pageable_access" || key == "pinning" || key == "nvrtc") {
      if (value != "on" && value != "off") refuse(item, "is neither on nor off");
      (key == "pageable_access"      ? result_.pageable_access
       : key == "concurrent_managed" ? result_.concurrent_managed
       : key == "nvrtc"              ? result_.nvrtc
                                     : result_.pinning) = value == "on";
    } else if (key == "check") {
      if (result_.are_cpus && value != "on" && value != "off") refuse(item, "is neither on nor off");
      if (value != "on" && value != "races" && value != "off") refuse(item, "is neither on, races nor off");
      result_.check_races = value != "off";
      result_.check = value == "on" ? check_level::all : value == "off" ? check_level::none : check_level::usual;
      if (result_.are_cpus) result_.indices = value == "on" ? index_checks::always : index_checks::never;
    } else {
      refuse(item, "is no option");
    }
  }

  // The nodes of devices=numa (rest is empty) or devices=numa:0,2.
  void read_nodes(std::string_view item, std::string_view rest) {
    std::vector<numa_node> all = nodes_();
    if (!rest.empty()) {
      if (rest.front() != ':') refuse(item, "has no number in range where one belongs");
      std::vector<numa_node> chosen;
      for (const std::string_view one : split(rest.substr(1), ',')) {
        const int n = number(item, one, 0, std::numeric_limits<int>::max());
        const auto is_n = [n](const numa_node& node) { return node.number == n; };
        const auto found = std::find_if(all.begin(), all.end(), is_n);
        if (std::any_of(chosen.begin(), chosen.end(), is_n)) refuse(item, "names a NUMA node twice");
        if (found == all.end())
          refuse(item, concat("names NUMA node ", n,
                              ", which does not exist or has no core that this process may use; there are nodes ",
                              numbers_of(all)));
        chosen.push_back(*found);
      }
      all = std::move(chosen);
    }
    if (all.size() > 64) refuse(item, "would make more than 64 devices; name the NUMA nodes, as in devices=numa:0,1");
    result_.devices = static_cast<int>(all.size());
    result_.nodes = std::move(all);
  }

  static std::string numbers_of(const std::vector<numa_node>& all) {
    std::string text;
    for (const numa_node& n : all) text += concat(text.empty() ? "" : ", ", n.number);
    return text;
  }

  // On NUMA nodes, the cores are those of the nodes, and streams overlap: else one device waits for another one.
  void check_threads() {
    if (!result_.are_cpus) return;
    const std::string item = concat("threads=", result_.threads);
    if (!result_.nodes.empty()) {
      cores_ = 0;
      for (const numa_node& n : result_.nodes) cores_ += static_cast<unsigned>(n.cores.size());
      if (!has_threads_) result_.threads = cores_;
      if (!has_streams_) result_.schedule = schedule_kind::overlap;
      if (result_.threads < result_.nodes.size())
        refuse(item, concat("is less than the number of NUMA nodes, ", result_.nodes.size()));
    }
    if (result_.threads <= cores_ || may_share_cores_) return;
    refuse(item, concat("is more than the number of cores that ",
                        result_.nodes.empty() ? "this process may use" : "these NUMA nodes have for this process", ", ",
                        cores_, ": use threads=all, or oversubscribe=on for threads that share cores"));
  }

  std::string_view whole_;
  options result_;
  unsigned cores_;
  std::function<std::vector<numa_node>()> nodes_;
  bool has_threads_ = false, has_streams_ = false, may_share_cores_ = false;
};

}  // namespace

std::size_t options::memory_of(int device) const {
  if (memory_bytes.empty()) throw invalid_argument("simulator options: memory_bytes holds no size: give at least one");
  return memory_bytes[std::min(static_cast<std::size_t>(device), memory_bytes.size() - 1)];
}

bool options::are_peers(int a, int b) const {
  if (a == b) return false;
  return !peers || std::any_of(peers->begin(), peers->end(), [&](const auto& p) {
    return (p.first == a && p.second == b) || (p.first == b && p.second == a);
  });
}

bool options::is_broken(int a, int b, peer_memory sort) const {
  return are_peers(a, b) && std::any_of(broken.begin(), broken.end(), [&](const broken_link& l) {
           return ((l.a == a && l.b == b) || (l.a == b && l.b == a)) && l.memory.value_or(sort) == sort;
         });
}

// Nodes have threads in proportion to their cores if the number of threads is that of the cores, else equally many.
unsigned options::threads_of(std::size_t device) const {
  if (nodes.empty()) return threads;
  std::size_t cores = 0;
  for (const numa_node& n : nodes) cores += n.cores.size();
  if (threads == cores) return static_cast<unsigned>(nodes[device].cores.size());
  return static_cast<unsigned>(part_begin(threads, device + 1, nodes.size()) -
                               part_begin(threads, device, nodes.size()));
}

options parse_options(std::string_view text) { return parser(text, {}, cores_of_process(), {}).run(); }

options parse_cpu_options(std::string_view text, std::size_t memory) {
  return parse_cpu_options(text, memory, cores_of_process(), numa_nodes);
}

options parse_cpu_options(std::string_view text, std::size_t memory, unsigned cores,
                          const std::function<std::vector<numa_node>()>& nodes) {
  options initially;
  initially.are_cpus = true;
  initially.indices = index_checks::by_source;
  initially.devices = 1;
  initially.threads = cores;
  initially.memory_bytes.clear();
  options o = parser(text, std::move(initially), cores, nodes).run();
  if (o.memory_bytes.empty()) o.memory_bytes = {memory / static_cast<std::size_t>(o.devices)};
  return o;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
