// What environment variables say about memory, for the machine that the process chooses by itself.
#pragma once

namespace ferry {

class machine;

// FERRY_MEMORY_LIMIT, FERRY_OOM. Throws parse_error, invalid_argument for limits above a device.
void configure_memory(machine& m);

}  // namespace ferry
