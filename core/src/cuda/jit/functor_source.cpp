#include "cuda/jit/functor_source.hpp"

#include <span>
#include <string>

#include "generator/function_text.hpp"
#include "jit/hash.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// The headers of core that these kernels include, as texts. CMake generates its source.
std::span<const device_header> device_headers();

namespace {

// Headers of the standard library that functor_std.inc replaces.
constexpr const char* in_functor_std[] = {"array",  "cmath",  "concepts", "cstddef",     "cstdint",
                                          "cstdio", "limits", "tuple",    "type_traits", "utility"};

}  // namespace

jit::kernel_source functor_source(const kernel_text& kernel) {
  jit::kernel_source s;
  s.entry = kernel_text::entry, s.shape = kernel.shape, s.has_substitute = false;
  s.options = {"--std=c++20", "--device-as-default-execution-space", "-DFERRY_INTERNAL"};
  if (!kernel.is_checked) s.options.emplace_back("-DNDEBUG");
  if (!kernel.contracts) s.options.emplace_back("--fmad=false");
  for (const char* name : in_functor_std) s.headers.push_back({name, ""});
  for (const device_header& h : device_headers()) s.headers.push_back(h);
  s.headers.insert(s.headers.end(), kernel.headers.begin(), kernel.headers.end());
  std::string all;
  for (const device_header& h : s.headers) all.append(h.name).append("\n").append(h.text);
  s.text = "// headers " + jit::hash_digits(all) + ", options";
  for (const std::string& option : s.options) s.text += " " + option;
  s.text.append("\n")
      .append(generator::function_prelude())
      .append("#include \"ferry/functor_std\"\n")
      .append(kernel.code);
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
