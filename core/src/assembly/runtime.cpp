#include "ferry/core/runtime.hpp"

#include <cstdio>
#include <string>

#include "assembly/backend_choice.hpp"
#include "checking/memory_checker.hpp"
#include "copies/copy_engine.hpp"
#include "external/foreign_memory.hpp"
#include "ferry/core/detail/assembly/settings.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_checks.hpp"
#include "ordering/capture.hpp"
#include "runtime/runtime_registry.hpp"
#include "support/serial_number.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

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
      backend_(checked(std::move(backend)).release()),
      simulated_(backend_->is_simulated()),
      level_(chosen_level(backend_->level())),
      streams_(make_owning<timelines>(*backend_)),
      memory_(make_owning<memory_accounting>(*backend_)),
      pools_(make_owning<runtime_pools>(*memory_, *streams_, pools)),
      peers_(make_owning<peer_grants>(*backend_, backend_->device_count(), peer_policy::from_environment())),
      copies_(make_owning<copy_engine>(*this, *peers_, copy_options::from_environment())) {
  bool can_migrate = true;
  for (int d = 0; d < backend_->device_count(); ++d) {
    devices_.emplace_back(d);
    properties_.push_back(backend_->properties(d));
    can_migrate = can_migrate && properties_.back().concurrent_managed_access;
    reaches_pageable_ = reaches_pageable_ && properties_.back().pageable_memory_access;
  }
  pages_ = make_owning<unified_pages>(*this, can_migrate);
  foreign_ = make_owning<foreign_memory>(*this);
  if (const access_policy::maker make = current_maker().load())
    owned_policy_ = owning_ptr<access_policy>(make(*this).release());
  policy_.store(owned_policy_.get(), std::memory_order_relaxed);
  checker_ = make_owning<memory_checker>(*this);
  if (const auto text = environment("FERRY_POISON"))
    checker_->set(parse_memory_checks(*text));
  else if (level_ == check_level::all)
    checker_->set(memory_checks());
  for (const auto c : {check::uses, check::halos}) checks.set(c, level_ == check_level::all);
  checks.set(check::pointers,
             level_ == check_level::all || (level_ == check_level::usual && (simulated_ || is_debug_build())));
  memory_->handlers().add({"waiting for all work", handler_order::synchronize, [this](const memory_demand& demand) {
                             if (this_thread_state.capture) return std::size_t{0};
                             streams_->synchronize();
                             return memory_->reclaim(demand.device);
                           }});
}

access_policy::maker access_policy::exchange_maker(maker m) { return current_maker().exchange(m); }

runtime::~runtime() = default;

std::size_t runtime::trim_lanes(memory_kind kind, int device) { return copies_->lanes().trim(kind, device); }

void runtime::synchronized() noexcept {
  foreign_->collect();
  checker_->look();
}

const device_properties& runtime::properties(int device) const {
  if (device < 0 || static_cast<std::size_t>(device) >= properties_.size())
    throw invalid_argument(concat("there is no device ", device, ": this machine has devices 0 to ",
                                  properties_.size() - 1, " (see ferry::devices())"));
  return properties_[static_cast<std::size_t>(device)];
}

std::size_t runtime::allocations() const {
  return pools_->statistics().allocations + foreign_->count() - checker_->quarantined();
}

memory_pool& runtime::pool(memory_kind kind, int device) {
  if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) (void)properties(device);
  return pools_->of(kind, device);
}

bool runtime::migrates_unified() const { return pages_->migrate(); }

bool runtime::can_reach(int device, int owner) const {
  return peers_->stages_kernels() || peers_->can_reach(device, owner, pools_->peer_class(owner));
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

simulation::simulation(std::string_view options, pool_options pools) : runtime_scope(make_simulator(options), pools) {}

}  // namespace ferry::inline FERRY_ABI
