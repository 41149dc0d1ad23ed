/// @file
/// The version of ferry, by the rules of semver.org. Versions 0.x may change any interface.
#pragma once

/// @addtogroup configuration
/// @{

#define FERRY_VERSION_MAJOR 0  ///< first number of the version
#define FERRY_VERSION_MINOR 1  ///< second number of the version
#define FERRY_VERSION_PATCH 0  ///< third number of the version
/// One number for comparisons in `#if`: 10000 * major + 100 * minor + patch.
#define FERRY_VERSION (FERRY_VERSION_MAJOR * 10000 + FERRY_VERSION_MINOR * 100 + FERRY_VERSION_PATCH)

/// The inline namespace of every name of ferry: ferry::array is ferry::v0_1::array to the linker. So one program can
/// link libraries that use different versions.
#define FERRY_ABI v0_1

namespace ferry::inline FERRY_ABI {

/// The version of the compiled library, as FERRY_VERSION. It differs from FERRY_VERSION if a program was compiled with
/// the headers of another version, which is not supported.
unsigned library_version() noexcept;

}  // namespace ferry::inline FERRY_ABI

/// @}
