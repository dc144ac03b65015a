# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of software barriers on one host: the cost of a long wait, and the visibility of their memory.
# run sources this file, after faults.sh.
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

# The memory of a team has no name. /dev/shm has no file while it is in use, and none after the whole
# job was killed. Another user's file under a name that it could have does no harm.
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

# WHEN: coll/sync, below us, runs a barrier before or after each collective call. That barrier is Open
# MPI's and uses messages. So does ours among pretended hosts, and a nonblocking one may be in progress
# meanwhile.
beside_sync() {
    limit 60
    path_options none
    job "${path[@]}" --mca "coll_sync_barrier_$1" 1 -x GBA_TEST_HOSTS=3 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 4 -- ibarrier 1
    lines 0 '^FAIL'
    took none
}

# A message that is no signal is not mistaken for one.
stray_message() {
    limit 60
    path_options none
    fails job "${path[@]}" -x GBA_TEST_HOSTS=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so" \
        -np 2 -- stray
    lines 1 'unexpected message from rank 0'
}

# Messages of paths that ranks gave up in a trial are no signals of this one.
stray_paths() {
    limit 60
    path_options none
    path+=(-x GBA_TEST_HOSTS=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    job "${path[@]}" -np 2 -- stray "$1"
    lines 0 '^FAIL'
    took none
}

# MPI_Finalize does not wait for all ranks, and the last signals leave the process all the same. (With
# these algorithms of the exchange not all ranks have connections with each other before that barrier.)
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

# HOSTS RANKS MODE PATH [OPTION...]: rank 0 leaves a barrier while much data is queued ahead of its
# signal, and does not call MPI until all ranks have left. PATH: the path in the line of MPI_COMM_WORLD.
queued() {
    local hosts=$1 ranks=$2 mode=$3 path_text=$4 directory
    shift 4
    limit 12
    directory=$(mktemp -d "$work/queued.XXXXXX")
    job --mca coll_gba_barrier_verbose 1 --mca btl tcp,self "$@" -x GBA_TEST_HOSTS="$hosts" \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np "$ranks" -- queued "$directory" "$mode"
    grep -q "MPI_COMM_WORLD .*: $path_text" "$out" || fail "not on the path \"$path_text\""
}

queued_software() { # HOSTS RANKS MODE KIND
    local algorithm=v1
    [ "$4" != flat-v2 ] || algorithm=v2
    queued "$1" "$2" "$3" "software: [a-z 0-9]* ($algorithm)" --mca coll_gba_barrier_device_path none \
        --mca coll_gba_barrier_hierarchy "${4%-*}" --mca coll_gba_barrier_sw_algorithm "$algorithm"
}

queued_domains() { # MODE
    queued 4 4 "$1" 'sim: groups among the leaders of 4 hosts, dissemination (v1) among 2 switch domains' \
        --mca coll_gba_barrier_device_path sim \
        -x GBA_TEST_DEVICES="sim:queued-$BASHPID-0 sim:queued-$BASHPID-1"
}

# The ranks have left a dead device in a nonblocking barrier, for messages.
queued_recovered() {
    queued 1 2 3 'sim: group' --mca coll_gba_barrier_device_path 'sim?die_after=5' \
        --mca coll_gba_barrier_retry_after 1 --mca coll_gba_barrier_sw_enable 0
    lines 1 'fallback: .*the device stopped answering'
}

# The barrier in degraded mode, at whose end the ranks leave the device.
queued_degraded() {
    queued 1 2 4 'sim: group' --mca coll_gba_barrier_device_path 'sim?die_after=5' \
        --mca coll_gba_barrier_retry_after 1
    lines 1 'software: .*the device stopped answering'
}

# HOSTS RANKS PROGRAM [ARGUMENT...]: the tree, in shared memory or over messages, with inner ranks.
tree_right() {
    local hosts=$1 ranks=$2 kind='tree through messages'
    shift 2
    limit 60
    path_options none
    [ "$hosts" -gt 1 ] || kind='tree through shared memory'
    job "${path[@]}" --mca coll_gba_barrier_sw_algorithm tree --mca coll_gba_barrier_sw_radix 2 \
        --mca coll_gba_barrier_hierarchy flat -x GBA_TEST_HOSTS="$hosts" \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np "$ranks" -- "$@"
    skip_if_disabled
    lines 0 '^FAIL'
    grep -q "software: $kind" "$out" || fail "no $kind"
    took none
}

all_software() {
    local mode
    test_case software-tree-shared tree_right 1 7 early_exit 100
    test_case software-tree-messages tree_right 7 7 early_exit 100
    test_case software-tree-persistent tree_right 3 3 persistent
    for mode in 1 2; do
        test_case "software-queued-flat-v1-$mode" queued_software 2 2 "$mode" flat-v1
        test_case "software-queued-flat-v2-$mode" queued_software 3 3 "$mode" flat-v2
        test_case "software-queued-node-$mode" queued_software 2 4 "$mode" node-v1
        test_case "software-queued-domains-$mode" queued_domains "$mode"
    done
    test_case software-queued-recovered queued_recovered
    test_case software-queued-degraded queued_degraded
    test_case software-finalize-async finalize_async
    test_case software-stray stray_message
    test_case software-stray-paths stray_paths 7
    test_case software-sync-before beside_sync before
    test_case software-sync-after beside_sync after
    test_alone software-idle-2 idle_right 2
    test_alone software-idle-4 idle_right 4
    test_alone software-idle-yield-4 idle_right 4 --mca mpi_yield_when_idle 0
    test_alone software-nameless nameless
}
