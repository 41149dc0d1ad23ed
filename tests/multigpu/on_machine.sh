#!/bin/sh
# Runs a program as a process on one of several simulated hosts, chosen by its rank:
#   on_machine.sh "rank % 2" program [argument...]
# With GPUs each host has two of its own, and NCCL treats them as hosts connected by sockets.
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
machine=$(($1))
FERRY_HOST=machine$machine
export FERRY_HOST
shift
if [ "$FERRY_BACKEND" = cuda ]; then
  if [ "$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')" -lt 4 ]; then
    echo "skipped: two machines of two GPUs need four GPUs"
    exit 77
  fi
  FERRY_TEST_DEVICES=2 CUDA_VISIBLE_DEVICES=$((2 * machine)),$((2 * machine + 1)) NCCL_HOSTID=$FERRY_HOST NCCL_SOCKET_IFNAME=lo
  export FERRY_TEST_DEVICES CUDA_VISIBLE_DEVICES NCCL_HOSTID NCCL_SOCKET_IFNAME
fi
exec "$@"
