// The services whose threads must end before the process does.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

class kernel_service;

// Adds a service to the list. When the process exits, each service in the list is stopped, and those added later.
void add_running(kernel_service& s);
void remove_running(kernel_service& s);
// Registers the function that stops them again. exit() calls registered functions in reverse order, and destroys static
// objects of libraries in between. So a function that is registered when a library has made its objects runs before
// they are destroyed.
void stop_before_libraries_end();
// While a compilation makes such objects, no registration is late enough. If the main thread has called this, its end,
// which precedes all of that, stops the services: also if it alone ends, by pthread_exit. An exit() in another thread
// has the registered functions alone.
void stop_at_main_thread_end();

}  // namespace ferry::inline FERRY_ABI::detail::jit
