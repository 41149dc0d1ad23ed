// Source of the kernel of a histogram.
#include <string>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/count_plan.hpp"
#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

class count_writer {
 public:
  count_writer(const reduction_evaluation& r, const count_plan& p)
      : p_(p),
        source_(r, p.is_wide),
        is_weighted_(counted_as(r.results[0]) == scalar_type::float64),
        counter_(is_weighted_ ? "double" : "unsigned long long") {}

  std::string write() {
    source_.write_head("");
    source_.open_kernel();
    s_.line(counter_, "* const counters = (", counter_, "*)g.scratch;");
    write_results();
    if (p_.shared_bins == 0)
      write_loop("counters");
    else
      write_shared();
    s_.close();
    return std::move(s_.text());
  }

 private:
  void write_results() {
    s_.open("if (g.step == 1)");
    s_.line("const index bin = (index)blockIdx.x * ", reduction_threads, "u + threadIdx.x;");
    s_.line("if (bin >= g.bins) return;");
    s_.line("const ", counter_, " r0 = counters[bin];");
    source_.write_store(0, is_weighted_ ? scalar_type::float64 : scalar_type::uint64, "bin");
    s_.line("return;");
    s_.close();
  }

  void write_shared() {
    const unsigned all = p_.shared_bins * p_.copies;
    s_.line("__shared__ ", is_weighted_ ? "double" : "unsigned", " shared[", all, "];");
    s_.line("for (unsigned k = threadIdx.x; k < ", all, "u; k += ", reduction_threads, "u) shared[k] = 0;");
    s_.line("__syncthreads();");
    write_loop(concat("(shared + threadIdx.x / 32 % ", p_.copies, "u * ", p_.shared_bins, "u)"));
    s_.line("__syncthreads();");
    s_.open(concat("for (unsigned bin = threadIdx.x; bin < g.bins; bin += ", reduction_threads, "u)"));
    s_.line(counter_, " sum = 0;");
    s_.line("for (unsigned k = 0; k < ", p_.copies, "; ++k) sum += shared[k * ", p_.shared_bins, "u + bin];");
    s_.line("if (sum != 0) atomicAdd(counters + bin, sum);");
    s_.close();
  }

  // Writes the loop over the values of the block's part. Values outside of the bins are not counted. Bins are compared
  // as unsigned numbers, so that negative ones are outside.
  void write_loop(const std::string& counters) {
    constexpr unsigned at_once = count_plan::chains * reduction_threads;
    source_.write_indices();
    source_.write_bases();
    s_.line("const index share = (index)((g.reduced + g.parts - 1) / g.parts), begin = (index)blockIdx.x * share;");
    s_.line("const index last = begin + share < (index)g.reduced ? begin + share : (index)g.reduced;");
    s_.open(concat("for (index here = begin + threadIdx.x; here < last; here += ", at_once, "u)"));
    source_.write_loads({count_plan::chains, reduction_threads});
    source_.open_values({count_plan::chains, reduction_threads});
    s_.line("const unsigned long long bin = (unsigned long long)y0;");
    s_.line("if (bin < g.bins) atomicAdd(", counters, " + bin, ",
            is_weighted_     ? "y1"
            : p_.shared_bins ? "1u"
                             : "1ull",
            ");");
    s_.close();
    s_.close();
  }

  const count_plan& p_;
  reduction_source source_;
  source_builder& s_ = source_.text();
  const bool is_weighted_;
  const std::string counter_;
};

}  // namespace

std::string count_text(const reduction_evaluation& r, const count_plan& p) { return count_writer(r, p).write(); }

}  // namespace ferry::inline FERRY_ABI::detail::generator
