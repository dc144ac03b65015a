# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases in which one rank lacks a resource (tests/lacks.sh), on one host and on three pretended ones. run
# sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# RANK HOSTS [OPTION...] -- PROGRAM...
lack_job() {
    job -x GBA_TEST_LACK_RANK="$1" -x GBA_TEST_HOSTS="$2" -x GBA_TEST_LACK_CALL \
        -x LD_PRELOAD="$programs/.libs/lack_preload.so:$programs/.libs/hosts_preload.so" -np 3 "${@:3}"
}

# BEFORE AFTER RANK HOSTS [OPTION...]: one job fails call after call, until it ends; then the next one.
lack_each() {
    local call=1 status
    limit 120
    while :; do
        status=0
        lack_job "${@:3}" -- lacking "$1" "$2" "$call" || status=$?
        [ "$status" -ne 0 ] || return 0
        lack_ended "$status"
        call=$(($(sed -n 's/^call \([0-9]*\)$/\1/p' "$out" | tail -n 1) + 1))
        [ "$call" -lt "$lack_most" ] || fail 'too many calls'
    done
}

# RANK HOSTS SETTING: the first agreement of communicators.
lack_first() {
    local options=(--mca coll_gba_barrier_device_path sim)
    case $3 in
    none) options=(--mca coll_gba_barrier_device_path none) ;;
    node) options+=(--mca coll_gba_barrier_hierarchy node) ;;
    fastest) options+=(--mca coll_gba_barrier_offload fastest --mca coll_gba_barrier_min_hosts 100) ;;
    esac
    lack_each 0 6 "$1" "$2" "${options[@]}"
}

lack_request() { # RANK HOSTS
    lack_each 3 8 "$@" --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_offload_after 6
}

lack_trial() { # RANK HOSTS
    lack_each 3 8 "$@" --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_trial_after 6 \
        --mca coll_gba_barrier_offload fastest --mca coll_gba_barrier_trial_test 1
}

# The device dies once, so each call has a job of its own.
lack_failover_once() {
    lack_job "$@" --mca coll_gba_barrier_device_path 'sim?die_after=20' --mca coll_gba_barrier_retry_after 1 \
        -- lacking 5 40 "$GBA_TEST_LACK_CALL" once
}

lack_failover() { # RANK HOSTS
    lack_jobs lack_failover_once "$@"
}

all_lacks() {
    local rank hosts setting
    for rank in 0 2; do
        for hosts in 1 3; do
            for setting in sim none node fastest; do
                test_case "lack-first-$rank-$hosts-$setting" lack_first "$rank" "$hosts" "$setting"
            done
            for setting in request trial failover; do
                test_case "lack-$setting-$rank-$hosts" "lack_$setting" "$rank" "$hosts"
            done
            test_case "lack-start-$rank-$hosts" lack_jobs lack_once "$rank" "$hosts" sim
        done
    done
}
