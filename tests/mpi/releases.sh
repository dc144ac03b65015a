# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases that differ between releases of Open MPI. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# The program reported that this Open MPI lacks the tested feature.
skip_if_disabled() {
    ! grep -q '^skipped: ' "$out" || skip "$(sed -n 's/^skipped: //p' "$out" | head -n 1)"
}

# RANKS PATH [OPTION...]
persistent_right() {
    local ranks=$1 device=$2
    shift 2
    limit 120
    path_options "$device"
    job "${path[@]}" "$@" -np "$ranks" -- persistent
    skip_if_disabled
    lines 1 '^persistent: right$'
    took "$device"
}

# The device dies while several barriers are in progress. Later ones are software barriers.
persistent_dies() {
    limit 120
    path_options 'sim?die_after=200'
    job "${path[@]}" -np 3 -- persistent
    skip_if_disabled
    lines 1 '^persistent: right$'
    total_is failovers -gt 0
    total_is software -gt 0
}

# SETTING: rank 1 lacks the component, so it makes none of its collective calls in MPI_Barrier_init.
persistent_lacks() {
    limit 120
    only_rank 1 "$1"
    # Not exclusive: a rank without the plugin could not start at all.
    selection=()
    job -np 3 -- persistent kept
    skip_if_disabled
    lines 1 '^persistent: right$'
}

# MODE RANKS PATH: a session has no device, because no communicator outlives it that could carry
# notifications. The user gets a line if a device was requested.
sessions_right() {
    limit 60
    head -c 4096 /dev/zero >"$work/entered"
    path_options "$3"
    # Some PMLs of Open MPI 5.0 crash in a second session, without any plugin.
    job "${path[@]}" --mca pml ob1 -np "$2" -- sessions "$1" "$work/entered"
    skip_if_disabled
    lines 1 '^sessions: right$'
    case $3 in
    sim*) grep -aq 'software: .*the communicator belongs to a session' "$out" || fail 'no reason' ;;
    esac
}

# Open MPI's structures are not those that the component was compiled with.
abi_differs() {
    limit 60
    path_options sim
    job "${path[@]}" -x LD_PRELOAD="$programs/.libs/abi_preload.so" -np 3 -- many 100
    one_line_of 'built for another release of Open MPI: ompi_communicator_t has [0-9]+ bytes here, and had [0-9]+'
    lines 0 'totals of rank 0'
    lines 1 '^many: right$'
}

# TEXT: the component has printed one line, which contains TEXT.
one_line_of() {
    lines 1 'coll gba_barrier:'
    lines 1 "coll gba_barrier: .*$1"
}

# The exchange of MPI_Init runs in the background, 6.0's default; or no process waits for it.
modex_background() {
    case $(ompi_release) in
    4.1) skip 'MPI_Init of this Open MPI fails: "PML add procs failed"' ;;
    esac
    limit 60
    path_options none
    # By the environment: PRRTE takes a parameter that begins with pmix for one of PMIx's.
    job "${path[@]}" -x OMPI_MCA_pmix_base_async_modex=1 -x OMPI_MCA_async_mpi_init=0 -np 3 -- early_exit
    took none
}

modex_unfinished() {
    limit 60
    path_options none
    # MPI_Init of 4.1 can fail then by itself, because it lacks the word of another process for the PML. mpirun
    # can lose the text of that error.
    for _ in 1 2 3 4 5; do
        job "${path[@]}" -x OMPI_MCA_pmix_base_async_modex=1 -x OMPI_MCA_pmix_base_collect_data=0 \
            -x OMPI_MCA_async_mpi_init=1 -np 3 -- many 100 && break
        grep -q -e 'PML add procs failed' -e 'error occurred in MPI_Init' "$out" || fail "the job failed"
    done
    one_line_of 'pmix_base_collect_data is not'
    lines 1 '^many: right$'
}

ompi_release() {
    "$mpirun" --version | sed -nE '1s/.* ([0-9]+\.[0-9]+).*/\1/p'
}

fault_tolerant() {
    case $(ompi_release) in
    4.1) skip 'this Open MPI has no fault tolerance' ;;
    esac
}

# The component leaves such a job to Open MPI, and reports this to a user who requested a device.
ft_reported() {
    fault_tolerant
    limit 60
    path_options sim
    job --with-ft ulfm --mca coll_gba_barrier_device_path sim -np 3 -- many 100
    one_line_of 'the job runs with fault tolerance'
    job --with-ft ulfm -np 3 -- many 100
    lines 0 'coll gba_barrier'
}

ft_right() {
    fault_tolerant
    limit 60
    job --with-ft ulfm -np 4 -- ulfm || true # mpirun notes the dead rank in its status
    skip_if_disabled
    lines 0 '^FAIL'
    lines 1 '^ulfm: right$'
}

all_releases() {
    local ranks
    for ranks in 2 3 7; do
        ! $chosen || [ "$ranks" -eq 3 ] || continue
        test_case "persistent-$ranks-sim" persistent_right "$ranks" sim
        test_case "persistent-$ranks-none" persistent_right "$ranks" none
        test_case "persistent-$ranks-scarce" persistent_right "$ranks" 'sim?groups=3'
    done
    test_case persistent-dies persistent_dies
    test_case persistent-disable persistent_lacks OMPI_MCA_coll_gba_barrier_disable=1
    test_case persistent-no-plugin persistent_lacks OMPI_MCA_mca_base_component_path
    test_case sessions-only-sim sessions_right only 4 sim
    test_case sessions-only-none sessions_right only 4 none
    test_case sessions-two sessions_right two 3 sim
    test_case sessions-beside sessions_right beside 3 sim
    test_case release-abi abi_differs
    test_case release-modex-background modex_background
    test_case release-modex-unfinished modex_unfinished
    test_case release-ft-reported ft_reported
    test_case release-ft ft_right
}
