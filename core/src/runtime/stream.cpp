#include "ferry/core/stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/runtime/operation.hpp"
#include "ferry/core/detail/support/thread_object.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "runtime/machine_registry.hpp"
#include "runtime/other_machine.hpp"

namespace ferry {
namespace {

void give_back(std::uint64_t serial, timeline& t) {
  machine_registry::if_alive(serial, [&](machine& m) { m.streams().give_back(t); });
}

// The streams of one thread on one machine, one a device; they go back to its stock when the thread ends.
struct machine_streams {
  explicit machine_streams(machine& m) : serial(m.serial()), by_device(m.devices().size()) {}
  machine_streams(machine_streams&& o) noexcept : serial(o.serial), by_device(std::exchange(o.by_device, {})) {}
  machine_streams& operator=(machine_streams&& o) noexcept {
    std::swap(serial, o.serial);
    std::swap(by_device, o.by_device);
    return *this;
  }
  ~machine_streams() {
    for (timeline* t : by_device)
      if (t) give_back(serial, *t);
  }
  std::uint64_t serial;
  std::vector<timeline*> by_device;
};

bool is_alive(std::uint64_t serial) {
  bool alive = false;
  machine_registry::if_alive(serial, [&](machine&) { alive = true; });
  return alive;
}

// Machines come and go, nested in one another: the streams of the outer ones are kept for when they are current again.
// The one used last stands first.
struct own_streams {
  std::vector<machine_streams> of_machines;
};

machine_streams& own_streams_of(machine& m) {
  std::vector<machine_streams>& own = detail::thread_object<own_streams>::get().of_machines;
  if (!own.empty() && own.front().serial == m.serial()) return own.front();
  auto found = std::find_if(own.begin(), own.end(), [&](const auto& s) { return s.serial == m.serial(); });
  if (found == own.end()) {
    std::erase_if(own, [](const auto& s) { return !is_alive(s.serial); });
    found = own.insert(own.end(), machine_streams(m));
  }
  std::rotate(own.begin(), found, found + 1);
  return own.front();
}

// Work of no array: in the capture of this thread, or in none; inside a submission of this thread, in its turn.
template <class Give>
void give_outside_logs(timeline& t, Give give) {
  if (this_thread_state.capture || this_thread_state.submitting) return give(t.stream());
  t.in_turn([&] { give(t.stream()); });
}

// cudaStreamLegacy and cudaStreamPerThread, as the runtime API defines them.
bool is_default_handle(native_stream s) {
  const auto value = reinterpret_cast<std::uintptr_t>(s.handle);
  return value <= 2;
}

}  // namespace

stream_ref stream_ref::from_native(device d, native_stream s) {
  machine& m = machine::current();
  (void)m.properties(d.index());
  if (const std::optional<int> of = m.verbs().device_of(s); of && *of != d.index())
    throw invalid_argument((is_default_handle(s)
                                ? "from_native: a default stream is of the calling thread's current device, which is "
                                : "from_native: the stream is of ") +
                           (is_default_handle(s) ? std::to_string(*of) : "device " + std::to_string(*of)) +
                           ", and device " + std::to_string(d.index()) +
                           " was named: name the stream's own device, ferry::device(" + std::to_string(*of) + ")");
  const auto origin = is_default_handle(s) ? stream_origin::on_the_spot : stream_origin::foreign;
  return stream_ref(m.streams().foreign(d.index(), s, origin));
}

void stream_ref::release() {
  if (line().origin() == stream_origin::own)
    throw invalid_argument("release() is for streams of from_native: a ferry::stream goes back by its destructor");
  timeline_->family().release_foreign(*timeline_);
}

native_stream stream_ref::native() const {
  line().expose();
  return line().stream();
}

void stream_ref::synchronize() const {
  refuse_inside_submission("synchronize");
  refuse_inside_capture("synchronize");
  line().synchronize();
  machine::current().synchronized();
  machine::current().memory().at_synchronization();
}

void synchronize() {
  refuse_inside_submission("synchronize");
  refuse_inside_capture("synchronize");
  machine& m = machine::current();
  m.streams().synchronize();
  m.synchronized();
  m.memory().at_synchronization();
  for (const device d : m.devices())
    if (const std::string why = d.failure(); !why.empty())
      throw device_error("device " + std::to_string(d.index()) + " has failed: " + why);
}

event stream_ref::record() const { return event(*this); }

void stream_ref::wait(const event& e) const {
  detail::need_current(*this);
  const native_event passed = e.current();
  give_outside_logs(line(), [&](native_stream n) { machine::current().verbs().wait(n, passed); });
}

void stream_ref::wait(stream_ref other) const {
  refuse_inside_submission("wait");
  refuse_inside_capture("waiting for a stream");
  if (&line().family() != &other.line().family())
    throw_other_machine("the stream that is waited for", "that of the stream that waits");
  timeline& before = *other.timeline_;
  timeline_->follow(before, before.close(), true);
  before.refuse_broken();
}

stream::stream(device d, int priority) : stream_ref(machine::current().streams().take(d.index(), priority)) {
  serial_ = machine::current().serial();
}

stream& stream::operator=(stream&& o) noexcept {
  std::swap(timeline_, o.timeline_);
  std::swap(serial_, o.serial_);
  return *this;
}

stream::~stream() {
  if (timeline_) give_back(serial_, *timeline_);
}

stream_ref default_stream(device d) {
  machine& m = machine::current();
  (void)m.properties(d.index());
  timeline*& t = own_streams_of(m).by_device[static_cast<std::size_t>(d.index())];
  if (!t || (t->is_special() && t->is_lost_for_good())) [[unlikely]]
    t = &m.streams().take(d.index(), 0);
  return stream_ref(*t);
}

event::event(stream_ref s) : serial_(machine::current().serial()) {
  detail::need_current(s);
  backend& verbs = machine::current().verbs();
  native_ = verbs.create_event(s.where().index(), true);
  try {
    give_outside_logs(s.line(), [&](native_stream n) { verbs.record(native_, n); });
  } catch (...) {
    verbs.destroy_event(native_);
    throw;
  }
}

event::event(event&& o) noexcept : native_(std::exchange(o.native_, {})), serial_(o.serial_) {}

event& event::operator=(event&& o) noexcept {
  std::swap(native_, o.native_);
  std::swap(serial_, o.serial_);
  return *this;
}

event::~event() {
  if (!native_.handle) return;
  try {
    machine_registry::if_alive(serial_, [&](machine& m) { m.verbs().destroy_event(native_); });
  } catch (const error&) {  // a broken device: its events go with the process
  }
}

native_event event::current() const {
  if (!native_.handle) throw_moved_from("the event");
  if (serial_ != machine::current().serial()) throw_other_machine("the event");
  return native_;
}

void event::synchronize() const {
  refuse_inside_submission("wait for an event");
  refuse_inside_capture("waiting for an event");
  machine& m = machine::current();
  m.verbs().synchronize(current());
  m.synchronized();
  m.memory().at_synchronization();
}

bool event::is_done() const { return machine::current().verbs().is_done(current()); }

double milliseconds_between(const event& from, const event& to) {
  from.synchronize();
  to.synchronize();
  return machine::current().verbs().elapsed_milliseconds(from.native_, to.native_);
}

}  // namespace ferry
