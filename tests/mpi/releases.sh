# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases that differ between releases of Open MPI. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# MODE RANKS PATH: a session has no device, because no communicator outlives it that could carry
# notifications. The user gets a line if a device was requested.
sessions_right() {
    local reason=
    head -c 4096 /dev/zero >"$work/entered"
    [[ $3 != sim* ]] || reason=' | 1+/software: .*the communicator belongs to a session/'
    # Some PMLs of Open MPI 5.0 crash in a second session, without any plugin.
    row_job "+ | $2 | $3 .pml=ob1 | sessions $1 WORK/entered | /^sessions: right$/$reason"
}

# The exchange of MPI_Init runs in the background, and no process waits for it.
modex_unfinished() {
    local path
    limit 60
    path_options none
    # MPI_Init of 4.1 can fail then by itself, because it lacks the word of another process for the PML. mpirun
    # can lose the text of that error.
    for _ in 1 2 3 4 5; do
        job "${path[@]}" -x OMPI_MCA_pmix_base_async_modex=1 -x OMPI_MCA_pmix_base_collect_data=0 \
            -x OMPI_MCA_async_mpi_init=1 -np 3 -- many 100 && break
        grep -q -e 'PML add procs failed' -e 'error occurred in MPI_Init' "$out" || fail "the job failed"
    done
    lines 1 'coll gba_barrier:'
    lines 1 'coll gba_barrier: .*pmix_base_collect_data is not'
    lines 1 '^many: right$'
}

ft_right() {
    row_needs 5
    limit 60
    job --with-ft ulfm -np 4 -- ulfm || true # mpirun notes the dead rank in its status
    ! grep -q '^skipped: ' "$out" || skip "$(sed -n 's/^skipped: //p' "$out" | head -n 1)"
    lines 0 '^FAIL'
    lines 1 '^ulfm: right$'
}

all_releases() {
    local ranks='2 3 7' mode
    ! $chosen || ranks=3
    rows <<END
persistent-@-sim | $ranks | sim | persistent | /^persistent: right$/ | took
persistent-@-none | $ranks | none | persistent | /^persistent: right$/ | took
persistent-@-scarce | $ranks | sim?groups=3 | persistent | /^persistent: right$/ | took
# The device dies while several barriers are in progress. Later ones are software barriers.
persistent-dies | 3 | sim?die_after=200 | persistent | /^persistent: right$/ | failovers>0 software>0
# Rank 1 lacks the component, so it makes none of its collective calls in MPI_Barrier_init.
persistent-disable | 3 | quiet free rank=1:OMPI_MCA_coll_gba_barrier_disable=1 | persistent kept | /^persistent: right$/
persistent-no-plugin | 3 | quiet free rank=1:OMPI_MCA_mca_base_component_path | persistent kept | /^persistent: right$/
# Open MPI's structures are not those that the component was compiled with.
release-abi | 3 | sim preload=abi_preload | many 100 | /coll gba_barrier:/ | 0/totals of rank 0/ | /^many: right$/
  | /coll gba_barrier: .*built for another release of Open MPI: ompi_communicator_t has [0-9]+ bytes here, and had [0-9]+/
# The exchange of MPI_Init runs in the background, 6.0's default. MPI_Init of 4.1 fails then. By the environment: PRRTE
# takes a parameter that begins with pmix for one of PMIx's. On a busy machine 2 of 100 such jobs of 5.0.7 hang in
# MPI_Comm_split_type, with the plugin and without it.
release-modex-background | 3 | needs=5 none OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_async_mpi_init=0 | early_exit | took
# The component leaves a job with fault tolerance to Open MPI, and reports this to a user who requested a device.
release-ft-reported | 3 | needs=5 quiet sim --with-ft=ulfm | many 100 | /coll gba_barrier:/
  | /coll gba_barrier: .*the job runs with fault tolerance/
+ | 3 | quiet --with-ft=ulfm | many 100 | 0/coll gba_barrier/
END
    test_case sessions-only-sim sessions_right only 4 sim
    test_case sessions-only-none sessions_right only 4 none
    test_case sessions-two sessions_right two 3 sim
    test_case sessions-beside sessions_right beside 3 sim
    test_case release-modex-unfinished modex_unfinished
    test_case release-ft ft_right
}
