# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Source it for functions that scripts and tests share.

# MPIRUN: let it start more ranks than there are cores. Each launcher has a name of its own for that:
# 4.1's is not PRRTE, and the PRRTE of 6.0 complains of the name that 5.0's has.
allow_oversubscription() {
    export OMPI_MCA_rmaps_base_oversubscribe=1
    case $("$1" --version 2>/dev/null) in
    *'(Open MPI) 4.'*) ;;
    *'(Open MPI) 5.'*) export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe ;;
    *) export PRTE_MCA_mapby=:oversubscribe ;;
    esac
}

# The processors that this process may use. Two variables of OpenMP, which clusters set, would change what nproc
# prints.
processors() {
    env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# The cores of these processors: a rank that shares a core with another one is slower.
usable_cores() {
    { sed -n 's/^Cpus_allowed_list:[[:space:]]*/allowed,/p' /proc/self/status; lscpu -p=CPU,CORE,SOCKET; } 2>/dev/null |
        awk -F , -v all="$(processors)" '
            $1 == "allowed" {
                for (i = 2; i <= NF; i++) {
                    n = split($i, ends, "-")
                    for (cpu = ends[1] + 0; cpu <= ends[n] + 0; cpu++) usable[cpu]
                }
            }
            $1 in usable && !seen[$2, $3]++ { cores++ }
            END { print (cores > 0 ? cores : all) }'
}
