#include "ferry/core/stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/thread_object.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

void give_back(std::uint64_t serial, timeline& t) {
  runtime_registry::if_alive(serial, [&](runtime& m) { m.streams().give_back(t); });
}

// The streams of one thread for one runtime, one for each device. They return to the runtime's stock when the thread
// ends.
struct runtime_streams {
  explicit runtime_streams(runtime& m) : serial(m.serial()), by_device(m.devices().size()) {}
  runtime_streams(runtime_streams&& o) noexcept : serial(o.serial), by_device(std::exchange(o.by_device, {})) {}
  runtime_streams& operator=(runtime_streams&& o) noexcept {
    std::swap(serial, o.serial);
    std::swap(by_device, o.by_device);
    return *this;
  }
  ~runtime_streams() {
    for (timeline* t : by_device)
      if (t) give_back(serial, *t);
  }
  std::uint64_t serial;
  std::vector<timeline*> by_device;
};

bool is_alive(std::uint64_t serial) {
  bool alive = false;
  runtime_registry::if_alive(serial, [&](runtime&) { alive = true; });
  return alive;
}

// Runtimes are temporary and nested: the streams for the outer ones remain, for when these are current again. The most
// recently used is first.
struct own_streams {
  std::vector<runtime_streams> of_machines;
};

runtime_streams& own_streams_of(runtime& m) {
  std::vector<runtime_streams>& own = thread_object<own_streams>::get().of_machines;
  if (!own.empty() && own.front().serial == m.serial()) return own.front();
  auto found = std::find_if(own.begin(), own.end(), [&](const auto& s) { return s.serial == m.serial(); });
  if (found == own.end()) {
    std::erase_if(own, [](const auto& s) { return !is_alive(s.serial); });
    found = own.insert(own.end(), runtime_streams(m));
  }
  std::rotate(own.begin(), found, found + 1);
  return own.front();
}

// For work that uses no array. In a capture it belongs to the capture; inside a submission of this thread, to the
// submission's turn.
template <class Give>
void enqueue_outside_history(timeline& t, Give enqueue) {
  refuse_inside_host_task("record an event, or wait for it");
  if (this_thread_state.capture || this_thread_state.submitting) return enqueue(t.stream());
  t.in_turn([&] { enqueue(t.stream()); });
}

// cudaStreamLegacy and cudaStreamPerThread, as the runtime API defines them.
bool is_default_handle(native_stream s) {
  const auto value = reinterpret_cast<std::uintptr_t>(s.handle);
  return value <= 2;
}

}  // namespace

stream_ref stream_ref::from_native(device d, native_stream s) {
  runtime& m = runtime::current();
  (void)m.properties(d.index());
  if (const std::optional<int> of = m.backend().device_of(s); of && *of != d.index())
    throw invalid_argument(concat(
        is_default_handle(s) ? "from_native: a default stream is of the calling thread's current device, which is "
                             : "from_native: the stream is of ",
        is_default_handle(s) ? "" : "device ", *of, ", and device ", d.index(),
        " was named: name the stream's own device, ferry::device(", *of, ")"));
  const auto origin = is_default_handle(s) ? stream_origin::default_stream : stream_origin::foreign;
  return stream_ref(m.streams().foreign(d.index(), s, origin));
}

void stream_ref::release() {
  if (timeline().origin() == stream_origin::own)
    throw invalid_argument("release() is for streams of from_native: the destructor of a ferry::stream releases it");
  timeline_->registry().release_foreign(*timeline_);
}

native_stream stream_ref::native() const {
  timeline().expose();
  return timeline().stream();
}

void stream_ref::synchronize() const {
  refuse_inside_submission("synchronize");
  refuse_inside_capture("synchronize");
  timeline().synchronize();
  runtime::current().synchronized();
  runtime::current().memory().pressure().at_synchronization();
}

void synchronize() {
  refuse_inside_submission("synchronize");
  refuse_inside_capture("synchronize");
  runtime& m = runtime::current();
  m.streams().synchronize();
  m.synchronized();
  m.memory().pressure().at_synchronization();
  for (const device d : m.devices())
    if (const std::string why = d.failure(); !why.empty())
      throw device_error(concat("device ", d.index(), " has failed: ", why));
}

event stream_ref::record() const { return event(*this); }

void stream_ref::wait(const event& e) const {
  need_current(*this);
  const native_event passed = e.current();
  enqueue_outside_history(timeline(), [&](native_stream n) { runtime::current().backend().wait(n, passed); });
}

void stream_ref::wait(stream_ref other) const {
  refuse_inside_submission("wait");
  refuse_inside_capture("waiting for a stream");
  if (&timeline().registry() != &other.timeline().registry())
    throw_other_runtime("the stream that is waited for", "that of the stream that waits");
  detail::timeline& before = *other.timeline_;
  timeline_->wait_on(before, before.fence(), true);
  before.refuse_broken();
}

stream::stream(device d, int priority) : stream_ref(runtime::current().streams().take(d.index(), priority)) {
  serial_ = runtime::current().serial();
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
  runtime& m = runtime::current();
  (void)m.properties(d.index());
  timeline*& t = own_streams_of(m).by_device[static_cast<std::size_t>(d.index())];
  if (!t || (t->is_special() && t->is_lost_for_good())) [[unlikely]]
    t = &m.streams().take(d.index(), 0);
  return stream_ref(*t);
}

event::event(stream_ref s) : serial_(runtime::current().serial()) {
  refuse_inside_host_task("record an event");
  need_current(s);
  detail::backend& backend = runtime::current().backend();
  native_ = backend.create_event(s.where().index(), true);
  try {
    enqueue_outside_history(s.timeline(), [&](native_stream n) { backend.record(native_, n); });
  } catch (...) {
    backend.destroy_event(native_);
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
    runtime_registry::if_alive(serial_, [&](runtime& m) { m.backend().destroy_event(native_); });
  } catch (const error&) {  // a failed device: process exit releases its events
  }
}

native_event event::current() const {
  if (!native_.handle) throw_moved_from("the event");
  if (serial_ != runtime::current().serial()) throw_other_runtime("the event");
  return native_;
}

void event::synchronize() const {
  refuse_inside_submission("wait for an event");
  refuse_inside_capture("waiting for an event");
  runtime& m = runtime::current();
  m.backend().synchronize(current());
  m.synchronized();
  m.memory().pressure().at_synchronization();
  m.streams().raise_task_failures();
}

bool event::is_done() const {
  refuse_inside_host_task("query an event");
  return runtime::current().backend().is_done(current());
}

double milliseconds_between(const event& from, const event& to) {
  from.synchronize();
  to.synchronize();
  return runtime::current().backend().elapsed_milliseconds(from.native_, to.native_);
}

}  // namespace ferry::inline FERRY_ABI
