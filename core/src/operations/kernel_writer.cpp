#include "ferry/core/detail/operations/kernel_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool is_same(const functor_definition& a, const functor_definition& b) {
  return &a == &b || (std::strcmp(a.name, b.name) == 0 && a.line == b.line && std::strcmp(a.file, b.file) == 0 &&
                      std::strcmp(a.body, b.body) == 0);
}

// As in a literal.
std::string quoted(const char* path) {
  std::string text = "\"";
  for (const char* c = path; *c; ++c) {
    if (*c == '"' || *c == '\\') text += '\\';
    text += *c;
  }
  return text + "\"";
}

std::string space_of(std::size_t number) { return concat("functor", number); }

}  // namespace

kernel_writer::kernel_writer(const functor_definition& functor, const device_function& called)
    : functor_(functor),
      called_(called) {
  if (called.headers) add_headers(called.headers());
}

std::size_t kernel_writer::number_of(const functor_definition& functor) {
  const auto at = [&] {
    return std::find_if(functors_.begin(), functors_.end(),
                        [&](const functor_definition* o) { return is_same(*o, functor); });
  };
  if (at() == functors_.end()) {
    for (const functor_definition* used : functor.uses) number_of(*used);
    functors_.push_back(&functor);
  }
  return static_cast<std::size_t>(at() - functors_.begin());
}

std::string kernel_writer::name_of(const functor_definition& functor) {
  return space_of(number_of(functor)) + "::" + functor.name;
}

void kernel_writer::add_headers(std::span<const device_header> headers) {
  for (const device_header& h : headers)
    if (std::none_of(headers_.begin(), headers_.end(), [&](const device_header& o) { return o.name == h.name; }))
      headers_.push_back(h);
}

void kernel_writer::add_parameter(std::string type, std::size_t size, std::size_t align) {
  parameters_.push_back({std::move(type), size, align});
}

kernel_text kernel_writer::text() {
  kernel_text k;
  k.name = concat(functor_.name, " (", functor_.file, ":", functor_.line, ")");
  k.shape = concat(called_.name, " of ", k.name);
  k.is_checked = functor_.is_checked, k.contracts = functor_.contracts;
  k.headers = headers_;
  std::string& t = k.code;
  t += "#include \"ferry/core/detail/kernels/device_code.hpp\"\n";
  t += concat("#include \"", called_.header, "\"\n");
  for (const device_header& h : headers_) t += concat("#include \"", h.name, "\"\n");
  for (const functor_definition* f : functors_) {
    t += "namespace " + space_of(number_of(*f)) + " {\n";
    for (const functor_definition* used : f->uses) t += "using " + name_of(*used) + ";\n";
    t += concat("#line ", f->line, " ", quoted(f->file), "\nstruct ", f->name, " ", f->body, ";\n}\n");
  }
  t += "#line 1 \"ferry_kernel.cu\"\n";
  t += R"(namespace ferry::inline FERRY_ABI::detail {
)";
  std::string declared, passed;
  for (std::size_t i = 0; i != parameters_.size(); ++i) {
    const parameter& p = parameters_[i];
    const std::string name = concat("p", i);
    t += concat("static_assert(sizeof(", p.type, ") == ", p.size, " && alignof(", p.type, ") == ", p.align,
                ", \"the compiler of the program and NVRTC lay out this type differently\");\n");
    declared += concat(i == 0 ? "" : ", ", called_.has_constants ? "const __grid_constant__ " : "", p.type, " ", name);
    passed += (i == 0 ? "" : ", ") + name;
    k.shape += (i == 0 ? ": " : ", ") + p.type;
  }
  t += concat("extern \"C\" __global__ void __launch_bounds__(256) ", kernel_text::entry, "(", declared, ") {\n  ",
              called_.name, "(", passed, ");\n}\n}\n");
  return k;
}

void throw_uncompiled_in_capture(const kernel_text& kernel) {
  throw not_supported("loop with " + kernel.name +
                      ": its kernel is not compiled, and captures compile nothing: precompile it before the capture "
                      "(fr::precompile_for, fr::precompile_reduce), or run the loop once");
}

}  // namespace ferry::inline FERRY_ABI::detail
