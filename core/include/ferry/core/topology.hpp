// How the devices, the memory and the cores of a computer hang together.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "ferry/core/device.hpp"

namespace ferry {

// Where a device is.
struct device_place {
  std::string name, pci_bus_id;             // "0000:1b:00.0"; empty where there is none
  int numa_node = -1;                       // -1: unknown
  std::vector<int> cores;                   // near it, that this process may use
  int pcie_generation = 0, pcie_lanes = 0;  // 0: unknown
};

// The way from one device's kernels to another's memory.
struct device_link {
  bool peers = false, atomics = false;
  int rank = 0;              // the driver's: the lower, the faster
  int nvlinks = 0;           // 0: none, or unknown
  double gb_per_second = 0;  // of copies, by whatever route; 0: not measured
};

// A value: what was found when it was made.
class topology {
 public:
  // Asks the driver, NVML and hwloc where they are present, and Linux. Measures nothing, grants nothing.
  static topology look();
  // The same with bandwidths: those of the file if it is of this machine, else measured now (some milliseconds a pair,
  // 128 MiB of each device) and written there. stderr says why a file is not used, or cannot be written: one that does
  // not parse is replaced, one of another machine, or of other devices of this one, stays as it is.
  static topology measured(const std::string& file = default_file());
  // $FERRY_TOPOLOGY, else ferry/topology-HOST-HASH in $XDG_CACHE_HOME or ~/.cache, by devices and peers; empty: no file.
  static std::string default_file();

  std::size_t devices() const { return places_.size(); }
  const device_place& place(device d) const { return places_.at(static_cast<std::size_t>(d.index())); }
  // from == to: within one device.
  const device_link& link(device from, device to) const { return links_.at(index(from, to)); }
  // GB/s of pinned memory to and from a device, over its own link; 0: not measured.
  double upload(device d) const { return up_.at(static_cast<std::size_t>(d.index())); }
  double download(device d) const { return down_.at(static_cast<std::size_t>(d.index())); }
  bool is_measured() const { return measured_; }

  // As the file holds it; parse() takes only what belongs to this machine, and throws parse_error that says why not.
  std::string text() const;
  void parse(const std::string& text);
  // Measures everything now.
  void measure();

 private:
  std::size_t index(device a, device b) const {
    return static_cast<std::size_t>(a.index()) * places_.size() + static_cast<std::size_t>(b.index());
  }
  std::string runtime() const;
  std::vector<device_place> places_;
  std::vector<device_link> links_;
  std::vector<double> up_, down_;
  bool measured_ = false;
};

// As a matrix: one row and one column a device, one column for the CPU.
std::ostream& operator<<(std::ostream& out, const topology& t);

}  // namespace ferry
