// What the text of a functor may use of ferry. For NVRTC.
#pragma once
#include "ferry/core/assert.hpp"
#include "ferry/core/atomic_ref.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/half.hpp"
#include "ferry/core/mdspan.hpp"
#include "ferry/core/reduction_operations.hpp"
#include "ferry/core/soa_span.hpp"
#include "ferry/core/tile.hpp"
