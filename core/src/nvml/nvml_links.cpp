#include "nvml_links.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "ferry/core/detail/support/dynamic_library.hpp"

namespace ferry::inline FERRY_ABI::detail::nvml {
namespace {

// The used part of NVML's interface, according to its documentation: the build needs no NVML header.
using device_handle = struct opaque_device*;
struct pci_info {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
constexpr int success = 0, not_supported = 3, remote_is_switch = 2;
constexpr unsigned most_links = 18;

struct library {
  int (*init)() = nullptr;
  int (*handle)(const char*, device_handle*) = nullptr;
  int (*state)(device_handle, unsigned, int*) = nullptr;
  int (*remote_type)(device_handle, unsigned, int*) = nullptr;
  int (*remote)(device_handle, unsigned, pci_info*) = nullptr;
  int (*generation)(device_handle, unsigned*) = nullptr;
  int (*width)(device_handle, unsigned*) = nullptr;
  bool usable = false;

  library() {
    detail::dynamic_library so({"libnvidia-ml.so.1"}, detail::dynamic_library::binding::lazy);
    so.need(init, "nvmlInit_v2");
    so.need(handle, "nvmlDeviceGetHandleByPciBusId_v2");
    so.need(state, "nvmlDeviceGetNvLinkState");
    so.need(remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType");
    so.need(remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    so.need(generation, "nvmlDeviceGetMaxPcieLinkGeneration");
    so.need(width, "nvmlDeviceGetMaxPcieLinkWidth");
    usable = so.missing().empty() && init() == success;
  }
};

const library& loaded() {
  static const library l;
  return l;
}

device_handle find(const std::string& pci) {
  device_handle d = nullptr;
  return !pci.empty() && loaded().usable && loaded().handle(pci.c_str(), &d) == success ? d : nullptr;
}

// True for "0000:1b:00.0" and "00000000:1B:00.0": compares the last 12 characters in lower case.
bool same_bus(const std::string& a, const std::string& b) {
  const auto tail = [](const std::string& s) {
    std::string t = s.substr(s.size() - std::min<std::size_t>(s.size(), 12));
    std::transform(t.begin(), t.end(), t.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return t;
  };
  return tail(a) == tail(b);
}

struct active_links {
  bool known = false;
  int to_switches = 0;
  std::vector<std::string> to;  // bus IDs of the remote ends of the other links
};

active_links links_of(const std::string& pci) {
  active_links found;
  const device_handle d = find(pci);
  for (unsigned i = 0; d && i < most_links; ++i) {
    int active = 0, type = 0;
    pci_info other{};
    const int answer = loaded().state(d, i, &active);
    // not_supported: the device has no links
    found.known = found.known || answer == success || answer == not_supported;
    if (answer != success || !active) continue;
    if (loaded().remote_type(d, i, &type) == success && type == remote_is_switch)
      ++found.to_switches;
    else if (loaded().remote(d, i, &other) == success)
      found.to.emplace_back(other.bus_id, strnlen(other.bus_id, sizeof other.bus_id));
  }
  return found;
}

}  // namespace

int nvlinks_between(const std::string& from_pci, const std::string& to_pci) {
  const active_links a = links_of(from_pci), b = links_of(to_pci);
  if (!a.known || !b.known) return -1;
  const auto straight = std::count_if(a.to.begin(), a.to.end(), [&](const auto& id) { return same_bus(id, to_pci); });
  return straight > 0 ? static_cast<int>(straight) : std::min(a.to_switches, b.to_switches);
}

pcie_link pcie_of(const std::string& pci) {
  unsigned generation = 0, lanes = 0;
  const device_handle d = find(pci);
  if (!d || loaded().generation(d, &generation) != success || loaded().width(d, &lanes) != success) return {};
  return {static_cast<int>(generation), static_cast<int>(lanes)};
}

}  // namespace ferry::inline FERRY_ABI::detail::nvml
