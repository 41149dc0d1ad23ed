#!/bin/sh
# on_own_gpu.sh command...: runs the command of each process of mpirun where it sees one GPU, its own. Exits with 77,
# which ctest counts as skipped, if there are fewer GPUs than processes.
if [ -z "$OMPI_COMM_WORLD_LOCAL_SIZE" ]; then
  echo "skipped: Open MPI's mpirun alone says which process this is"
  exit 77
fi
all=${CUDA_VISIBLE_DEVICES-$(nvidia-smi -L 2>/dev/null | sed -n 's/^GPU \([0-9]*\):.*/\1/p' | paste -sd, -)}
if [ "$(echo "$all" | tr ',' '\n' | grep -c .)" -lt "$OMPI_COMM_WORLD_LOCAL_SIZE" ]; then
  echo "skipped: fewer GPUs than processes"
  exit 77
fi
CUDA_VISIBLE_DEVICES=$(echo "$all" | cut -d, -f$((OMPI_COMM_WORLD_LOCAL_RANK + 1)))
export CUDA_VISIBLE_DEVICES
exec "$@"
