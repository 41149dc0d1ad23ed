/// @file
/// How devices, memory and cores of a computer are connected.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "ferry/core/device.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

/// Location of a device.
struct device_place {
  std::string name, pci_bus_id;             ///< "0000:1b:00.0"; empty where there is none
  int numa_node = -1;                       ///< -1: unknown
  std::vector<int> cores;                   ///< near it, and available to this process
  int pcie_generation = 0, pcie_lanes = 0;  ///< 0: unknown
};

/// Connection from the kernels of one device to the memory of another.
struct device_link {
  bool peers = false, atomics = false;
  int rank = 0;              ///< rank of the driver: lower is faster
  int nvlinks = 0;           ///< 0: none, or unknown
  double gb_per_second = 0;  ///< of copies, by any route; 0: not measured
};

/// Connections of the computer, at the time of construction. A value type.
class topology {
 public:
  /// Queries the driver, NVML and hwloc where they are present, and Linux. Measures nothing and enables no peer access.
  static topology look();
  /// As look(), with bandwidths: from the file if it belongs to this computer, else measured now and written to the
  /// file.
  ///
  /// A measurement takes some milliseconds for each pair of devices, and 128 MiB of each device. stderr reports why a
  /// file is not used or cannot be written. A file that does not parse is replaced. A file of another computer, or of
  /// other devices of this one, does not change.
  /// @param file path of the file; empty for none
  static topology measured(const std::string& file = default_file());
  /// $FERRY_TOPOLOGY, else ferry/topology-HOST-HASH in $XDG_CACHE_HOME or ~/.cache. HASH depends on devices and peers.
  /// Empty for no file.
  static std::string default_file();

  /// Number of devices.
  std::size_t devices() const { return places_.size(); }
  /// Location of a device.
  const device_place& place(device d) const { return places_.at(static_cast<std::size_t>(d.index())); }
  /// Connection between two devices; from == to: within one device.
  const device_link& link(device from, device to) const { return links_.at(index(from, to)); }
  /// GB/s between pinned memory and a device, over its own link; 0: not measured.
  double upload(device d) const { return up_.at(static_cast<std::size_t>(d.index())); }
  double download(device d) const { return down_.at(static_cast<std::size_t>(d.index())); }
  /// True if bandwidths are known.
  bool is_measured() const { return measured_; }

  /// Text form, as in the file.
  std::string text() const;
  /// Reads the text form.
  /// @throws parse_error with the reason, if the text is not of this computer
  void parse(const std::string& text);
  /// Measures all bandwidths now. Blocks.
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

/// Prints a matrix: one row and one column for each device, one column for the CPU.
std::ostream& operator<<(std::ostream& out, const topology& t);

/// @}

}  // namespace ferry::inline FERRY_ABI
