#include "checking/memory_checker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The checker's own work does not become part of a captured graph.
class outside_capture {
 public:
  outside_capture() : capture_(std::exchange(this_thread_state.capture, nullptr)) {}
  ~outside_capture() { this_thread_state.capture = capture_; }
  outside_capture(const outside_capture&) = delete;
  outside_capture& operator=(const outside_capture&) = delete;

 private:
  capture_session* capture_;
};

// Runs the checks after main: the only driver calls at that time. Arrays with static lifetime may be destroyed by then,
// or not.
void look_when_the_program_ends(std::uint64_t serial) {
  static std::mutex mutex;
  static auto* machines = new std::vector<std::uint64_t>;
  const std::lock_guard lock(mutex);
  if (machines->empty())
    std::atexit([] {
      for (const std::uint64_t known : *machines) try {
          runtime_registry::if_alive(known, [](runtime& m) { (void)m.checker().check(); });
        } catch (const std::exception&) {  // the driver has shut down first
        }
    });
  if (std::find(machines->begin(), machines->end(), serial) == machines->end()) machines->push_back(serial);
}

}  // namespace

memory_checker::memory_checker(runtime& m)
    : memory_resource(m.backend()),
      runtime_(m),
      streams_(m.streams(), m.devices().size()),
      slots_(m.backend()),
      nodes_(*this) {
  ungranted_.store(~std::uint64_t{0}, std::memory_order_relaxed);  // the blocks' own resources track grants
  handler_ = m.memory().handlers().add({"end of the quarantine of freed blocks", handler_order::quarantine,
                                        [this](const memory_demand&) { return release(); }});
}

memory_checker::~memory_checker() {
  runtime_.memory().handlers().remove(handler_);
  release();
  look_at_copies(true);
}

void memory_checker::set(const std::optional<memory_checks>& what) {
  if (what && what->red_zone % 256 != 0)
    throw invalid_argument(
        concat("a red zone of ", what->red_zone, " bytes: it must be a multiple of 256, so that arrays stay aligned"));
  if (what && what->red_zone > most_bytes_at_once)
    throw invalid_argument(
        concat("a red zone of ", what->red_zone, " bytes: more than any computer has addresses for"));
  if (!what) retire_late_ones();
  std::lock_guard lock(mutex_);
  settings_ = what;
  is_on_.store(what.has_value(), std::memory_order_relaxed);
  runtime_.checks.set(check::poison, what && what->poison);
  if (what) look_when_the_program_ends(runtime_.serial());
}

std::optional<memory_checks> memory_checker::settings() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

allocation* memory_checker::at(const std::byte* p) const {
  std::lock_guard lock(mutex_);
  for (const auto& [node, b] : live_)
    if (node->begin <= p && p < node->begin + node->bytes) return node;
  return nullptr;
}

timeline& memory_checker::line(int device) {
  std::lock_guard lock(mutex_);
  return streams_.of(device);
}

void memory_checker::grant_peer(const allocation& a, int device) { a.after->resource->need_peer(*a.after, device); }

// Submits work ordered like any use of the bytes. It runs on a stream of the checker, so that the program's streams are
// unaffected.
ticket memory_checker::submit(allocation& of, byte_range where, bool write,
                              const std::function<void(native_stream)>& work) {
  const outside_capture outside;
  timeline& on = line(of.device);
  access use{&of, where, write};
  {
    access_guard guard(admission::unchecked(on, {&use, 1}));
    work(on.stream());
  }
  return on.last();
}

void memory_checker::fill(native_stream s, byte_range where, std::byte value) const {
  if (where.size() == 0) return;
  backend().fill_strided(s, {const_cast<std::byte*>(where.begin), {1}}, {1, 1, {where.size()}}, &value);
}

allocation* memory_checker::take_node() {
  std::lock_guard lock(mutex_);
  return &nodes_.take();
}

void memory_checker::give_back_node(allocation* a) noexcept {
  std::lock_guard lock(mutex_);
  std::lock_guard log(a->history);
  a->history.invalidate();
  nodes_.give_back(*a);
}

allocation_ref memory_checker::allocate(std::size_t bytes, const std::function<allocation_ref(std::size_t)>& pool) {
  retire_late_ones();
  const memory_checks how = settings().value_or(memory_checks());
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, 2 * how.red_zone, &all)) all = SIZE_MAX;  // too large for any pool
  allocation_ref inner = pool(all);
  allocation& block_of_pool = inner.get();
  allocation* const node = take_node();
  node->begin = block_of_pool.begin + how.red_zone;
  node->bytes = bytes;
  node->kind = block_of_pool.kind;
  node->device = block_of_pool.device;
  node->is_pooled = block_of_pool.is_pooled;
  node->tag = block_of_pool.tag;
  node->after = &block_of_pool;
  node->name.clear();
  {
    std::lock_guard outer_log(node->history);
    node->history.invalidate();
    std::lock_guard inner_log(block_of_pool.history);
    node->history.merge(block_of_pool.history);
  }
  block b;
  b.node = node;
  b.inner = std::move(inner);
  b.zone = how.red_zone;
  b.what.kind = node->kind;
  b.what.device = node->device;
  b.what.address = node->begin;
  b.what.bytes = bytes;
  {
    std::lock_guard lock(mutex_);
    b.serial = ++made_;
    live_.emplace(node, std::move(b));
  }
  try {
    const byte_range whole{block_of_pool.begin, node->begin + bytes + how.red_zone};
    submit(*node, whole, true, [&](native_stream s) {
      fill(s, {whole.begin, node->begin}, zone_byte);
      if (how.poison) fill(s, node->range(), poison_byte);
      fill(s, {node->range().end, whole.end}, zone_byte);
    });
  } catch (...) {  // the device has failed, or the call is inside a submission: nothing uses the block
    std::lock_guard lock(mutex_);
    live_.erase(node);
    give_back_node(node);
    throw;
  }
  return allocation_ref::first(*node);
}

void memory_checker::poison(allocation& a) {
  submit(a, a.range(), true, [&](native_stream s) { fill(s, a.range(), poison_byte); });
}

void memory_checker::rename(allocation& a, std::string text) {
  runtime_.memory().arrays().name(*a.after, text);
  std::lock_guard lock(mutex_);  // check() reads names
  a.name = std::move(text);
}

// The name and tag stay in the node: a fault found now belongs to the freed array.
void memory_checker::retain(allocation& a) noexcept {
  allocation& inner = *a.after;
  runtime_.memory().retain(inner, retained_by::workspace);
  inner.name.clear();
}

void memory_checker::reissue(allocation& a) {
  allocation& inner = *a.after;
  runtime_.memory().reissue(inner);
  std::lock_guard lock(mutex_);
  a.name.clear();
  a.tag = inner.tag;
}

}  // namespace ferry::inline FERRY_ABI::detail
