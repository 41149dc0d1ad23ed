#!/bin/sh
# benchmarks/run.sh BUILD_DIR RESULTS_FILE: runs every benchmark, and appends the results to RESULTS_FILE as JSON lines.
# Takes about 6 minutes on four GPUs. FERRY_COMMIT names the commit if there is no git. If python3 has PyTorch with
# CUDA, its allocator is measured just before ferry's pools, as their baseline. FERRY_PYTORCH_RESULTS names a file that
# already contains these results. Expressions and reductions are compared with those of PyTorch and JAX where python3 has
# them.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 BUILD_DIR RESULTS_FILE" >&2
  exit 2
fi
export NCCL_NVLS_ENABLE=0    # no NVLink multicast
: "${FERRY_COMMIT:=$(git -C "$(dirname "$0")" rev-parse --short HEAD 2>/dev/null || echo unknown)}"
export FERRY_COMMIT
mkdir -p "$(dirname "$2")"
measure_pytorch() {
  [ -z "${FERRY_PYTORCH_RESULTS:-}" ] || return 0
  python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null || {
    echo "python3 has no PyTorch with CUDA: pools are not compared with it"
    return 0
  }
  rivals=$(mktemp)
  trap 'rm -f "$rivals"' EXIT
  if python3 "$(dirname "$0")/pool/pytorch_baseline.py" "$rivals"; then
    export FERRY_PYTORCH_RESULTS="$rivals"
  else
    echo "pool/pytorch_baseline.py failed: pools are not compared with PyTorch" >&2
  fi
}

programs="$1/bin/benchmarks"
measure() {    # status 77: the program skipped and reported what needs more GPUs
  name=$1
  shift
  "$programs/$name" --benchmark_color=false "$@" || [ $? = 77 ]
}

for program in guard element_access launch host_task loops reduce stencil lattice batches jacobi expressions sharded_expressions expressions_cpu expression_cost transform reductions reductions_cpu sorting cpu halo copy sharded_copy submission collectives unified pool; do
  echo "== $program"
  [ "$program" != cpu ] || [ -x "$programs/cpu" ] || { echo "not in builds with CUDA"; continue; }
  [ "$program" != pool ] || measure_pytorch
  measure "$program" --results "$2"
done
if python3 -c 'import torch' 2>/dev/null || python3 -c 'import jax' 2>/dev/null; then
  echo "== expressions, beside PyTorch and JAX"
  python3 "$(dirname "$0")/expressions/frameworks.py" "$2"
fi
echo "== expressions, interpreted"
(export FERRY_JIT=off; measure expressions --results "$2")
echo "== copy, without peers"
(export FERRY_PEER=off; measure copy --benchmark_filter="no peers" --results "$2")
