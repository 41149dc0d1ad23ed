// Streams, events, and waiting for them.
#include <algorithm>
#include <chrono>
#include <thread>

#include "backend_class.hpp"
#include "hot_calls.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

// Long enough for a small kernel and its launch.
constexpr std::chrono::microseconds spin_time{50};
// A sleep takes about 70 us longer than requested (timer slack of 50 us, and waking up), so shorter ones are not
// worthwhile.
constexpr std::chrono::microseconds shortest_nap{80}, longest_nap{500};

// Interprets the result of cudaEventQuery or cudaStreamQuery; "not ready" leaves no pending error.
bool is_ready(cudaError_t e) {
  if (e == cudaErrorNotReady) clear_pending();
  return e != cudaErrorNotReady;
}

// Polls until the work is complete or has failed. First polls without a pause (a query takes 1.2 us itself), then with
// pauses of 1/64 of the time waited so far. During a pause other threads may use the core; after about 5 ms it becomes
// a sleep. Events with cudaEventBlockingSync would sleep, too, but slow down the frequent calls. Measured on an H200: a
// kernel followed by a record takes 4.3 instead of 2.8 us with them. Waiting for one kernel takes 17 instead of 7.5 us.
// Without the flag CUDA's own waits spin and occupy a core.
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
  // Non-blocking, because ferry orders its work itself, and the legacy stream's implicit barriers would only serialize
  // it. CUDA clamps the priority to the device's range.
  check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority), "create_stream", device);
  unsigned long long id = 0;
  check(cudaStreamGetId(s, &id), "create_stream", device);
  streams_.add(s, {device, id});
  return {s};
}

void cuda_backend::destroy_stream(native_stream s) {
  const relaxed_scope relaxed;
  streams_.remove(raw(s));  // first: CUDA may return the handle to another thread that creates a stream
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

// Uses only stored data and does not query CUDA: the stream itself may be the cause of the error.
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
  // returns immediately: it reports completion to the driver's pools
  check_on(cudaStreamSynchronize(raw(s)), "synchronize(stream)", raw(s));
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

// The two most frequent backend calls: stream and event determine their devices, so no device is switched (0.1 us
// each).
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
  // returns immediately: it reports completion to the driver's pools
  check(cudaEventSynchronize(raw(e)), "synchronize(event)");
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

}  // namespace ferry::inline FERRY_ABI::detail::cuda
