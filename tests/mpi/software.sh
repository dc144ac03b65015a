# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Software barriers on one host: what a long wait costs, and what is to be seen of their memory. run
# sources this, after faults.sh.
# shellcheck disable=SC2154 # variables of run

# RANKS [OPTION...]: waiting ranks sleep.
idle_right() {
    local ranks=$1
    shift
    limit 60
    path_options none
    job "${path[@]}" "$@" -np "$ranks" -- idle
    took none
}

software_runs() {
    grep -q 'MPI_COMM_WORLD .*: software: ' "$out" && [ "$(processes | wc -l)" -eq 4 ]
}

# The memory of a team has no name: nothing in /dev/shm while it is in use, nothing when all of the
# job was killed; and a file that bears what would be its name, and is another user's, does no harm.
nameless() {
    local before pid trap_file=/dev/shm/gba-team job_pid made=false
    limit 60
    if [ ! -e "$trap_file" ] && (umask 777 && : >"$trap_file"); then
        made=true
        [ "$(id -u)" -ne 0 ] || chown 65534 "$trap_file"
    fi
    before=$(shm_files)
    path_options none
    "$mpirun" "${selection[@]}" "${path[@]}" --mca orte_tmpdir_base "$work" \
        --mca btl_vader_backing_directory "$work" -np 4 "$programs/many" 1000000000 >"$out" 2>&1 &
    job_pid=$!
    until_true software_runs
    pid=$(processes | head -n 1)
    grep -q 'memfd:gba-team' "/proc/$pid/maps" || fail "no memory of a team in process $pid"
    [ "$(shm_files)" = "$before" ] || fail "seen in /dev/shm: $(shm_files)"
    # shellcheck disable=SC2046 # several
    kill -KILL "$job_pid" $(processes)
    wait "$job_pid" 2>/dev/null || true
    until_true none_run
    [ "$(shm_files)" = "$before" ] || fail "left in /dev/shm: $(shm_files)"
    ! $made || rm -f "$trap_file"
}

# WHEN: coll/sync, below us, has a barrier before or after each collective call: Open MPI's, over
# messages, as is ours among pretended hosts, of which a nonblocking one may be under way meanwhile.
beside_sync() {
    limit 60
    path_options none
    job "${path[@]}" --mca "coll_sync_barrier_$1" 1 -x GBA_TEST_HOSTS=3 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 4 -- ibarrier 1
    lines 0 '^FAIL'
    took none
}

# What is no signal is not taken for one.
stray_message() {
    limit 60
    path_options none
    fails job "${path[@]}" -x GBA_TEST_HOSTS=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so" \
        -np 2 -- stray
    lines 1 'a message that is no signal of this barrier, from rank 0'
}

# MPI_Finalize waits for nobody, and the last signals get out all the same. (By these algorithms of
# the exchange not all ranks have connections with each other before that barrier.)
finalize_async() {
    limit 60
    path_options none
    job "${path[@]}" --mca async_mpi_finalize 1 --mca btl tcp,self --mca coll_gba_barrier_hierarchy flat \
        --mca coll_gba_barrier_sw_algorithm v1 --mca coll_tuned_use_dynamic_rules 1 \
        --mca coll_tuned_allgather_algorithm 1 --mca coll_tuned_allreduce_algorithm 1 \
        --mca coll_tuned_bcast_algorithm 1 -x GBA_TEST_HOSTS=5 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 5 -- leave
    lines 5 '^leave: rank . has left'
    took none
}

all_software() {
    test_case software-finalize-async finalize_async
    test_case software-stray stray_message
    test_case software-sync-before beside_sync before
    test_case software-sync-after beside_sync after
    test_case software-idle-2 idle_right 2
    test_case software-idle-4 idle_right 4
    test_case software-idle-yield-4 idle_right 4 --mca mpi_yield_when_idle 0
    test_case software-nameless nameless
}
