// Process-exit detection: static arrays may outlive the CUDA driver, so driver calls are skipped.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Starts the detection; may be called repeatedly. If the main thread has called this, its exit is detected at once.
// Otherwise exit is detected when exit() runs the handler that the first call registered.
void watch_for_exit();
// Starts it as well. When the main thread ends, and has called this, it calls f before static objects are destroyed.
// The process has one such function.
void call_at_main_thread_end(void (*f)());
// True if the process is exiting, or if the main thread alone has ended by pthread_exit. May be called from any thread
// at any time.
bool is_exiting() noexcept;

}  // namespace ferry::inline FERRY_ABI::detail
