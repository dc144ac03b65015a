# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases in which one rank lacks a resource: each call of the plugin and of libgba for memory, a mapping, a
# file or a descriptor fails in turn (lack_preload.c). All ranks take the same barrier, or the job ends
# with one line that says why. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# The job has ended, and says why, once.
lack_ended() {
    local status=$1
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || fail "call $call: a hang"
    lines 0 '^FAIL'
    lines 0 '[Ss]egmentation fault|signal [0-9]+ \(|Abort(ed)? \(|double free|corrupted'
    lines 1 'coll gba_barrier: .*(out of memory|cannot )'
}

# RANK HOSTS BEFORE AFTER [OPTION...]: from call 1 until no call is left to fail.
lack_each() {
    local rank=$1 hosts=$2 before=$3 after=$4 call=1 status more=("${@:5}")
    limit 120
    while :; do
        status=0
        export GBA_TEST_LACK_CALL=$call # from the start
        job "${more[@]}" -x GBA_TEST_LACK_CALL -x GBA_TEST_HOSTS="$hosts" -x GBA_TEST_LACK_RANK="$rank" \
            -x LD_PRELOAD="$programs/.libs/lack_preload.so:$programs/.libs/hosts_preload.so" \
            -np 3 -- lacking "$before" "$after" "$call" ${mode:+"$mode"} || status=$?
        [ "$status" -eq 0 ] || lack_ended "$status"
        ! grep -q '^complete' "$out" || return 0
        case ${mode-} in
        start) call=$((call + 1)) ;; # the job may end before the program prints it
        *) call=$(($(sed -n 's/^call \([0-9]*\)$/\1/p' "$out" | tail -n 1) + 1)) ;;
        esac
        [ "$call" -lt 200 ] || fail 'too many calls'
    done
}

# RANK HOSTS SETTING: the first agreement of communicators.
lack_first() {
    case $3 in
    fastest) set -- "$1" "$2" --mca coll_gba_barrier_device_path sim \
        --mca coll_gba_barrier_offload fastest --mca coll_gba_barrier_min_hosts 100 ;;
    node) set -- "$1" "$2" --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_hierarchy node ;;
    *) set -- "$1" "$2" --mca coll_gba_barrier_device_path "$3" ;;
    esac
    lack_each "$1" "$2" 0 6 "${@:3}"
}

lack_request() { # RANK HOSTS
    lack_each "$1" "$2" 3 8 --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_offload_after 6
}

lack_trial() { # RANK HOSTS
    lack_each "$1" "$2" 3 8 --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_trial_after 6 \
        --mca coll_gba_barrier_offload fastest --mca coll_gba_barrier_trial_test 1
}

# The device dies once, so each call has a job of its own.
lack_failover() { # RANK HOSTS
    local mode=once
    lack_each "$1" "$2" 5 40 --mca coll_gba_barrier_device_path 'sim?die_after=20' \
        --mca coll_gba_barrier_retry_after 1
}

# From the start of the process, with the devices of all hosts to open.
lack_start() { # RANK HOSTS
    local mode=start
    lack_each "$1" "$2" 0 5 --mca coll_gba_barrier_device_path sim
}

all_lacks() {
    local rank hosts setting
    for rank in 0 2; do
        for hosts in 1 3; do
            for setting in sim none node fastest; do
                test_case "lack-first-$rank-$hosts-$setting" lack_first "$rank" "$hosts" "$setting"
            done
            for setting in request trial failover start; do
                test_case "lack-$setting-$rank-$hosts" "lack_$setting" "$rank" "$hosts"
            done
        done
    done
}
