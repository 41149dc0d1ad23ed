#!/bin/sh
# Runs a program as a process on one of several machines, by its rank: on_machine.sh "rank % 2" program [argument...]
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
FERRY_HOST=machine$(($1))
export FERRY_HOST
shift
exec "$@"
