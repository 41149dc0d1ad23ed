#!/bin/sh
# on_own_gpu.sh command...: runs the command of each process of mpirun where it sees one GPU, its own. Exits with 77,
# which ctest counts as skipped, if there are fewer GPUs than processes.
if [ "$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')" -lt "$OMPI_COMM_WORLD_LOCAL_SIZE" ]; then
  echo "skipped: fewer GPUs than processes"
  exit 77
fi
CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK
export CUDA_VISIBLE_DEVICES
exec "$@"
