#include "ferry/core/machine.hpp"

#include <cstdio>
#include <string>

#include "ferry/core/error.hpp"
#include "machine_registry.hpp"
#include "sim/sim_backend.hpp"

namespace ferry {
namespace {

constexpr std::size_t kinds = 3;

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

machine::machine(std::unique_ptr<backend> verbs, pool_options pools)
    : serial_(next_serial()),
      verbs_(std::move(verbs)),
      simulated_(verbs_->name() != "cuda"),
      streams_(*verbs_),
      memory_(*verbs_),
      reaches_(static_cast<std::size_t>(verbs_->device_count()) * static_cast<std::size_t>(verbs_->device_count())) {
  for (int d = 0; d < verbs_->device_count(); ++d) {
    devices_.emplace_back(d);
    properties_.push_back(verbs_->properties(d));
    migrates_ = migrates_ && properties_.back().concurrent_managed_access;
  }
  for (const memory_kind kind : {memory_kind::device, memory_kind::unified, memory_kind::host})
    for (const device d : devices_) pools_.push_back(std::make_unique<caching_pool>(memory_, kind, d.index(), pools));
}

machine::~machine() = default;

const device_properties& machine::properties(int device) const {
  if (device < 0 || static_cast<std::size_t>(device) >= properties_.size())
    throw invalid_argument("there is no device " + std::to_string(device) + ": this machine has devices 0 to " +
                           std::to_string(properties_.size() - 1) + " (see ferry::devices())");
  return properties_[static_cast<std::size_t>(device)];
}

caching_pool& machine::pool(memory_kind kind, int device) {
  (void)properties(device);
  static_assert(static_cast<std::size_t>(memory_kind::host) + 1 == kinds);
  return *pools_[static_cast<std::size_t>(kind) * devices_.size() + static_cast<std::size_t>(device)];
}

std::size_t machine::allocations() const {
  std::size_t n = 0;
  for (const auto& p : pools_) n += p->statistics().allocations;
  return n;
}

void machine::grant_peer(int device, int owner) {
  std::lock_guard lock(granting_);
  if (reaches_[index(device, owner)].load(std::memory_order_relaxed)) return;
  if (!verbs_->can_access_peer(device, owner))
    throw peer_access_error("a kernel on device " + std::to_string(device) + " (" + properties(device).name +
                            ") uses memory of device " + std::to_string(owner) + " (" + properties(owner).name +
                            "), and the two cannot be peers: copy the array to device " + std::to_string(device) +
                            " first (ferry::to), run the kernel on device " + std::to_string(owner) +
                            ", or use a unified array");
  verbs_->enable_peer_access(device, owner);
  reaches_[index(device, owner)].store(true, std::memory_order_release);
}

machine_scope::machine_scope(std::unique_ptr<backend> verbs, pool_options pools)
    : machine_(std::make_shared<machine>(std::move(verbs), pools)) {
  before_ = machine_registry::exchange(machine_);
}

machine_scope::~machine_scope() {
  try {
    machine_->streams().synchronize();
  } catch (const error& e) {
    std::fprintf(stderr, "ferry: at the end of a simulated machine: %s\n", e.what());
  }
  machine_registry::exchange(before_);
  if (const std::size_t left = machine_->allocations(); left > 0) {
    std::fprintf(stderr, "ferry: %zu arrays outlive their machine, which stays in memory for them\n", left);
    machine_registry::keep_forever(machine_);
  }
}

simulation::simulation(std::string_view options, pool_options pools)
    : machine_scope(sim::make_backend(sim::parse_options(options)), pools) {}

}  // namespace ferry
