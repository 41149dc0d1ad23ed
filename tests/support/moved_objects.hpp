// Checks moved-from and default-constructed objects: each use behaves as for an empty object, or throws an error that
// names the state.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/apart.hpp"

namespace support {

template <class T>
struct use_of {
  const char* name;
  std::function<void(T&)> use;
};

// must: uses that must throw an error about the object's state. may: uses that may succeed, or throw for another
// reason, such as an index out of range in an empty array.
template <class T>
struct uses_of {
  std::vector<use_of<T>> must, may;
  bool default_is_whole = false;  // a default-constructed object is fully usable
};

namespace detail {

template <class T>
void check_hollow(const std::string& who, const std::function<std::optional<T>()>& hollow,
                  const std::function<T()>& make, const uses_of<T>& uses) {
  const auto of_state = [](const std::string& s) {
    return s.find("moved from") != std::string::npos || s.find("default-constructed") != std::string::npos;
  };
  for (const use_of<T>& u : uses.must) {
    const ending e = run_apart([&] {
      std::optional<T> o = hollow();
      u.use(*o);
    });
    BOOST_TEST((e.refused && of_state(e.told)), who << "." << u.name << ": " << e);
  }
  for (const use_of<T>& u : uses.may) {
    const ending e = run_apart([&] {
      std::optional<T> o = hollow();
      u.use(*o);
    });
    BOOST_TEST((e.is_right() || e.refused), who << "." << u.name << ": " << e);
  }
  const auto right = [&](const char* what, const std::function<void()>& part) {
    const ending e = run_apart(part);
    BOOST_TEST(e.is_right(), who << ", " << what << ": " << e);
  };
  right("destroyed", [&] { std::optional<T> o = hollow(); });
  right("moved on", [&] {
    std::optional<T> o = hollow();
    T other(std::move(*o));
    T third(std::move(other));
  });
  if constexpr (std::is_move_assignable_v<T>) {
    const auto all = [&](T& o) {
      for (const auto* list : {&uses.must, &uses.may})
        for (const use_of<T>& u : *list) u.use(o);
    };
    right("assigned to, and used", [&] {
      std::optional<T> o = hollow();
      *o = make();
      all(*o);
    });
    right("assigned to another", [&] {
      std::optional<T> o = hollow();
      T other = make();
      other = std::move(*o);
    });
  }
}

}  // namespace detail

template <class T>
void check_moved(const std::string& type, const std::function<T()>& make, const uses_of<T>& uses) {
  detail::check_hollow<T>(
      type + " that was moved from",
      [&]() -> std::optional<T> {
        std::optional<T> o(make());
        { const T taken(std::move(*o)); }  // destroyed here, with all its resources
        return o;
      },
      make, uses);
  if constexpr (std::is_default_constructible_v<T>)
    if (!uses.default_is_whole)
      detail::check_hollow<T>(
          "default " + type, []() -> std::optional<T> { return std::optional<T>(std::in_place); }, make, uses);
}

}  // namespace support
