#include "ferry/core/topology.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <locale>
#include <optional>
#include <ostream>
#include <sstream>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "ferry/core/array.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/runtime.hpp"
#include "nvml/nvml_links.hpp"
#include "platform/host_topology.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

constexpr const char* first_line = "ferry topology 1";
constexpr const char* machine_word = "machine ";

std::string host_name() {
  if (const auto given = environment("FERRY_HOST")) return *given;
#if defined(__linux__)
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) return name;
#endif
  return "unknown";
}

// Returns the rate in GB/s of the fastest of some copies. Blocks until they are complete.
double rate_of(std::size_t bytes, stream_ref s, const std::function<void()>& copy) {
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {  // the first copy allocates staging buffers and enables peer access
    s.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    copy();
    s.synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, took.count());
  }
  return static_cast<double>(bytes) / std::max(best, 1e-9) * 1e-9;
}

// Copies by the driver, over the one link between the device and the CPU: a large copy() may also use links of other
// devices.
void copy_over_one_link(stream_ref s, const detail::copy_side& to, const detail::copy_side& from, std::size_t bytes) {
  access_list<2> uses;
  uses.add(*to.owner, to.bytes, true);
  uses.add(*from.owner, from.bytes, false);
  submit_ordered(s, uses.get(), reach::by_copy,
                 [&](native_stream n) { runtime::current().backend().copy(n, to.data, from.data, bytes); });
}

// 32-bit FNV-1a.
std::string short_hash(const std::string& text) {
  std::uint32_t h = 2166136261u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", h);
  return digits;
}

// Returns the content of a file; empty if it cannot be read.
std::optional<std::string> text_of(const std::string& file) {
  std::ifstream in(file);
  if (file.empty() || !in) return {};
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Replaces the file atomically, even if other processes write it, too.
void replace_file(const std::string& file, const std::string& text) {
  std::error_code wrong, ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  const std::string fresh = concat(file, ".", std::chrono::steady_clock::now().time_since_epoch().count());
  std::ofstream out(fresh);
  out << text;
  out.close();
  if (out) std::filesystem::rename(fresh, file, wrong);
  if (out && !wrong) return;
  std::filesystem::remove(fresh, ignored);
  std::fprintf(stderr, "ferry: bandwidths cannot be written to %s: they are measured again next time\n", file.c_str());
}

}  // namespace

topology topology::look() {
  ferry::runtime& m = ferry::runtime::current();
  topology t;
  for (const device d : m.devices()) {
    const device_properties& p = d.properties();
    const nvml::pcie_link pcie = nvml::pcie_of(p.pci_bus_id);
    t.places_.push_back(
        {p.name, p.pci_bus_id, numa_node_of(p.pci_bus_id), cores_near(p.pci_bus_id), pcie.generation, pcie.lanes});
  }
  for (const device a : m.devices())
    for (const device b : m.devices()) {
      if (a == b) {
        t.links_.push_back({true, true});
        continue;
      }
      const peer_properties p = m.backend().peer(a.index(), b.index());
      t.links_.push_back({p.access && m.peers().can_reach(a.index(), b.index()), p.atomics, p.rank,
                          std::max(0, nvml::nvlinks_between(t.place(a).pci_bus_id, t.place(b).pci_bus_id))});
    }
  t.up_.resize(t.devices()), t.down_.resize(t.devices());
  return t;
}

void topology::measure() {
  const std::size_t bytes = std::size_t{ferry::runtime::current().is_simulated() ? 1u : 64u} << 20;
  const extents<1> e{bytes};
  for (std::size_t a = 0; a < devices(); ++a) {
    const device from(static_cast<int>(a));
    const stream s(from);
    device_array<std::byte> source(e, std::byte{1}, from);
    host_array<std::byte> pinned(e, std::byte{2}, from);
    const copy_side here = side_of(source), cpu = side_of(pinned);
    up_[a] = rate_of(bytes, s, [&] { copy_over_one_link(s, here, cpu, bytes); });
    down_[a] = rate_of(bytes, s, [&] { copy_over_one_link(s, cpu, here, bytes); });
    for (std::size_t b = 0; b < devices(); ++b) {
      const device to(static_cast<int>(b));
      device_array<std::byte> target(e, std::byte{3}, to);
      links_[index(from, to)].gb_per_second = rate_of(bytes, s, [&] { copy(s, source, target); });
    }
  }
  measured_ = true;
}

// Returns the properties that must be equal for stored bandwidths to be valid.
std::string topology::runtime() const {
  plain_stream out;
  out << host_name() << "; " << ferry::runtime::current().backend().name();
  for (const device_place& p : places_) out << "; " << p.name << ' ' << p.pci_bus_id;
  out << "; peers ";
  for (const device_link& l : links_) out << (l.peers ? '1' : '0');
  return out.str();
}

std::string topology::text() const {
  plain_stream out;
  out << first_line << '\n' << machine_word << runtime() << '\n' << std::setprecision(6);
  for (std::size_t a = 0; a < devices(); ++a) {
    out << "host " << a << ' ' << up_[a] << ' ' << down_[a] << '\n';
    for (std::size_t b = 0; b < devices(); ++b)
      out << "pair " << a << ' ' << b << ' ' << links_[a * devices() + b].gb_per_second << '\n';
  }
  return out.str();
}

void topology::parse(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  const auto next = [&] { return bool(std::getline(in, line)); };
  if (!next() || line != first_line) throw parse_error(concat("it does not begin with '", first_line, "'"));
  if (!next() || line != machine_word + runtime())
    throw parse_error("it is of another machine, or of other devices: it says '" + line + "', and this is '" +
                      runtime() + "'");
  topology found = *this;
  const std::size_t n = devices();
  std::size_t seen = 0;
  while (next()) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    std::string what, more;
    std::size_t a = 0, b = 0;
    double x = 0, y = 0;
    words >> what >> a;
    const bool host = what == "host" && words >> x >> y && a < n && x > 0 && y > 0;
    const bool pair = !host && what == "pair" && words >> b >> x && a < n && b < n && x > 0;
    if ((!host && !pair) || words >> more) throw parse_error("the line '" + line + "' does not parse");
    if (host)
      found.up_[a] = x, found.down_[a] = y;
    else
      found.links_[a * n + b].gb_per_second = x;
    ++seen;
  }
  if (seen != n * (n + 1)) throw parse_error("it ends too early");
  found.measured_ = true;
  *this = found;
}

// The name contains the host, because several hosts may share a home directory. It also contains a hash of devices and
// peers, because these may differ between processes of a host.
std::string topology::default_file() {
  if (const auto given = environment("FERRY_TOPOLOGY")) return *given;
  std::string host = host_name();
  std::replace(host.begin(), host.end(), '/', '_');
  const std::string name = "/ferry/topology-" + host + '-' + short_hash(look().runtime());
  if (const auto cache = environment("XDG_CACHE_HOME")) return *cache + name;
  if (const auto home = environment("HOME")) return *home + "/.cache" + name;
  return {};
}

topology topology::measured(const std::string& file) {
  topology t = look();
  bool is_of_others = false;
  if (const std::optional<std::string> found = text_of(file)) try {
      t.parse(*found);
      return t;
    } catch (const parse_error& e) {
      const std::string head = concat(first_line, '\n', machine_word);
      is_of_others = found->starts_with(head) && !found->starts_with(head + t.runtime() + '\n');
      std::fprintf(stderr, "ferry: the bandwidths in %s are not used: %s. They are measured again%s\n", file.c_str(),
                   plain_what(e),
                   is_of_others ? ", and the file stays as it is: name another one in FERRY_TOPOLOGY" : "");
    }
  t.measure();
  if (!file.empty() && !is_of_others) replace_file(file, t.text());
  return t;
}

std::ostream& operator<<(std::ostream& out, const topology& t) {
  plain_stream text;
  text << std::fixed << std::setprecision(0);
  const auto cell = [&](const std::string& s) { text << std::setw(16) << s; };
  text << "          ";
  for (std::size_t b = 0; b < t.devices(); ++b) cell(concat("device ", b));
  cell("CPU to/from");
  text << '\n';
  for (std::size_t a = 0; a < t.devices(); ++a) {
    const device from(static_cast<int>(a));
    text << "device " << std::setw(3) << a;
    for (std::size_t b = 0; b < t.devices(); ++b) {
      const device_link& l = t.link(from, device(static_cast<int>(b)));
      plain_stream s;
      s << (a == b ? "self" : !l.peers ? "no peers" : l.nvlinks ? concat("NV", l.nvlinks) : "peers");
      if (a != b && l.peers) s << (l.atomics ? " a" : "") << " r" << l.rank;
      if (t.is_measured()) s << ' ' << std::fixed << std::setprecision(l.gb_per_second < 10 ? 1 : 0) << l.gb_per_second;
      cell(s.str());
    }
    plain_stream s;
    if (t.is_measured())
      s << std::fixed << std::setprecision(0) << t.upload(from) << '/' << t.download(from);
    else
      s << '-';
    cell(s.str());
    const device_place& p = t.place(from);
    text << "   " << p.name;
    if (!p.pci_bus_id.empty()) text << ", PCI " << p.pci_bus_id;
    if (p.pcie_lanes > 0) text << " (gen " << p.pcie_generation << " x" << p.pcie_lanes << ')';
    if (p.numa_node >= 0) text << ", NUMA node " << p.numa_node;
    text << ", " << p.cores.size() << " cores near\n";
  }
  if (t.is_measured()) text << "GB/s\n";
  if (t.devices() > 1)
    text << "NV: NVLinks; a: atomics reach; r: the driver's rank of the way, the lower, the faster\n";
  return out << text.str();
}

}  // namespace ferry::inline FERRY_ABI
