// Services whose threads must end before the process does.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

class kernel_service;

// At the exit of the process, each service in the list is stopped.
void add_running(kernel_service& s);
void remove_running(kernel_service& s);
// Registers the function that stops them once more. exit() runs such functions in reverse order: one that is registered
// behind the loading of a library runs before the library's own destructors.
void stop_before_libraries_end();

}  // namespace ferry::inline FERRY_ABI::detail::jit
