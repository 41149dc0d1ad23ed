// A copy of an evaluation that outlives the call.
#pragma once
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

class owned_evaluation {
 public:
  explicit owned_evaluation(const evaluation& e)
      : shape_(e),
        code_(e.code.begin(), e.code.end()),
        operands_(e.operands.begin(), e.operands.end()),
        constants_(e.constants.begin(), e.constants.end()),
        calls_(e.calls.begin(), e.calls.end()),
        outputs_(e.outputs.begin(), e.outputs.end()) {}
  // Valid as long as this object.
  evaluation get() const {
    evaluation e = shape_;
    e.code = code_, e.operands = operands_, e.constants = constants_, e.calls = calls_, e.outputs = outputs_;
    return e;
  }
  // A copy with other addresses: move(p) for the address p.
  template <class Move>
  owned_evaluation moved(const Move& move) const {
    owned_evaluation there(*this);
    for (evaluation_operand& o : there.operands_) o.data = move(o.data);
    for (evaluation_output& o : there.outputs_) o.to.data = move(o.to.data);
    return there;
  }

 private:
  evaluation shape_;
  std::vector<instruction> code_;
  std::vector<evaluation_operand> operands_;
  std::vector<program_constant> constants_;
  std::vector<function_call> calls_;
  std::vector<evaluation_output> outputs_;
};

}  // namespace ferry::inline FERRY_ABI::detail
