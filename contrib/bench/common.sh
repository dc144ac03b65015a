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

fail() {
    echo "${0##*/}: $*" >&2
    return 1
}
skip() { fail "$*"; }

# switch_start ADDRESS: start a gba-switchd, whose files are in /run, which all hosts of tests/cluster share, and set
# $tcp, its device path. It ends with the hosts.
# shellcheck source=tests/switchd.sh
. "$top/tests/switchd.sh"
work=/run
