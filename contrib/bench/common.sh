# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The common part of the benchmarks. Source it with $top set to the sources, $build to the build directory.
# shellcheck disable=SC2034,SC2154 # set and used on the other side

# shellcheck source=contrib/launcher.sh
. "$top/contrib/launcher.sh"

# MPIRUN or OSHRUN, as configure found it.
launcher() {
    sed -n "s/^$1 = //p" "$build/Makefile"
}

if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# RANKS: set the launcher's options for that number of ranks, in the array `placement`. Ranks that
# have a core each are bound, which is Open MPI's default for only two ranks.
place_ranks() {
    placement=(--bind-to core)
    [ "$1" -le "$(processors)" ] || placement=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
}

# [OPTION...]: start a gba-switchd on the first host of tests/cluster, over TCP, and set $switch, its device path. All
# hosts share /run, where its key is. It ends with the hosts.
switch_start() {
    export GBA_SWITCH_KEY_FILE=/run/bench.key
    (umask 077 && od -An -tx1 -N16 /dev/urandom | tr -d ' ' >"$GBA_SWITCH_KEY_FILE")
    "$build/sim/switch/gba-switchd" --listen none --tcp "${HOSTS%%,*}:0" --key-file "$GBA_SWITCH_KEY_FILE" \
        "$@" >/run/bench.ready &
    until [ -s /run/bench.ready ]; do
        kill -0 $!
        sleep 0.1
    done
    read -r _ _ switch _ </run/bench.ready
}
