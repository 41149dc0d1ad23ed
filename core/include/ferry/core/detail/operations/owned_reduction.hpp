// A copy of a reduction that outlives the call.
#pragma once
#include <vector>

#include "ferry/core/detail/operations/owned_evaluation.hpp"
#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

class owned_reduction {
 public:
  explicit owned_reduction(const reduction_evaluation& r)
      : shape_(r),
        input_(r.input),
        results_(r.results.begin(), r.results.end()) {}
  // Valid as long as this object.
  reduction_evaluation get() const {
    reduction_evaluation r = shape_;
    r.input = input_.get(), r.results = results_;
    return r;
  }
  // A copy with other addresses: move(p) for the address p.
  template <class Move>
  owned_reduction moved(const Move& move) const {
    owned_reduction there(*this);
    there.input_ = input_.moved(move);
    for (reduction_output& o : there.results_) o.to.data = move(o.to.data);
    return there;
  }

 private:
  reduction_evaluation shape_;
  owned_evaluation input_;
  std::vector<reduction_output> results_;
};

}  // namespace ferry::inline FERRY_ABI::detail
