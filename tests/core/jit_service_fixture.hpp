// The service that compiles kernels, with a compiler and a driver of the test.
#pragma once
#include <cstddef>
#include <jit/kernel_service.hpp>
#include <string>

#include "jit_fixture.hpp"

namespace jit_service {

using namespace ferry::detail::jit;

inline kernel_source source_of(const std::string& text) { return {text, "entry", "shape of " + text}; }

struct service_fixture {
  jit_test::fake_compiler by;
  jit_test::fake_loader driver;
  jit_settings settings{mode::on, "", std::size_t{1} << 20, ""};

  kernel& ask(kernel_service& s, const std::string& text, int device = 0) {
    return s.request(device, text, [&] { return source_of(text); });
  }
};

}  // namespace jit_service
