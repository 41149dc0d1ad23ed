/// @file
/// Functors that are called with values of elements: y = f(a, b), element by element.
#pragma once
#include <type_traits>
#include <utility>

#include "ferry/core/detail/expressions/transform_call.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// y = f(a, b, ...), element by element: transform(out(y), f, in(a), in(b), ...).
///
/// f is called with the values of the elements. So kernels use vector loads and stores if the arrays are contiguous.
/// Inputs broadcast to the shape of the output as in expressions, and have any strides. An input may be the output, as
/// the same elements. With several outputs, as in transform(out(y), out(z), f, in(a)), f returns a struct of one member
/// for each. Ordered on the calling thread's stream of the output's device. Blocks only where parallel_for does.
/// @param y the first output, as out(array)
/// @param more further outputs, at most 4 in all; then a functor with a const call operator, or a FERRY_FUNCTION; then
///   the inputs: arrays, views and scalars
/// @throws invalid_argument if shapes do not fit, and if an output overlaps another array as other elements
/// @throws peer_access_error if the device cannot access an array
/// @throws use_after_free if an array was freed
/// @note If it throws, nothing ran.
template <class Y, class... More>
requires(!std::is_convertible_v<Y, stream_ref>) void transform(Y&& y, More&&... more) {
  source_line at;
  if constexpr (detail::is_out_argument<std::remove_cvref_t<Y>>) at = y.at;
  detail::start_transform(nullptr, at, std::forward<Y>(y), std::forward<More>(more)...);
}
/// As above, on a stream.
template <class Y, class... More>
void transform(located<stream_ref> s, Y&& y, More&&... more) {
  detail::start_transform(&s.value, s.at, std::forward<Y>(y), std::forward<More>(more)...);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
