#!/usr/bin/env python3
"""make_mesh.py FILE: writes a mesh of triangles of a channel with a wedge, in Gmsh's ASCII format 2.2.

    examples/euler/make_mesh.py examples/data/wedge.msh                  the mesh in examples/data
    examples/euler/make_mesh.py --rows 96 --angle 20 steep.msh

The channel is 1 high. The wedge begins at x = 0.5, and ends at x = 1.25; behind it the floor is level. Points inside
are moved at random, each quadrangle is divided along its shorter diagonal, and triangles and points have a random
order, as a solver for any mesh must expect. The sides have the physical names inflow, outflow and wall.
"""
import argparse
import math
import random

NAMES = ("inflow", "outflow", "wall")


def floor_at(x, begin, end, angle):
    return math.tan(math.radians(angle)) * (min(max(x, begin), end) - begin)


def grid_points(rows, columns, options, rng):
    """Points by row and column, as (x, y). Those inside are moved by up to 0.2 of the distance to the next ones."""
    points = []
    for i in range(rows + 1):
        for j in range(columns + 1):
            moves = rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2)
            is_inside = 0 < i < rows and 0 < j < columns
            a, b = moves if is_inside else (0, 0)
            x = options.length * (j + a) / columns
            low = floor_at(x, 0.5, 1.25, options.angle)
            points.append((x, low + (1 - low) * (i + b) / rows))
    return points


def cut_quadrangles(rows, columns, points):
    """Two triangles of each quadrangle, counter-clockwise."""
    triangles = []
    for i in range(rows):
        for j in range(columns):
            a = i * (columns + 1) + j
            b, c, d = a + 1, a + columns + 2, a + columns + 1
            shorter = math.dist(points[a], points[c]) < math.dist(points[b], points[d])
            triangles += [(a, b, c), (a, c, d)] if shorter else [(a, b, d), (b, c, d)]
    return triangles


def boundary(rows, columns):
    """(name, point, point) of each side at the boundary."""
    width = columns + 1
    sides = [("wall", row * width + j, row * width + j + 1) for row in (0, rows) for j in range(columns)]
    for name, j in (("inflow", 0), ("outflow", columns)):
        sides += [(name, i * width + j, (i + 1) * width + j) for i in range(rows)]
    return sides


def gmsh_text(points, triangles, sides, rng):
    places = list(range(len(points)))
    rng.shuffle(places)
    rng.shuffle(triangles)
    ids = [place + 1 for place in places]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(NAMES) + 1)]
    lines += [f'1 {i + 1} "{name}"' for i, name in enumerate(NAMES)]
    lines += [f'2 {len(NAMES) + 1} "gas"', "$EndPhysicalNames"]
    lines += ["$Nodes", str(len(points))]
    lines += [f"{ids[k]} {points[k][0]:.6g} {points[k][1]:.6g} 0"
              for k in sorted(range(len(points)), key=places.__getitem__)]
    lines += ["$EndNodes", "$Elements", str(len(sides) + len(triangles))]
    tags = [(1, NAMES.index(name) + 1, (a, b)) for name, a, b in sides] + [(2, len(NAMES) + 1, t) for t in triangles]
    for k, (kind, tag, corners) in enumerate(tags):
        lines.append(f"{k + 1} {kind} 2 {tag} {tag} {' '.join(str(ids[c]) for c in corners)}")
    return "\n".join(lines + ["$EndElements"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--rows", type=int, default=24, help="quadrangles across the channel")
    parser.add_argument("--length", type=float, default=3.5, help="of the channel")
    parser.add_argument("--angle", type=float, default=15, help="of the wedge, in degrees")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    options = parser.parse_args()
    if options.rows < 1 or options.length < 2 or not 0 <= options.angle <= 40:
        parser.error("needs --rows of 1 or more, --length of 2 or more, and --angle between 0 and 40")
    rng = random.Random(options.seed)
    rows, columns = options.rows, max(1, round(options.length * options.rows))
    points = grid_points(rows, columns, options, rng)
    with open(options.file, "w", encoding="ascii") as file:
        file.write(gmsh_text(points, cut_quadrangles(rows, columns, points), boundary(rows, columns), rng))


if __name__ == "__main__":
    main()
