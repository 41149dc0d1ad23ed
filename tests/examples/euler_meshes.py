#!/usr/bin/env python3
"""euler_meshes.py EULER MAKE_MESH: runs the example on meshes of the script, on several devices, and on invalid files.

Checks the density behind the wedge's shock, and that every run equals the serial one.
"""
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

# Two triangles that share a side; the second one clockwise. The sides on the left and on the right are walls, too.
SQUARE = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Comments
"sides are named below"
$EndComments
$PhysicalNames
2
1 7 "wall"
2 9 "gas"
$EndPhysicalNames
$Nodes
4
10 0 0 0
20 1 0 0
30 1 1 0
40 0 1 0
$EndNodes
$Elements
7
1 1 2 7 1 10 20
2 1 2 7 1 20 30
3 1 2 7 1 30 40
4 1 2 7 1 40 10
5 2 2 9 1 10 20 30
6 2 2 9 1 10 40 30
7 15 2 0 1 10
$EndElements
"""
INVALID = (
    ("no file of Gmsh", "a mesh\n", ["'a'", "section of Gmsh"]),
    ("no format", SQUARE[SQUARE.index("$PhysicalNames"):], ["no $MeshFormat"]),
    ("version 4", SQUARE.replace("2.2 0 8", "4.1 0 8"), ["4.1", "msh22"]),
    ("binary", SQUARE.replace("2.2 0 8", "2.2 1 8"), ["binary", "msh22"]),
    ("cut short", SQUARE[:SQUARE.index("7 15 2")], ["an element"]),
    ("a section without end", SQUARE[:SQUARE.index("$EndElements")], ["ends inside of $Elements"]),
    ("no triangles", re.sub(r"\n[567] .*", "", SQUARE).replace("\n7\n1 1", "\n4\n1 1"), ["no triangles"]),
    ("an unknown point", SQUARE.replace("10 40 30", "10 40 50"), ["no point 50"]),
    ("a point twice", SQUARE.replace("40 0 1 0", "30 0 1 0"), ["two points 30"]),
    ("a side without a name", SQUARE.replace("1 1 2 7 1 10 20", "1 15 2 7 1 10"),
     ["(0", "(1", "one triangle only", "wall"]),
    ("a name inside", SQUARE.replace("7 15 2 0 1 10", "7 1 2 7 1 10 30"), ["more than two triangles or names"]),
    ("a name of no side", SQUARE.replace("7 15 2 0 1 10", "7 1 2 7 1 20 40"), ["in no triangle"]),
    ("another name", SQUARE.replace('"wall"', '"floor"'), ["'floor'", "inflow, outflow or wall"]),
    ("no area", SQUARE.replace("30 1 1 0", "30 2 0 0"), ["triangle 5", "no area"]),
    ("quadrangles", SQUARE.replace("6 2 2 9 1 10 40 30", "6 3 2 9 1 10 20 30 40"), ["element 6", "type 3"]),
    ("letters", SQUARE.replace("20 1 0 0", "20 x 0 0"), ["a coordinate"]))


def density_behind_shock(mach, angle):
    """Behind an oblique shock of a gas with gamma = 1.4, over that of the inflow: the weak solution of the relation of
    the shock's and the wedge's angle, by bisection."""
    def turned(beta):
        normal = (mach * math.sin(beta)) ** 2
        return math.atan(2 / math.tan(beta) * (normal - 1) / (mach ** 2 * (1.4 + math.cos(2 * beta)) + 2))
    low, high = math.asin(1 / mach), math.radians(60)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if turned(middle) < math.radians(angle) else (low, middle)
    normal = (mach * math.sin(low)) ** 2
    return 2.4 * normal / (0.4 * normal + 2)


def main():
    euler, make_mesh = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    failures = []
    with tempfile.TemporaryDirectory(prefix="ferry-euler-") as name:
        folder = pathlib.Path(name)

        def run(mesh, devices, *arguments):
            return subprocess.run([euler, "--mesh", mesh, "--quiet", *arguments], capture_output=True, text=True,
                                  check=False,
                                  env={**os.environ, "FERRY_SIM": f"devices={devices};schedule=random:{devices}"})

        def expect_success(what, done):
            if done.returncode != 0 or done.stderr:
                failures.append(f"{what}: exit status {done.returncode}: {done.stderr}")
            return done.returncode == 0

        made = folder / "made.msh"
        for seed, (rows, angle, devices) in enumerate(((1, 0, 3), (1, 25, 8), (5, 15, 4), (6, 30, 5), (9, 10, 7))):
            subprocess.run([sys.executable, make_mesh, made, "--rows", str(rows), "--angle", str(angle),
                            "--seed", str(seed)], check=True)
            for refine, order in ((0, "hilbert"), (1, "hilbert"), (1, "file")):
                expect_success(f"{rows} rows on {devices} devices, refined {refine} times, order of {order}",
                               run(made, devices, "--refine", str(refine), "--order", order, "--steps", "30",
                                   "--check"))

        # Gas that moves along level walls does not change.
        subprocess.run([sys.executable, make_mesh, made, "--rows", "6", "--angle", "0"], check=True)
        values, picture = folder / "values.txt", folder / "density.png"
        if expect_success("level walls", run(made, 2, "--steps", "50", "--values", values, "--picture", picture)):
            densities = [float(line.split()[2]) for line in values.read_text().splitlines()]
            if len(densities) != 2 * 6 * 21 or max(abs(d - 1) for d in densities) > 1e-8:
                failures.append(f"level walls: {len(densities)} cells of {min(densities)} to {max(densities)}")
            png = picture.read_bytes()
            if png[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", png[16:24]) != (1400, 400):
                failures.append("level walls: density.png is no picture of the right size")

        # The density along the wedge: with triangles of half the size, it is nearer to the exact one.
        for mach, angle in ((3, 15), (2.5, 10)):
            subprocess.run([sys.executable, make_mesh, made, "--rows", "16", "--angle", str(angle)], check=True)
            slope, exact, errors = math.tan(math.radians(angle)), density_behind_shock(mach, angle), []
            for refine in (0, 1):
                if not expect_success("wedge", run(made, 4, "--mach", str(mach), "--refine", str(refine), "--steps",
                                                   str(500 * 2 ** refine), "--courant", "0.9", "--values", values)):
                    continue
                cells = [tuple(map(float, line.split())) for line in values.read_text().splitlines()]
                near = [density for x, y, density in cells if 1 < x < 1.2 and 0.02 < y - slope * (x - 0.5) < 0.12]
                errors.append(1 - sum(near) / len(near) / exact)
            if len(errors) != 2 or not 0 < errors[1] < 0.7 * errors[0] < 0.05:
                failures.append(f"Mach {mach}, {angle} degrees: the density is wrong by {errors} of {exact}")

        file = folder / "small.msh"
        file.write_text(SQUARE)
        expect_success("a square", run(file, 3, "--mach", "0.5", "--steps", "20", "--check"))
        for what, text, words in INVALID:
            file.write_text(text)
            done = run(file, 2, "--steps", "1")
            if done.returncode != 1 or any(w not in done.stderr for w in ["euler: ", "small.msh", *words]):
                failures.append(f"{what}: exit status {done.returncode}, and it says: {done.stderr}")
        done = run(folder / "missing.msh", 2)
        if done.returncode != 1 or "missing.msh" not in done.stderr or "cannot be opened" not in done.stderr:
            failures.append(f"no file: exit status {done.returncode}, and it says: {done.stderr}")
    print("\n".join(failures) or "all as expected")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
