// The Euler equations of an ideal gas in two dimensions, by finite volumes of first order with the fluxes of Harten,
// Lax and van Leer (SIAM Review 25 (1983) 35). The devices and the serial solver share its formulas.
#pragma once
#include <ferry/multigpu.hpp>
#include <ferry/multigpu/exchange_plan.hpp>

namespace euler {

// What is behind a side that has no other cell. Plans ignore negative entries in a table of neighbours.
FERRY_FUNCTOR(boundary, {
  static constexpr int wall = -1;
  static constexpr int inflow = -2;
  static constexpr int outflow = -3;
});

// Mass, momentum to the right and up, and energy of the gas, for each unit of area.
FERRY_FUNCTOR(state, {
  double mass;
  double x;
  double y;
  double energy;
  static constexpr double gamma = 1.4;
  // Of density 1 and speed of sound 1, that moves to the right.
  FERRY_HOST_DEVICE static state moving(double mach) {
    return {1, mach, 0, 1 / (gamma * (gamma - 1)) + mach * mach / 2};
  }
  template <class States>
  FERRY_HOST_DEVICE static state of(const States& u, std::size_t cell) {
    return {u(cell, 0), u(cell, 1), u(cell, 2), u(cell, 3)};
  }
  template <class States>
  FERRY_HOST_DEVICE void put(const States& u, std::size_t cell) const {
    u(cell, 0) = mass;
    u(cell, 1) = x;
    u(cell, 2) = y;
    u(cell, 3) = energy;
  }
  FERRY_HOST_DEVICE double pressure() const { return (gamma - 1) * (energy - (x * x + y * y) / (2 * mass)); }
  FERRY_HOST_DEVICE double sound() const { return std::sqrt(gamma * pressure() / mass); }
  FERRY_HOST_DEVICE state plus(double factor, const state& o) const {
    return {mass + factor * o.mass, x + factor * o.x, y + factor * o.y, energy + factor * o.energy};
  }
});

// A side of a cell: the normal that points out of it, as long as the side is.
FERRY_FUNCTOR_USING((state), side, {
  double x;
  double y;
  FERRY_HOST_DEVICE double length() const { return std::sqrt(x * x + y * y); }
  // Area of gas that leaves in a unit of time.
  FERRY_HOST_DEVICE double volume_flux(const state& u) const { return (u.x * x + u.y * y) / u.mass; }
  // The fastest wave, times the length.
  FERRY_HOST_DEVICE double fastest(const state& u) const { return std::fabs(volume_flux(u)) + u.sound() * length(); }
  FERRY_HOST_DEVICE state flux(const state& u) const {
    const double leaves = volume_flux(u);
    const double p = u.pressure();
    return {u.mass * leaves, u.x * leaves + p * x, u.y * leaves + p * y, (u.energy + p) * leaves};
  }
  // The flux between a cell and the one behind the side. With both exchanged and the side turned, all signs change, and
  // no bit else: what leaves one cell enters the other.
  FERRY_HOST_DEVICE state flux(const state& inside, const state& outside) const {
    const double wave = length();
    const double low =
        std::min(volume_flux(inside) - inside.sound() * wave, volume_flux(outside) - outside.sound() * wave);
    const double high =
        std::max(volume_flux(inside) + inside.sound() * wave, volume_flux(outside) + outside.sound() * wave);
    const state a = flux(inside);
    const state b = flux(outside);
    if (low >= 0) return a;
    if (high <= 0) return b;
    const auto mean = [&](double fa, double fb, double ua, double ub) {
      return ((high * fa - low * fb) + low * high * (ub - ua)) / (high - low);
    };
    return {mean(a.mass, b.mass, inside.mass, outside.mass), mean(a.x, b.x, inside.x, outside.x),
            mean(a.y, b.y, inside.y, outside.y), mean(a.energy, b.energy, inside.energy, outside.energy)};
  }
  // The flux to a mirrored cell: a pressure only.
  FERRY_HOST_DEVICE state wall(const state& u) const {
    const double speed = volume_flux(u) / length();
    const double p = u.pressure() + u.mass * speed * (speed + std::fabs(speed) + u.sound());
    return {0, p * x, p * y, 0};
  }
});

// One cell: its three sides, in a fixed order.
FERRY_FUNCTOR_USING((boundary, state, side), cell, {
  double area;
  side sides[3];
  template <class Normals>
  FERRY_HOST_DEVICE static cell of(const Normals& n, double of_area, std::size_t i) {
    return {of_area, {{n(i, 0), n(i, 1)}, {n(i, 2), n(i, 3)}, {n(i, 4), n(i, 5)}}};
  }
  // The number of times that the waves cross the cell in a unit of time.
  FERRY_HOST_DEVICE double rate(const state& u) const {
    return (sides[0].fastest(u) + sides[1].fastest(u) + sides[2].fastest(u)) / (2 * area);
  }
  // The state after a time step. behind(k): the cell behind side k, or its boundary. state_of(c): that of a cell.
  template <class Behind, class StateOf>
  FERRY_HOST_DEVICE state advanced(const state& now, double time_step, const state& inflow, Behind behind,
                                   StateOf state_of) const {
    state next = now;
    for (int k = 0; k < 3; ++k) {
      const int other = behind(k);
      const state leaves = other >= 0                  ? sides[k].flux(now, state_of(static_cast<std::size_t>(other)))
                           : other == boundary::wall   ? sides[k].wall(now)
                           : other == boundary::inflow ? sides[k].flux(now, inflow)
                                                       : sides[k].flux(now);
      next = next.plus(-time_step / area, leaves);
    }
    return next;
  }
});

// One time step of a cell. Returns the rate of its new state.
FERRY_FUNCTOR_USING((state, cell), step, {
  state inflow;
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* time_step,
                                      ferry::shard_span<const int, 2> neighbours,
                                      ferry::shard_span<const double, 2> normals,
                                      ferry::shard_span<const double, 1> areas, ferry::shard_span<const double, 2> own,
                                      ferry::gathered_span<const double, 2> now,
                                      ferry::shard_span<double, 2> next) const {
    const cell c = cell::of(normals, areas(i), i);
    const state after = c.advanced(
        state::of(own, i), *time_step, inflow, [&](int k) { return neighbours(i, static_cast<std::size_t>(k)); },
        [&](std::size_t other) { return state::of(now, other); });
    after.put(next, i);
    return c.rate(after);
  }
});

// All cells start with the state of the inflow. Returns its rate.
FERRY_FUNCTOR_USING((state, cell), start, {
  state inflow;
  FERRY_HOST_DEVICE double operator()(std::size_t i, ferry::shard_span<const double, 2> normals,
                                      ferry::shard_span<const double, 1> areas, ferry::shard_span<double, 2> u) const {
    inflow.put(u, i);
    return cell::of(normals, areas(i), i).rate(inflow);
  }
});

// The next time step from the rates of the members, on each device, and the sum of all.
FERRY_FUNCTOR(choose_time_step, {
  double courant;
  FERRY_HOST_DEVICE void operator()(std::size_t, ferry::mdspan<const double, 1> rates, double* time_step,
                                    double* time) const {
    double fastest = 0;
    for (std::size_t m = 0; m < rates.size(); ++m) fastest = std::max(fastest, rates(m));
    *time_step = courant / fastest;
    *time += *time_step;
  }
});

FERRY_FUNCTOR_USING((state), pressure, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, ferry::shard_span<const double, 2> u) const {
    return state::of(u, i).pressure();
  }
});

}  // namespace euler
