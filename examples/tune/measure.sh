#!/bin/sh
# examples/tune/measure.sh BUILD_DIR FILE: tunes the rod on the system's devices, and runs it with and without the
# result. Writes FILE.txt, FILE.policies, FILE.json and FILE.svg. From examples/tune/results, tools/tuning_page.py copies
# them into docs/tuning.md.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 BUILD_DIR FILE" >&2
  exit 2
fi
program="$1/bin/examples/tune"
mkdir -p "$(dirname "$2")"
echo "$(date -u +%Y-%m-%d), commit ${FERRY_COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD 2>/dev/null || echo unknown)}" > "$2.txt"
"$program" find "$2.policies" >> "$2.txt"
mv "$2.policies.json" "$2.json"
"$(dirname "$0")/../../tools/tuning_picture.py" "$2.json" -o "$2.svg"
for run in 1 2 3; do
  echo "without policies: $("$program")" >> "$2.txt"
  echo "with policies: $(FERRY_TUNE="$2.policies" "$program")" >> "$2.txt"
done
