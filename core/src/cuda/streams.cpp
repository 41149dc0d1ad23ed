// Streams, events, and waiting for them.
#include <algorithm>
#include <chrono>
#include <thread>

#include "backend_class.hpp"
#include "hot_calls.hpp"

namespace ferry::cuda {

namespace {

// Long enough for a small kernel and its launch.
constexpr std::chrono::microseconds spin_time{50};
// A nap takes some 70 us more than was asked for (the timer's slack of 50, and waking up): shorter ones are not worth it.
constexpr std::chrono::microseconds shortest_nap{80}, longest_nap{500};

// One answer of cudaEventQuery or cudaStreamQuery; "not ready" leaves no pending error.
bool is_ready(cudaError_t e) {
  if (e == cudaErrorNotReady) clear_pending();
  return e != cudaErrorNotReady;
}

// Asks until the work is done or failed: without a pause at first (a query takes 1.2 us itself), then with pauses of a 64th
// of the time waited so far, in which other threads may have the core; they become naps after some 5 ms. Events with
// cudaEventBlockingSync would sleep too, but measured on an H200 they make every kernel followed by a record take 4.3
// instead of 2.8 us, and waiting for one kernel 17 instead of 7.5 us: the hot verb would pay for the cold one. Without the
// flag CUDA's own waits spin and take a core from the program.
template <class Query>
cudaError_t wait_until_ready(Query query) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  for (;;) {
    const cudaError_t e = query();
    if (is_ready(e)) return e;
    const auto now = clock::now();
    if (now - start < spin_time) continue;
    const auto pause = std::min<clock::duration>((now - start) / 64, longest_nap);
    if (pause >= shortest_nap) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    do std::this_thread::yield();
    while (clock::now() - now < pause);
  }
}

}  // namespace

native_stream cuda_backend::create_stream(int device, int priority) {
  at(device, "create_stream");
  const relaxed_scope relaxed;
  const device_scope current(device, "create_stream");
  cudaStream_t s = nullptr;
  // Non-blocking: ferry orders its work itself, and the legacy stream's implicit barriers would only serialise it. CUDA
  // clamps the priority to what the device has.
  check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority), "create_stream", device);
  unsigned long long id = 0;
  check(cudaStreamGetId(s, &id), "create_stream", device);
  streams_.add(s, {device, id});
  return {s};
}

void cuda_backend::destroy_stream(native_stream s) {
  const relaxed_scope relaxed;
  streams_.remove(raw(s));  // first: CUDA may give the handle to another thread's stream
  check(cudaStreamDestroy(raw(s)), "destroy_stream");
}

std::uint64_t cuda_backend::stream_id(native_stream s) {
  if (const auto known = streams_.find(raw(s))) return known->id;
  if (is_capturing(s))
    throw invalid_argument(
        "stream_id: CUDA does not tell which stream this is while it is being captured. "
        "Use it with ferry once before the capture, or capture a ferry::stream");
  unsigned long long id = 0;
  check(cudaStreamGetId(raw(s), &id), "stream_id");
  return id;
}

std::optional<int> cuda_backend::device_of(native_stream s) {
  if (const auto known = streams_.find(raw(s))) return known->device;
  const relaxed_scope relaxed;
  int device = 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (is_default(raw(s)))
    check(cudaGetDevice(&device), "device_of");
  else if (check(cudaStreamIsCapturing(raw(s), &status), "device_of"); status != cudaStreamCaptureStatusNone)
    return std::nullopt;
  else if (const cudaError_t e = stream_device(raw(s), device); e == cudaErrorNotSupported)
    return std::nullopt;
  else
    check(e, "device_of");
  return device;
}

int cuda_backend::device_of(cudaStream_t s, std::string_view verb) const {
  if (const auto known = streams_.find(s)) return known->device;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(s, &status), verb);
  int device = 0;
  check(status == cudaStreamCaptureStatusNone ? stream_device(s, device) : cudaGetDevice(&device), verb);
  return device;
}

// Only what is known without asking CUDA about the stream: it may be the stream that is at fault.
void cuda_backend::fail_on(cudaError_t e, std::string_view verb, cudaStream_t s) const {
  const auto known = streams_.find(s);
  fail(e, verb, known ? known->device : -1);
}

bool cuda_backend::is_done(native_stream s) {
  const relaxed_scope relaxed;
  const cudaError_t e = cudaStreamQuery(raw(s));
  if (!is_ready(e)) return false;
  check_on(e, "is_done(stream)", raw(s));
  return true;
}

void cuda_backend::synchronize(native_stream s) {
  const relaxed_scope relaxed;
  check_on(wait_until_ready([s] { return cudaStreamQuery(raw(s)); }), "synchronize(stream)", raw(s));
  check_on(cudaStreamSynchronize(raw(s)), "synchronize(stream)", raw(s));  // at once: it tells the driver's pools
  faults_.raise();
}

native_event cuda_backend::create_event(int device, bool timing) {
  at(device, "create_event");
  const relaxed_scope relaxed;
  const device_scope current(device, "create_event");
  cudaEvent_t e = nullptr;
  check(cudaEventCreateWithFlags(&e, timing ? unsigned{cudaEventDefault} : unsigned{cudaEventDisableTiming}),
        "create_event", device);
  return {e};
}

void cuda_backend::destroy_event(native_event e) {
  const relaxed_scope relaxed;
  check(cudaEventDestroy(raw(e)), "destroy_event");
}

// The two hot verbs: stream and event carry their devices, so nothing is switched (0.1 us each).
void cuda_backend::record(native_event e, native_stream s) { check_on(record_event(raw(e), raw(s)), "record", raw(s)); }

void cuda_backend::wait(native_stream s, native_event e) { check_on(wait_for_event(raw(s), raw(e)), "wait", raw(s)); }

bool cuda_backend::is_done(native_event e) {
  const relaxed_scope relaxed;
  const cudaError_t answer = cudaEventQuery(raw(e));
  if (!is_ready(answer)) return false;
  check(answer, "is_done(event)");
  return true;
}

void cuda_backend::synchronize(native_event e) {
  const relaxed_scope relaxed;
  check(wait_until_ready([e] { return cudaEventQuery(raw(e)); }), "synchronize(event)");
  check(cudaEventSynchronize(raw(e)), "synchronize(event)");  // at once: it tells the driver's pools
  faults_.raise();
}

double cuda_backend::elapsed_milliseconds(native_event from, native_event to) {
  float ms = 0;
  const cudaError_t e = cudaEventElapsedTime(&ms, raw(from), raw(to));
  if (e == cudaErrorNotReady) {
    clear_pending();
    throw invalid_argument("elapsed_milliseconds: the later event is not done yet. Synchronize with it first");
  }
  check(e, "elapsed_milliseconds");
  return static_cast<double>(ms);
}

}  // namespace ferry::cuda
