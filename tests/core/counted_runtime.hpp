// A runtime that counts the programs and the reductions that it submits, and the kernels that it compiles ahead of use.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/runtime.hpp"
#include "support/counting_backend.hpp"

namespace expressions_test {

struct submission_counts {
  int evaluations = 0, reductions = 0, prepared = 0;
  std::size_t results = 0;  // of the reduction that was prepared or explained last
  bool operator==(const submission_counts&) const = default;
};

class counting_submissions : public support::counting_backend {
 public:
  counting_submissions(ferry::detail::backend& below, support::call_counts& calls, submission_counts& counts)
      : counting_backend(below, calls),
        counts_(counts) {}
  void evaluate(ferry::native_stream s, int d, const ferry::detail::evaluation& e,
                std::span<const ferry::detail::kernel_use> uses) override {
    ++counts_.evaluations;
    counting_backend::evaluate(s, d, e, uses);
  }
  void reduce(ferry::native_stream s, int d, const ferry::detail::reduction_evaluation& r,
              std::span<const ferry::detail::kernel_use> uses) override {
    ++counts_.reductions;
    counting_backend::reduce(s, d, r, uses);
  }
  bool prepare_reduction(int, const ferry::detail::reduction_evaluation& r) override {
    ++counts_.prepared, counts_.results = r.results.size();
    return true;
  }
  std::string explain_reduction(int, const ferry::detail::reduction_evaluation& r) override {
    counts_.results = r.results.size();
    return "  the text of the backend\n";
  }

 private:
  submission_counts& counts_;
};

struct counted_runtime {
  support::call_counts calls;
  submission_counts counts;
  ferry::runtime_scope scope{
      std::make_unique<counting_submissions>(ferry::runtime::current().backend(), calls, counts)};
  // What is submitted during a call.
  template <class F>
  submission_counts during(F f) {
    counts = {};
    f();
    return counts;
  }
  template <class F>
  int evaluations_during(F f) {
    return during(f).evaluations;
  }
};

}  // namespace expressions_test
