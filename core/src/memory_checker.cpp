#include "memory_checker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <utility>

#include "ferry/core/access_guard.hpp"
#include "ferry/core/array_view.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "machine_registry.hpp"
#include "memory_sizes.hpp"

namespace ferry {
namespace {

// Poison reads as NaN; red zones do not, for NaN and -1 are what programs write past the end.
constexpr std::byte poison_byte{0xFF}, zone_byte{0xFA};
constexpr std::size_t looked_at = 256;  // of each end of a freed block

allocation* new_node() {
  static std::mutex mutex;
  static auto* all = new std::list<allocation>;  // arrays that are stale may look at them
  std::lock_guard lock(mutex);
  return &all->emplace_back();
}

// The checker's own work belongs to no graph.
class outside_capture {
 public:
  outside_capture() : kept_(std::exchange(this_thread_state.capture, nullptr)) {}
  ~outside_capture() { this_thread_state.capture = kept_; }
  outside_capture(const outside_capture&) = delete;
  outside_capture& operator=(const outside_capture&) = delete;

 private:
  capture_session* kept_;
};

// After main, and so the one thing that asks the driver then. Arrays with static lifetime may be gone by now, or not.
void look_when_the_program_ends(std::uint64_t serial) {
  static std::mutex mutex;
  static auto* machines = new std::vector<std::uint64_t>;
  const std::lock_guard lock(mutex);
  if (machines->empty())
    std::atexit([] {
      for (const std::uint64_t known : *machines) try {
          machine_registry::if_alive(known, [](machine& m) { (void)m.checker().check(); });
        } catch (const std::exception&) {  // the driver has gone first
        }
    });
  if (std::find(machines->begin(), machines->end(), serial) == machines->end()) machines->push_back(serial);
}

std::size_t edge_of(std::size_t bytes) { return std::min(bytes, looked_at); }

}  // namespace

memory_checker::memory_checker(machine& m)
    : allocation_home(m.verbs()),
      machine_(m),
      lines_(m.devices().size(), nullptr),
      slots_(m.verbs()) {
  ungranted_.store(~std::uint64_t{0}, std::memory_order_relaxed);  // the homes of the blocks know
  rung_ = m.memory().add_rung({"end of the quarantine of freed blocks", rung_order::quarantine,
                               [this](const memory_demand&) { return release(); }});
}

memory_checker::~memory_checker() {
  machine_.memory().remove_rung(rung_);
  release();
  look_at_copies(true);
  for (timeline* t : lines_)
    if (t) machine_.streams().give_back(*t);
}

void memory_checker::set(const std::optional<memory_checks>& what) {
  if (what && what->red_zone % 256 != 0)
    throw invalid_argument("a red zone of " + std::to_string(what->red_zone) +
                           " bytes: it must be a multiple of 256, so that arrays stay aligned");
  if (what && what->red_zone > most_bytes_at_once)
    throw invalid_argument("a red zone of " + std::to_string(what->red_zone) +
                           " bytes: more than any computer has addresses for");
  if (!what) retire_late_ones();
  std::lock_guard lock(mutex_);
  settings_ = what;
  machine_.checks_arrays.store(what.has_value(), std::memory_order_relaxed);
  machine_.poisons.store(what && what->poison, std::memory_order_relaxed);
  if (what) look_when_the_program_ends(machine_.serial());
}

std::optional<memory_checks> memory_checker::settings() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

timeline& memory_checker::line(int device) {
  std::lock_guard lock(mutex_);
  timeline*& t = lines_[static_cast<std::size_t>(device)];
  if (!t) t = &machine_.streams().take(device, 0);
  return *t;
}

void memory_checker::grant_peer(int device) {
  std::vector<allocation_home*> homes;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [node, b] : live_)
      if (auto* const h = b.inner.get().home; std::find(homes.begin(), homes.end(), h) == homes.end())
        homes.push_back(h);
  }
  for (allocation_home* h : homes) h->need_peer(device);
}

// Ordered like any use of the bytes, on a stream of the checker's own, so that the program's streams stay what they were.
template <class Work>
ticket memory_checker::submit(allocation& of, byte_range where, bool write, Work work) {
  const outside_capture outside;
  timeline& on = line(of.device);
  access use{&of, where, write};
  {
    access_guard guard(on, {&use, 1});
    work(on.stream());
  }
  return on.last();
}

void memory_checker::fill(native_stream s, byte_range where, std::byte value) const {
  if (where.size() == 0) return;
  verbs().fill_strided(s, {const_cast<std::byte*>(where.begin), {1}}, {1, 1, {where.size()}}, &value);
}

allocation* memory_checker::take_node() {
  std::lock_guard lock(mutex_);
  if (spare_.empty()) {
    spare_.reserve(++nodes_);  // giving back must not fail
    return new_node();
  }
  allocation* const a = spare_.back();
  spare_.pop_back();
  return a;
}

void memory_checker::give_back_node(allocation* a) noexcept {
  {
    std::lock_guard lock(a->log);
    a->log.invalidate();
    a->log.keep_only({});
  }
  std::lock_guard lock(mutex_);
  spare_.push_back(a);
}

allocation_ref memory_checker::allocate(std::size_t bytes, const std::function<allocation_ref(std::size_t)>& pool) {
  retire_late_ones();
  const memory_checks how = settings().value_or(memory_checks());
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, 2 * how.red_zone, &all)) all = SIZE_MAX;  // which no pool has
  allocation_ref inner = pool(all);
  allocation& block_of_pool = inner.get();
  allocation* const node = take_node();
  node->home = this;
  node->begin = block_of_pool.begin + how.red_zone;
  node->bytes = bytes;
  node->kind = block_of_pool.kind;
  node->device = block_of_pool.device;
  node->is_pooled = block_of_pool.is_pooled;
  node->tag = block_of_pool.tag;
  node->after = &block_of_pool;
  node->name.clear();
  {
    std::lock_guard outer_log(node->log);
    node->log.invalidate();
    std::lock_guard inner_log(block_of_pool.log);
    node->log.inherit(block_of_pool.log);
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
  } catch (...) {  // the device is broken, or the call came from inside a submission: nothing uses the block
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
  machine_.memory().name(*a.after, text);
  std::lock_guard lock(mutex_);  // check() reads names
  a.name = std::move(text);
}

// Its name and tag stay with the node: a fault that is found now is that of the array that is gone.
void memory_checker::set_aside(allocation& a) noexcept {
  allocation& inner = *a.after;
  machine_.memory().set_aside(inner, kept_by::workspace);
  inner.name.clear();
}

void memory_checker::hand_out(allocation& a) {
  allocation& inner = *a.after;
  machine_.memory().hand_out(inner);
  std::lock_guard lock(mutex_);
  a.name.clear();
  a.tag = inner.tag;
}

void memory_checker::deallocate(allocation& a) noexcept {
  if (!this_thread_state.submitting) return retire(leave_live(a));
  late_.add(a);
}

memory_checker::block memory_checker::leave_live(allocation& a) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = live_.find(&a);
  block b = std::move(at->second);
  live_.erase(at);
  b.what.name = a.name.get();
  return b;
}

std::size_t memory_checker::retire_late_ones() noexcept {
  std::size_t bytes = 0;
  late_.take_all([&](allocation& a) {
    bytes += a.bytes;
    retire(leave_live(a));
  });
  return bytes;
}

// The edges of a block as all its uses leave them, to the CPU; then poison.
void memory_checker::copy_edges(const block& b, allocation& of, bool then_poison) {
  const std::byte* const begin = b.what.address;
  const std::byte* const end = begin + b.what.bytes;
  const std::size_t edge = edge_of(b.what.bytes), half = b.zone + edge;
  std::byte* slot = nullptr;
  {
    std::lock_guard lock(mutex_);
    slot = slots_.take(2 * half);
  }
  try {
    const ticket at = submit(of, {begin - b.zone, end + b.zone}, then_poison, [&](native_stream s) {
      verbs().copy(s, slot, begin - b.zone, half);
      verbs().copy(s, slot + half, end - edge, half);
      if (then_poison) fill(s, {begin, end}, poison_byte);
    });
    std::lock_guard lock(mutex_);
    copies_.push_back({b.what, b.serial, b.zone, edge, b.node == nullptr, b.is_poisoned, slot, &line(of.device), at});
    ++waiting_;
  } catch (...) {
    std::lock_guard lock(mutex_);
    slots_.give_back(slot, 2 * half);
    throw;
  }
}

// Nobody refers to the block any more, and nobody waits: it is looked at when its copies are there.
void memory_checker::retire(block b) noexcept {
  allocation* const node = std::exchange(b.node, nullptr);
  allocation& inner = *b.inner.unchecked();
  try {
    b.what.tag = label_text(labels_of(*node).tag);
    const bool poison = machine_.poisons.load(std::memory_order_relaxed);
    block live = b;
    live.node = node;
    copy_edges(live, *node, poison);
    b.is_poisoned = poison;
  } catch (const error&) {  // a broken device, or no memory: the block goes unchecked
  }
  {
    std::lock_guard outer_log(node->log);
    std::lock_guard inner_log(inner.log);
    inner.log.keep_only({});
    inner.log.inherit(node->log);
  }
  give_back_node(node);
  machine_.memory().set_aside(inner, kept_by::checks);
  inner.name.clear();
  std::size_t bytes = 0, blocks = 0;
  {
    std::lock_guard lock(mutex_);
    quarantine_bytes_ += inner.bytes;
    quarantine_.push_back(std::move(b));
    ++kept_;
    bytes = settings_ ? settings_->quarantine_bytes : 0;
    blocks = settings_ ? settings_->quarantine_blocks : 0;
  }
  shrink_quarantine(bytes, blocks);
}

void memory_checker::shrink_quarantine(std::size_t bytes, std::size_t blocks) noexcept {
  for (;;) {
    block b;
    {
      std::lock_guard lock(mutex_);
      if (quarantine_.empty() || (quarantine_bytes_ <= bytes && quarantine_.size() <= blocks)) return;
      b = std::move(quarantine_.front());
      quarantine_.pop_front();
      quarantine_bytes_ -= b.inner.unchecked()->bytes;
    }
    try {
      if (b.is_poisoned && !this_thread_state.submitting) copy_edges(b, *b.inner.unchecked(), false);
    } catch (const error&) {  // as above
    }
    b.inner.free();
    --kept_;
  }
}

std::size_t memory_checker::release() noexcept {
  const std::size_t late = retire_late_ones();  // of which the quarantine may have let go at once
  std::size_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    bytes = quarantine_bytes_;
  }
  shrink_quarantine(0, 0);
  return std::max(late, bytes);
}

void memory_checker::look_at_copies(bool wait) noexcept {
  if (this_thread_state.submitting) return;
  std::lock_guard lock(mutex_);
  for (auto c = copies_.begin(); c != copies_.end();) {
    bool is_there = false;
    try {
      if (wait) c->by->wait(c->at);
      is_there = wait || c->by->poll(c->at);
      if (is_there) look_at(*c);
    } catch (const error&) {  // the device broke: there is nothing to look at
      is_there = true;
    }
    if (!is_there) {
      ++c;
      continue;
    }
    slots_.give_back(c->slot, 2 * (c->zone + c->edge));
    c = copies_.erase(c);
    --waiting_;
  }
}

void memory_checker::look_at(const copied_edges& c) {
  const std::size_t half = c.zone + c.edge;
  const auto piece = [&](memory_fault::place where, std::size_t in_slot, std::size_t count, std::ptrdiff_t offset,
                         std::byte expected) {
    const std::byte* const begin = c.slot + in_slot;
    const auto is_wrong = [&](std::byte b) { return b != expected; };
    const auto* const first = std::find_if(begin, begin + count, is_wrong);
    if (first == begin + count) return;
    memory_fault f = c.what;
    f.where = where;
    f.first = offset + (first - begin);
    f.changed = static_cast<std::size_t>(std::count_if(begin, begin + count, is_wrong));
    report(std::move(f), c.serial);
  };
  const auto bytes = static_cast<std::ptrdiff_t>(c.what.bytes), edge = static_cast<std::ptrdiff_t>(c.edge);
  piece(memory_fault::place::before, 0, c.zone, -static_cast<std::ptrdiff_t>(c.zone), zone_byte);
  piece(memory_fault::place::after, half + c.edge, c.zone, bytes, zone_byte);
  if (!c.was_freed || !c.is_poisoned) return;
  piece(memory_fault::place::freed, c.zone, c.edge, 0, poison_byte);
  if (c.what.bytes > looked_at) piece(memory_fault::place::freed, half, c.edge, bytes - edge, poison_byte);
}

// A fault that is seen around a live array is seen again when it is freed, and when its quarantine ends.
void memory_checker::report(memory_fault f, std::uint64_t serial) {
  if (!told_.insert({serial, f.where}).second) return;
  std::fprintf(stderr, "ferry: %s\n", f.text().c_str());
  faults_.push_back(std::move(f));
}

std::vector<memory_fault> memory_checker::check() {
  refuse_inside_submission("check memory");
  refuse_inside_capture("checking memory");
  retire_late_ones();
  {
    std::lock_guard lock(mutex_);  // who frees them meanwhile waits, or comes late
    for (auto& [node, b] : live_) {
      b.what.name = node->name.get();
      b.what.tag = label_text(labels_of(*node).tag);
      copy_edges(b, *node, false);
    }
    for (const block& b : quarantine_)
      if (b.is_poisoned) copy_edges(b, *b.inner.unchecked(), false);
  }
  look_at_copies(true);
  std::lock_guard lock(mutex_);
  return std::exchange(faults_, {});
}

}  // namespace ferry
