#!/usr/bin/env python3
"""copy_arguments.py COPY DATA: runs the example between all kinds of places, and with invalid arguments."""
import pathlib
import subprocess
import sys


def main():
    copy, file = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "jacksboro_elevation.npy"
    failures = []

    def run(*arguments):
        return subprocess.run([copy, file, *arguments], capture_output=True, text=True, check=False)

    for pair in (("memory", "memory"), ("memory", "gpu0"), ("pinned", "gpu-last"), ("gpu-last", "unified")):
        done = run(*pair, "--times", "1")
        if (done.returncode != 0 or f"{pair[0]} to {pair[1]}, " not in done.stdout
                or ": " not in done.stdout.splitlines()[-1]):
            failures.append(f"{pair}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    for arguments, said in ((("gpu0", "gpu77"), "there is no gpu77: the last one here is gpu"),
                            (("gpu0", "gpu"), "'gpu' is no place"), (("gpu1x", "gpu0"), "'gpu1x' is no place"),
                            (("disk", "gpu0"), "'disk' is no place"),
                            (("gpu0", "memory", "--times", "x"), "--times needs a whole number from 1 on"),
                            (("gpu0", "memory", "--times", "0"), "--times needs a whole number from 1 on"),
                            (("gpu0", "memory", "--times", "3.5"), "--times needs a whole number from 1 on"),
                            (("gpu0", "memory", "--times"), "'--times' is no option"),
                            (("gpu0", "memory", "--links"), "'--links' is no option")):
        done = run(*arguments)
        if done.returncode != 1 or said not in done.stderr or done.stdout:
            failures.append(f"{arguments}: not refused with \"{said}\": {done.stdout}{done.stderr}")
    print("\n".join(failures) or "all is well")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
