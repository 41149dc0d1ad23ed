#include "ferry/version.hpp"

unsigned ferry::library_version() noexcept { return FERRY_VERSION; }
