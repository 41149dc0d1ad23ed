#include "work.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "scratch.hpp"
#include "surroundings.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

[[noreturn]] void fault(const work& w, int device, const std::string& why) {
  std::string text(w.verb);
  if (!w.name.empty()) text += concat(" '", w.name, "'");
  throw device_fault(device, text + ": " + why);
}

void check_alive(const work& w, int device, const address_space& memory) {
  if (const std::string why = memory.lifeless(w.uses); !why.empty()) fault(w, device, why);
}

// Called before the bytes are used.
void begin_on(const work& w, int device, address_space& memory) {
  check_alive(w, device, memory);
  if (w.how == reach::mapped) memory.touch(device, w.uses);
}

void run_on(const work& w, int device, const relocation& where) {
  try {
    w.run(where);
  } catch (const std::exception& e) {
    fault(w, device, plain_what(e));
  } catch (...) {
    fault(w, device, "threw what is no std::exception");
  }
}

}  // namespace

std::shared_ptr<const footprint> footprint_of(const work& w, const address_space& memory) {
  footprint f{std::string(w.verb), std::string(w.name), w.uses};
  f.uses.insert(f.uses.end(), w.changes.begin(), w.changes.end());
  std::erase_if(f.uses, [&](const kernel_use& u) { return memory.at(u.begin).state == address_state::pageable; });
  return f.uses.empty() ? nullptr : std::make_shared<const footprint>(std::move(f));
}

void run_whole(const work& w, int device, address_space& memory) {
  if (const std::string why = memory.forbids(device, w.uses, w.how); !why.empty()) fault(w, device, why);
  begin_on(w, device, memory);
  run_on(w, device, relocation{});
}

std::vector<operation> to_operations(std::shared_ptr<const work> w, int device, address_space& memory,
                                     const kernel_mode& how) {
  std::vector<operation> result;
  if (const std::string why = memory.forbids(device, w->uses, w->how); !why.empty()) {
    result.push_back({w->verb, w->name, [w, device, why] { fault(*w, device, why); }});
  } else if (!w->is_kernel || how.in_place) {
    result.push_back({w->verb, w->name, [w, device, &memory, how] {
                        const worker_scope scope(how.workers, how.indices);
                        begin_on(*w, device, memory);
                        run_on(*w, device, relocation{});
                      }});
    if (w->is_kernel)
      result.back().inspects = [only = w.get(), &memory] { return &surroundings::of({&only, 1}, memory); };
  } else {
    auto copies = std::make_shared<scratch>(w->uses);
    result.push_back({w->verb, w->name, [w, device, &memory, copies] {
                        begin_on(*w, device, memory);
                        copies->load();
                        run_on(*w, device, copies->relocated());
                        if (const std::string text = copies->overrun(); !text.empty()) fault(*w, device, text);
                      }});
    result.push_back({"stores of kernel", w->name, [w, device, &memory, copies] {
                        check_alive(*w, device, memory);
                        copies->store();
                      }});
  }
  result.back().fires = w->done;
  return result;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
