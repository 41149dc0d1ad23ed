// Streams and events: handles, queries, waits.
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "machine.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

machine::stream& machine::find(native_stream s) {
  const auto found = streams_.find(to_id(s.handle));
  if (found == streams_.end())
    throw invalid_argument(
        concat("invalid resource handle: ", to_id(s.handle),
               " is no stream of this simulated machine; it was destroyed, or belongs to another backend"));
  return found->second;
}

machine::event& machine::find(native_event e) {
  const auto found = events_.find(to_id(e.handle));
  if (found == events_.end())
    throw invalid_argument("invalid resource handle: " + describe(e) +
                           " is not of this simulated machine; it was destroyed, or belongs to another backend");
  return found->second;
}

machine::stream& machine::find_working(native_stream s) {
  stream& found = find(s);
  schedule_.check(found.device);
  return found;
}

std::string machine::describe(native_event e) const { return concat("event ", to_id(e.handle)); }

native_stream machine::create_stream(int device, int priority) {
  call c(*this);
  check_device(device);
  schedule_.check(device);
  if (priority < -2 || priority > 0)
    throw invalid_argument(concat("stream priority ", priority, " is outside of 0 (default) to -2 (most urgent)"));
  const std::uint64_t id = fresh_id();
  streams_.emplace(id, stream{id, device, schedule_.open(c.lock, device, id), {}});
  return to_handle<native_stream>(id);
}

void machine::destroy_stream(native_stream s) {
  call c(*this);
  stream gone = find(s);
  if (gone.in) gone.in->invalidate(concat("stream ", gone.id, " was destroyed while capturing"));
  streams_.erase(gone.id);
  schedule_.close(c.lock, *gone.line);
  schedule_.check(gone.device);
}

std::uint64_t machine::stream_id(native_stream s) {
  call c(*this);
  return find_working(s).id;
}

std::optional<int> machine::device_of(native_stream s) {
  call c(*this);
  return find_working(s).device;
}

bool machine::is_done(native_stream s) {
  call c(*this);
  stream& on = find_working(s);
  if (on.in) refuse_in_capture(*on.in, concat("asking whether stream ", on.id, " is done"));
  const auto line = on.line;  // the stream may be destroyed while operations run
  const int device = on.device;
  schedule_.run_few(c.lock);
  schedule_.check(device);
  const bool idle = schedule_.is_idle(*line);
  if (idle) schedule_.seen_by_cpu(c.lock, *line);
  return idle;
}

void machine::synchronize(native_stream s) {
  call c(*this);
  stream& on = find_working(s);
  if (on.in) refuse_in_capture(*on.in, concat("waiting for stream ", on.id));
  const auto line = on.line;
  const std::uint64_t id = on.id;
  schedule_.wait(
      c.lock, concat("stream ", id), [&] { return schedule_.is_idle(*line); }, line);
  pools_.seen(id, pools_.next_place());
  schedule_.seen_by_cpu(c.lock, *line);
  pools_.after_synchronization(c.lock);
  schedule_.check(line->device);
}

native_event machine::create_event(int device, bool timing) {
  call c(*this);
  check_device(device);
  schedule_.check(device);
  const std::uint64_t id = fresh_id();
  events_.emplace(id, event{device, timing, {}, {}, {}});
  return to_handle<native_event>(id);
}

void machine::destroy_event(native_event e) {
  call c(*this);
  const int device = find(e).device;
  events_.erase(to_id(e.handle));
  schedule_.check(device);
}

void machine::record(native_event e, native_stream s) {
  call c(*this);
  stream& on = find_working(s);
  if (const int device = find(e).device; device != on.device)
    throw invalid_argument(concat(
        "invalid resource handle: ", describe(e), " is of device ", device, ", and stream ", on.id, " of device ",
        on.device, "; an event is recorded on streams of its own device (waiting works across devices)"));
  if (on.in) {
    event& to = find(e);
    to.state.reset(), to.in = on.in, to.at = on.in->at(on.id);
    return;
  }
  auto state = std::make_shared<signal>();
  state->stream = on.id, state->place = pools_.next_place();
  const auto line = on.line;
  if (schedule_.is_eager()) {
    schedule_.run_now(c.lock, *line, {});
    state->at = std::chrono::steady_clock::now(), state->fired = true;
    schedule_.stamp(c.lock, *line, *state);
  } else {
    state->who = concat(describe(e), ", recorded on stream ", on.id);
    schedule_.push(c.lock, *line, {"event record", {}, {}, {}, state});
  }
  event& to = find(e);  // under the same lock as the place in the queue: no other call comes between
  to.state = std::move(state), to.in.reset(), to.at.clear();
}

void machine::wait(native_stream s, native_event e) {
  call c(*this);
  stream& on = find_working(s);
  event& from = find(e);
  if (from.in) {
    if (from.in->has_ended()) refuse_captured(from, "waiting for it later");
    if (on.in && on.in != from.in) {
      from.in->invalidate(concat("stream ", on.id, " of another capture waited for it"));
      refuse_in_capture(*on.in, "waiting for " + describe(e) + " of another capture (merging captures)");
    }
    on.in = from.in;  // a fork: the stream joins the capture
    on.in->join(on.id, from.at);
    return;
  }
  if (!from.state) return;  // never recorded: nothing to wait for, as in CUDA
  if (on.in)
    refuse_in_capture(*on.in,
                      "waiting for " + describe(e) + ", which was recorded outside of the capture (isolation),");
  if (from.state->fired)
    schedule_.order_behind(c.lock, *on.line, *from.state);
  else
    schedule_.push(c.lock, *on.line, {"wait", {}, {}, {from.state}, {}});
}

bool machine::is_done(native_event e) {
  call c(*this);
  event& of = find(e);
  schedule_.check(of.device);
  if (of.in) refuse_captured(of, "asking whether it is done");
  const auto state = of.state;
  const int device = of.device;
  schedule_.run_few(c.lock);
  schedule_.check(device);
  if (state && state->fired) schedule_.seen_by_cpu(c.lock, state->clock);
  return !state || state->fired;
}

void machine::synchronize(native_event e) {
  call c(*this);
  event& of = find(e);
  schedule_.check(of.device);
  if (of.in) refuse_captured(of, "waiting for it");
  const int device = of.device;
  if (!of.state) return;
  // Reads the state again each time. If the event is re-recorded meanwhile, it stands for the later work, as in the
  // CUDA backend, which polls cudaEventQuery. (cudaStreamWaitEvent uses the state at the time of the call.)
  const std::string who = of.state->who;
  std::shared_ptr<signal> seen;
  const auto recorded_on = streams_.find(of.state->stream);
  schedule_.wait(
      c.lock, who,
      [&] {
        const auto now = events_.find(to_id(e.handle));
        seen = now == events_.end() ? nullptr : now->second.state;
        return !seen || seen->fired;
      },
      recorded_on == streams_.end() ? nullptr : recorded_on->second.line);
  if (seen) {
    pools_.seen(seen->stream, seen->place);
    schedule_.seen_by_cpu(c.lock, seen->clock);
  }
  pools_.after_synchronization(c.lock);
  schedule_.check(device);
}

double machine::elapsed_milliseconds(native_event from, native_event to) {
  call c(*this);
  for (const native_event e : {from, to}) {
    event& of = find(e);
    schedule_.check(of.device);
    if (of.in) refuse_captured(of, "taking its time");
    if (!of.timing) throw invalid_argument("invalid resource handle: " + describe(e) + " was created without timing");
    if (!of.state) throw invalid_argument("invalid resource handle: " + describe(e) + " was never recorded");
    if (!of.state->fired)
      throw invalid_argument("device not ready: " + describe(e) + " has not happened yet; synchronize first");
  }
  return std::chrono::duration<double, std::milli>(find(to).state->at - find(from).state->at).count();
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
