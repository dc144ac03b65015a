# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of software barriers on one host: the cost of a long wait, and the visibility of their memory.
# run sources this file, after faults.sh.
# shellcheck disable=SC2034,SC2154 # variables of run

# The memory of a team has no name. /dev/shm has no file while it is in use, and none after the whole
# job was killed. Another user's file under a name that it could have does no harm.
nameless() {
    local before pid trap_file=/dev/shm/gba-team job_pid made=false apart
    limit 60
    if [ ! -e "$trap_file" ] && (umask 777 && : >"$trap_file"); then
        made=true
        [ "$(id -u)" -ne 0 ] || chown 65534 "$trap_file"
    fi
    before=$(shm_files)
    put_apart
    path_options none
    start_victim 4 many 1000000000
    until_true running 4
    until_true grep -q 'MPI_COMM_WORLD .*: software: ' "$out"
    pid=$(processes | head -n 1)
    grep -q 'memfd:gba-team' "/proc/$pid/maps" || fail "no memory of a team in process $pid"
    [ "$(shm_files)" = "$before" ] || fail "seen in /dev/shm: $(shm_files)"
    # shellcheck disable=SC2046 # several
    kill -KILL "$job_pid" $(processes)
    wait "$job_pid" 2>/dev/null || true
    until_true running 0
    [ "$(shm_files)" = "$before" ] || fail "left in /dev/shm: $(shm_files)"
    ! $made || rm -f "$trap_file"
}

all_software() {
    local mode name hosts ranks algorithm hierarchy text exchange
    local queued='limit=12 tcp' tree='none sw_algorithm=tree sw_radix=2 hierarchy=flat'
    rows <<END
# The tree, in shared memory or over messages, with inner ranks.
software-tree-shared | 7 | $tree hosts=1 | early_exit 100 | took | 1+/software: tree through shared memory/
software-tree-messages | 7 | $tree hosts=7 | early_exit 100 | took | 1+/software: tree through messages/
software-tree-persistent | 3 | $tree hosts=3 | persistent | took | 1+/software: tree through messages/
# The ranks have left a dead device in a nonblocking barrier, for messages. Then the barrier in degraded mode, at whose
# end the ranks leave the device.
software-queued-recovered | 2 | sim?die_after=5 $queued retry_after=1 sw_enable=0 hosts=1 | queued WORK 3
  | 1+/MPI_COMM_WORLD .*: sim: group/ | /fallback: .*the device stopped answering/
software-queued-degraded | 2 | sim?die_after=5 $queued retry_after=1 hosts=1 | queued WORK 4
  | 1+/MPI_COMM_WORLD .*: sim: group/ | /software: .*the device stopped answering/
# A message that is no signal is not mistaken for one. Messages of paths that ranks gave up in a trial are no signals of
# this one.
software-stray | 2 | none hosts=2 | stray | fails | /unexpected message from rank 0/
software-stray-paths | 2 | none hosts=2 | stray 7 | took
# coll/sync, below us, runs a barrier before or after each collective call. That barrier is Open MPI's and uses
# messages. So does ours among pretended hosts, and a nonblocking one may be in progress meanwhile.
software-sync-before | 4 | none .coll_sync_barrier_before=1 hosts=3 | ibarrier 1 | took
software-sync-after | 4 | none .coll_sync_barrier_after=1 hosts=3 | ibarrier 1 | took
# Waiting ranks sleep.
software-idle-2 | 2 | alone none | idle | took
software-idle-4 | 4 | alone none | idle | took
software-idle-yield-4 | 4 | alone none .mpi_yield_when_idle=0 | idle | took
END
    # MPI_Finalize does not wait for all ranks, and the last signals leave the process all the same. (With
    # these algorithms of the exchange not all ranks have connections with each other before that barrier.)
    exchange='.coll_tuned_use_dynamic_rules=1 .coll_tuned_allgather_algorithm=1 .coll_tuned_allreduce_algorithm=1'
    exchange+=' .coll_tuned_bcast_algorithm=1'
    rows <<END
software-finalize-async | 5 | none .async_mpi_finalize=1 tcp hierarchy=flat sw_algorithm=v1 $exchange hosts=5 | leave
  | took | 5/^leave: rank . has left/
END
    # Rank 0 leaves a barrier while much data is queued ahead of its signal, and does not call MPI until all have left.
    for mode in 1 2; do
        while read -r name hosts ranks hierarchy algorithm; do
            rows <<END
software-queued-$name-$mode | $ranks | none $queued hierarchy=$hierarchy sw_algorithm=$algorithm hosts=$hosts
  | queued WORK $mode | 1+/MPI_COMM_WORLD .*: software: [a-z 0-9]* \($algorithm\)/
END
        done <<'END'
flat-v1 2 2 flat v1
flat-v2 3 3 flat v2
node 2 4 node v1
END
        text='sim: groups among the leaders of 4 hosts, dissemination \(v1\) among 2 switch domains'
        rows <<END
software-queued-domains-$mode | 4 | sim $queued hosts=4 devices=-,- | queued WORK $mode | 1+/MPI_COMM_WORLD .*: $text/
END
    done
    test_alone software-nameless nameless
}
