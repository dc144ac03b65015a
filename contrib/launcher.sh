# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Source it for one function, which scripts and tests share.

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
