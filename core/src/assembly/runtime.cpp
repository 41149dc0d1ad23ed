#include "ferry/core/runtime.hpp"

#include <cstdio>
#include <string>

#include "checking/memory_checker.hpp"
#include "copies/copy_engine.hpp"
#include "external/foreign_memory.hpp"
#include "ferry/core/detail/assembly/settings.hpp"
#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_checks.hpp"
#include "ordering/capture.hpp"
#include "runtime/host_pinned_pages.hpp"
#include "runtime/runtime_registry.hpp"
#include "sim/sim_backend.hpp"
#include "support/serial_number.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// FERRY_POOL replaces pool_kind::automatic.
pool_kind chosen_kind(pool_kind asked) {
  if (asked != pool_kind::automatic) return asked;
  const auto text = environment("FERRY_POOL");
  return text ? parse_pool_kind(*text) : pool_kind::split;
}

check_level chosen_level(check_level of_options) {
  const check_level of_environment = check_level_of_environment();
  return of_environment == check_level::usual || of_options == check_level::all ? of_options : of_environment;
}

// Checks the settings before any part of a runtime is made.
std::unique_ptr<backend> checked(std::unique_ptr<detail::backend> backend) {
  check_settings();
  return backend;
}

std::atomic<access_policy::maker>& current_maker() {
  static std::atomic<access_policy::maker> m{nullptr};
  return m;
}

}  // namespace

runtime::runtime(std::unique_ptr<detail::backend> backend, pool_options pools)
    : serial_(next_serial()),
      backend_(checked(std::move(backend))),
      simulated_(backend_->is_simulated()),
      level_(chosen_level(backend_->level())),
      streams_(*backend_),
      memory_(*backend_),
      default_kind_(chosen_kind(pools.kind)),
      peers_(*backend_, backend_->device_count(), peer_policy::from_environment()),
      kept_(std::make_unique<host_pinned_pages>(*this)),
      copies_(std::make_unique<copy_engine>(*this, peers_, copy_options::from_environment())) {
  for (int d = 0; d < backend_->device_count(); ++d) {
    devices_.emplace_back(d);
    properties_.push_back(backend_->properties(d));
    migrates_ = migrates_ && properties_.back().concurrent_managed_access;
    reaches_pageable_ = reaches_pageable_ && properties_.back().pageable_memory_access;
  }
  pools = resolved(pools, default_kind_);
  const auto pools_for = [&](memory_kind kind, int device) {
    pool_options o = options_for(kind, pools, backend_->quirks());
    pool_backend* const driver = backend_->pools();
    if (o.kind == pool_kind::driver && !(driver && driver->has_pools(kind, device))) {
      std::fprintf(stderr, "ferry: the driver has no pools of %s memory on device %d: using a split pool there\n",
                   kind_name(kind), device);
      o = instead(o, pool_kind::split);
    }
    return o;
  };
  for (const memory_kind kind : {memory_kind::device, memory_kind::unified, memory_kind::host})
    for (const device d : devices_) {
      pools_.push_back(make_pool(memory_, streams_, kind, d.index(), pools_for(kind, d.index())));
      memory_.pools().add(*pools_.back());
    }
  foreign_ = std::make_unique<foreign_memory>(*this);
  if (const access_policy::maker make = current_maker().load()) owned_policy_ = make(*this);
  policy_.store(owned_policy_.get(), std::memory_order_relaxed);
  checker_ = std::make_unique<memory_checker>(*this);
  if (const auto text = environment("FERRY_POISON"))
    checker_->set(parse_memory_checks(*text));
  else if (level_ == check_level::all)
    checker_->set(memory_checks());
  for (const auto c : {check::uses, check::halos}) checks.set(c, level_ == check_level::all);
  checks.set(check::pointers,
             level_ == check_level::all || (level_ == check_level::usual && (simulated_ || is_debug_build())));
  memory_.handlers().add({"waiting for all work", handler_order::synchronize, [this](const memory_demand& demand) {
                            if (this_thread_state.capture) return std::size_t{0};
                            streams_.synchronize();
                            return memory_.reclaim(demand.device);
                          }});
}

access_policy::maker access_policy::exchange_maker(maker m) { return current_maker().exchange(m); }

runtime::~runtime() {
  for (auto& p : pools_) memory_.pools().remove(*p);
  for (auto& p : extra_) memory_.pools().remove(*p);
}

std::size_t runtime::trim_lanes(memory_kind kind, int device) { return copies_->lanes().trim(kind, device); }

void runtime::synchronized() noexcept {
  foreign_->collect();
  checker_->look();
}

const device_properties& runtime::properties(int device) const {
  if (device < 0 || static_cast<std::size_t>(device) >= properties_.size())
    throw invalid_argument("there is no device " + std::to_string(device) + ": this machine has devices 0 to " +
                           std::to_string(properties_.size() - 1) + " (see ferry::devices())");
  return properties_[static_cast<std::size_t>(device)];
}

memory_pool& runtime::take_pool(memory_kind kind, int device, const pool_options& given) {
  (void)properties(device);
  const pool_options options = options_for(kind, given, backend_->quirks());
  std::lock_guard lock(extra_mutex_);
  for (memory_pool*& p : stock_)
    if (p->kind() == kind && p->device() == device && p->options() == options) {
      memory_pool& taken = *p;
      p = stock_.back();
      stock_.pop_back();
      return taken;
    }
  stock_.reserve(extra_.size() + 1);  // give_back_pool() must not fail
  extra_.push_back(make_pool(memory_, streams_, kind, device, options));
  memory_.pools().add(*extra_.back());
  return *extra_.back();
}

void runtime::give_back_pool(memory_pool& p) noexcept {
  std::lock_guard lock(extra_mutex_);
  stock_.push_back(&p);
}

pool_statistics runtime::all_pools() const {
  pool_statistics all;
  for (const auto& p : pools_) all += p->statistics();
  std::lock_guard lock(extra_mutex_);
  for (const auto& p : extra_) all += p->statistics();
  return all;
}

std::size_t runtime::allocations() const {
  return all_pools().allocations + foreign_->count() - checker_->quarantined();
}

peer_memory runtime::peer_class_of_arrays(int device) const {
  const memory_pool& p =
      *pools_[static_cast<std::size_t>(memory_kind::device) * devices_.size() + static_cast<std::size_t>(device)];
  return p.options().kind == pool_kind::driver ? peer_memory::pooled : peer_memory::plain;
}

void runtime::grant_peer(int device, int owner, peer_memory sort) {
  if (peers_.grant(device, owner, sort)) return;
  throw peer_access_error("a kernel on device " + std::to_string(device) + " (" + properties(device).name +
                          ") uses memory of device " + std::to_string(owner) + " (" + properties(owner).name +
                          "), which it does not reach: " + peers_.why_not(device, owner, sort) +
                          ". Copy the array to device " + std::to_string(device) +
                          " first (ferry::to), run the kernel on device " + std::to_string(owner) +
                          ", use a unified array, or set FERRY_PEER_KERNELS=stage");
}

void runtime::test_links_of_pages(int device) {
  if (this_thread_state.capture) return this_thread_state.capture->uses_pages(device);
  if (!this_thread_state.submitting) peers_.add_page_user(device);
}

void runtime::pin_pages_to_host(timeline& on, std::span<const access> uses) {
  if (!this_thread_state.capture && !this_thread_state.submitting) kept_->keep(on, uses);
}

runtime_scope::runtime_scope(std::unique_ptr<detail::backend> backend, pool_options pools)
    : runtime_(std::make_shared<runtime>(std::move(backend), pools)) {
  before_ = runtime_registry::exchange(runtime_);
}

runtime_scope::~runtime_scope() {
  try {
    runtime_->streams().synchronize();
    (void)runtime_->checker().check();
  } catch (const error& e) {
    std::fprintf(stderr, "ferry: at the end of a simulated machine: %s\n", plain_what(e));
  }
  runtime_registry::exchange(before_);
  if (const std::size_t left = runtime_->allocations(); left > 0) {
    std::fprintf(stderr, "ferry: %zu arrays outlive their runtime, which stays in memory for them\n", left);
    runtime_registry::keep_forever(runtime_);
  }
}

simulation::simulation(std::string_view options, pool_options pools)
    : runtime_scope(sim::make_backend(sim::parse_options(options)), pools) {}

}  // namespace ferry::inline FERRY_ABI
