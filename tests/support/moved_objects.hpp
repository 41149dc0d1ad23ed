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
  void (*use)(T&);
};

// must: uses that must throw an error about the object's state. may: uses that may succeed, or throw for another
// reason, such as an index out of range in an empty array.
template <class T>
struct uses_of {
  std::vector<use_of<T>> must, may;
  bool default_is_whole = false;  // a default-constructed object is fully usable
};

namespace detail {

// What is done with one object without a value; each call makes that object first.
struct hollow_object {
  virtual ~hollow_object() = default;
  virtual void destroy() const = 0;
  virtual void move_on() const = 0;
  virtual void use(bool must, std::size_t i) const = 0;
  virtual void assign_to() const = 0;
  virtual void assign_from() const = 0;
  std::vector<const char*> must, may;
  bool is_assignable = false;
};

inline bool of_state(const std::string& s) {
  return s.find("moved from") != std::string::npos || s.find("default-constructed") != std::string::npos;
}

// All checks of an object, in one process.
inline void check_at_once(const hollow_object& object) {
  for (std::size_t i = 0; i < object.must.size(); ++i) {
    bool refused = false;
    try {
      object.use(true, i);
    } catch (const ferry::invalid_argument& e) {
      refused = of_state(e.what());
    }
    must_hold(refused, object.must[i]);
  }
  for (std::size_t i = 0; i < object.may.size(); ++i) try {
      object.use(false, i);
    } catch (const ferry::invalid_argument&) {
    }
  object.destroy(), object.move_on();
  if (object.is_assignable) object.assign_to(), object.assign_from();
}

inline void check_hollow(const std::string& who, const hollow_object& object) {
  const ending all = run_apart([&] { check_at_once(object); });
  BOOST_TEST(all.is_right(), who << ": " << all);
  if (all.is_right()) return;
  // Which of them is wrong: each in a process of its own.
  for (std::size_t i = 0; i < object.must.size(); ++i) {
    const ending e = run_apart([&] { object.use(true, i); });
    BOOST_TEST((e.refused && of_state(e.told)), who << "." << object.must[i] << ": " << e);
  }
  for (std::size_t i = 0; i < object.may.size(); ++i) {
    const ending e = run_apart([&] { object.use(false, i); });
    BOOST_TEST((e.is_right() || e.refused), who << "." << object.may[i] << ": " << e);
  }
  const auto right = [&](const char* what, void (hollow_object::*part)() const) {
    const ending e = run_apart([&] { (object.*part)(); });
    BOOST_TEST(e.is_right(), who << ", " << what << ": " << e);
  };
  right("destroyed", &hollow_object::destroy);
  right("moved on", &hollow_object::move_on);
  if (object.is_assignable) {
    right("assigned to, and used", &hollow_object::assign_to);
    right("assigned to another", &hollow_object::assign_from);
  }
}

template <class T>
struct hollow_of : hollow_object {
  hollow_of(const std::function<T()>& make_one, const uses_of<T>& of, bool moved)
      : make(make_one),
        uses(of),
        moved_from(moved) {
    for (const use_of<T>& u : uses.must) must.push_back(u.name);
    for (const use_of<T>& u : uses.may) may.push_back(u.name);
    is_assignable = std::is_move_assignable_v<T>;
  }
  std::optional<T> hollow() const {
    if constexpr (std::is_default_constructible_v<T>)
      if (!moved_from) return std::optional<T>(std::in_place);
    std::optional<T> o(make());
    { const T taken(std::move(*o)); }  // destroyed here, with all its resources
    return o;
  }
  void destroy() const override { const std::optional<T> o = hollow(); }
  void move_on() const override {
    std::optional<T> o = hollow();
    T other(std::move(*o));
    T third(std::move(other));
  }
  void use(bool of_must, std::size_t i) const override {
    std::optional<T> o = hollow();
    (of_must ? uses.must : uses.may)[i].use(*o);
  }
  void assign_to() const override {
    if constexpr (std::is_move_assignable_v<T>) {
      std::optional<T> o = hollow();
      *o = make();
      for (const auto* list : {&uses.must, &uses.may})
        for (const use_of<T>& u : *list) u.use(*o);
    }
  }
  void assign_from() const override {
    if constexpr (std::is_move_assignable_v<T>) {
      std::optional<T> o = hollow();
      T other = make();
      other = std::move(*o);
    }
  }
  const std::function<T()>& make;
  const uses_of<T>& uses;
  const bool moved_from;
};

}  // namespace detail

template <class T>
void check_moved(const std::string& type, const std::function<T()>& make, const uses_of<T>& uses) {
  detail::check_hollow(type + " that was moved from", detail::hollow_of<T>(make, uses, true));
  if constexpr (std::is_default_constructible_v<T>)
    if (!uses.default_is_whole) detail::check_hollow("default " + type, detail::hollow_of<T>(make, uses, false));
}

}  // namespace support
