// The kernels of loops over shards: their bodies, and how those of functors with a text name their parameters.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "ferry/core/detail/kernels/kernel_bodies.hpp"
#include "ferry/core/detail/kernels/kernel_types.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/multigpu/detail/loops/part_spaces.hpp"
#include "ferry/multigpu/detail/loops/shard_reduce_kernels.hpp"
#include "ferry/multigpu/shard_span.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The headers of multigpu that these kernels include, as texts. CMake generates their source.
std::span<const device_header> shard_device_headers();

template <class T>
requires is_one_of<T, part_space_1d, part_space_2d, part_space_3d, part_space_of_tiles>
struct kernel_type<T> {
  static std::string name(kernel_writer& w) {
    w.add_headers(shard_device_headers());
    return std::string(type_name<T>());
  }
};
template <std::size_t Rank>
struct kernel_type<stretches<Rank>> {
  static std::string name(kernel_writer& w) {
    w.add_headers(shard_device_headers());
    return concat("stretches<", Rank, ">");
  }
};
template <class T, std::size_t Rank>
struct kernel_type<shard_span<T, Rank>> {
  static std::string name(kernel_writer& w) {
    w.add_headers(shard_device_headers());
    return concat("ferry::shard_span<", kernel_type_name<T>(w), ", ", Rank, ">");
  }
};

inline namespace FERRY_UNIT {

struct reducing_part {
  static constexpr device_function text{"ferry/multigpu/detail/loops/shard_reduce_kernels.hpp", "reduce_part",
                                        &shard_device_headers};
  FERRY_DETAIL_KERNEL_BODY(reduce_part)
};
struct reducing_parts {
  static constexpr device_function text{"ferry/multigpu/detail/loops/shard_reduce_kernels.hpp", "reduce_parts",
                                        &shard_device_headers};
  FERRY_DETAIL_KERNEL_BODY(reduce_parts)
};

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
