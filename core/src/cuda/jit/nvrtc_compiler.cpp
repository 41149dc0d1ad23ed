#include "cuda/jit/nvrtc_compiler.hpp"

#include <algorithm>
#include <vector>

#include "cuda/jit/nvrtc_library.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

class nvrtc_program {
 public:
  nvrtc_program(const nvrtc_library& f, const jit::kernel_source& source) : f_(f) {
    std::vector<const char*> texts, names;
    for (const device_header& h : source.headers) texts.push_back(h.text), names.push_back(h.name);
    check(f_.create(&handle_, source.text.c_str(), "ferry_kernel.cu", static_cast<int>(names.size()), texts.data(),
                    names.data()),
          "nvrtcCreateProgram");
  }
  ~nvrtc_program() { f_.destroy(&handle_); }
  nvrtc_program(const nvrtc_program&) = delete;
  nvrtc_program& operator=(const nvrtc_program&) = delete;

  void compile(const std::vector<const char*>& options, const jit::kernel_source& source) {
    const int result = f_.compile(handle_, static_cast<int>(options.size()), options.data());
    if (result == 0) return;
    throw jit::compile_error("kernel '" + source.entry + "' does not compile: " + f_.error_string(result) + "\n" +
                             text(f_.log_size, f_.log));
  }
  // Returns a result of variable size, without the zero at the end of texts.
  std::string text(int (*size)(nvrtc_library::program, std::size_t*), int (*get)(nvrtc_library::program, char*)) const {
    std::size_t bytes = 0;
    check(size(handle_, &bytes), "the size of a result");
    std::string content(bytes, '\0');
    check(get(handle_, content.data()), "a result");
    return content;
  }

 private:
  void check(int result, const char* what) const {
    if (result != 0) throw jit::compile_error(concat("NVRTC: ", what, " failed: ", f_.error_string(result)));
  }
  const nvrtc_library& f_;
  nvrtc_library::program handle_ = nullptr;
};

std::vector<int> supported_architectures(const nvrtc_library& f) {
  int count = 0;
  if (f.architecture_count(&count) != 0 || count <= 0) throw not_supported("NVRTC supports no architecture");
  std::vector<int> all(static_cast<std::size_t>(count));
  if (f.architectures(all.data()) != 0) throw not_supported("NVRTC does not list its architectures");
  return all;
}

}  // namespace

std::string architecture_option(jit::architecture target, const int* supported, std::size_t count) {
  const int* const end = supported + count;
  const int* const after = std::upper_bound(supported, end, target.number());
  if (after == supported)
    throw not_supported(
        concat("this NVRTC has no support for devices of compute capability ", target.major, ".", target.minor));
  const bool is_exact = after[-1] == target.number();
  return concat("--gpu-architecture=", is_exact ? "sm_" : "compute_", after[-1]);
}

std::string nvrtc_compiler::version() {
  int major = 0, minor = 0;
  if (nvrtc_library::get().version(&major, &minor) != 0)
    throw not_supported("the version of NVRTC is unknown: nvrtcVersion failed");
  return concat("nvrtc ", major, ".", minor);
}

std::string nvrtc_compiler::compile(const jit::kernel_source& source, jit::architecture target) {
  const nvrtc_library& f = nvrtc_library::get();
  const std::vector<int> supported = supported_architectures(f);
  const std::string architecture = architecture_option(target, supported.data(), supported.size());
  std::vector<const char*> options{architecture.c_str()};
  const auto names_standard = [](const std::string& option) { return option.starts_with("--std="); };
  if (std::none_of(source.options.begin(), source.options.end(), names_standard)) options.push_back("--std=c++17");
  for (const std::string& option : source.options) options.push_back(option.c_str());
  nvrtc_program p(f, source);
  p.compile(options, source);
  const bool is_machine_code = architecture.find("=sm_") != architecture.npos;
  return is_machine_code ? p.text(f.cubin_size, f.cubin) : p.text(f.ptx_size, f.ptx);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
