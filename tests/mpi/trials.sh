# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of trials: the ranks measure other barriers between those of the program. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# HOSTS RANKS CANDIDATES: the ranks change to each candidate in turn, that of Open MPI among them, while the
# program checks each barrier. `many` has blocking barriers only.
trials_right() {
    local prefix=coll_gba_barrier program
    limit 240
    path_options none
    path+=(--mca "${prefix}_trial_after" 10 --mca "${prefix}_trial_test" 2 -x GBA_TEST_HOSTS="$1"
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    for program in 'early_exit 100' kinds 'ibarrier 1'; do
        # shellcheck disable=SC2086 # a program with its argument
        job "${path[@]}" -np "$2" -- $program
        lines 0 '^FAIL'
        grep -q 'measured in us: ' "$out" || fail "$program: no trial"
    done
    job "${path[@]}" -np "$2" -- many 100
    lines 10 'MPI_COMM_WORLD .*measured in us: '
    lines 1 "MPI_COMM_WORLD .*fallback: the fastest of $3; .*measured in us: "
    total_is software -gt 60
    total_is fallback -gt 0
}

# RANKS HIERARCHY [DEVICE...]: DEVICE is the options of the device of a host, or "-" for none. Each rank has a
# host of its own. Ranks are stopped at any point of a trial, for longer than its limits, because the clock of
# libgba is fast.
trials_stopped() {
    local ranks=$1 hierarchy=$2 devices='' device prefix=coll_gba_barrier
    limit 300
    for device in "${@:3}"; do
        devices="$devices${devices:+ }sim:trials-$BASHPID-${#devices}${device#-}"
    done
    job --mca "${prefix}_verbose" 1 --mca "${prefix}_agree_after" 0 --mca "${prefix}_trial_after" 5 \
        --mca "${prefix}_trial_test" 1 --mca "${prefix}_offload" fastest --mca "${prefix}_min_hosts" 100 \
        --mca "${prefix}_stuck_after" 0 --mca "${prefix}_hierarchy" "$hierarchy" -x GBA_TEST_HOSTS="$ranks" \
        -x GBA_TEST_DEVICES="$devices" -x GBA_TEST_CLOCK=1000 -x GBA_TEST_STOPS=30 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np "$ranks" -- trials "$(soak 8 400)" 30
    lines 0 '^FAIL'
    grep -q 'measured in us: ' "$out" || fail 'no trial'
}

# RANKS: one of two switches dies in a trial, whose messages between the switch domains are on their way.
trials_dies() {
    local ranks=$1 after prefix=coll_gba_barrier
    limit 120
    for after in 1 2 7 20 $((20 + RANDOM % 100)); do
        job --mca "${prefix}_verbose" 1 --mca "${prefix}_trial_after" 10 --mca "${prefix}_trial_test" 1 \
            --mca "${prefix}_offload" fastest --mca "${prefix}_min_hosts" 100 -x GBA_TEST_HOSTS=4 \
            -x GBA_TEST_DEVICES="sim:trials-$BASHPID-a$after sim:trials-$BASHPID-b$after?die_after=$after" \
            -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np "$ranks" -- early_exit 200
        lines 0 '^FAIL'
        grep -q 'MPI_COMM_WORLD .*measured in us: ' "$out" || fail 'no trial'
    done
}

# RANKS: a core for each rank, as far as they can see: a short trial compares the radices, and the program
# checks each barrier before and after the change.
trials_short() {
    limit 240
    path_options none
    path+=(--mca mpi_yield_when_idle 0 --mca coll_gba_barrier_wait yield --mca coll_gba_barrier_agree_after 0
        -x GBA_TEST_CORES=64 -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    job "${path[@]}" -np "$1" -- many 6000
    lines 1 'MPI_COMM_WORLD .*software: [a-z0-9]+ .*measured in us: radix 4 [0-9.]+, dissemination '
    lines 0 '^FAIL'
}

all_trials() {
    local hierarchy
    test_case trials-1-4 trials_right 1 4 6
    test_case trials-3-5 trials_right 3 5 7
    test_case trials-short-4 trials_short 4
    test_case trials-short-9 trials_short 9
    for hierarchy in auto node; do
        test_case "trials-stopped-3-$hierarchy" trials_stopped 3 "$hierarchy" -
        test_case "trials-stopped-4-$hierarchy" trials_stopped 4 "$hierarchy" - -
    done
    test_case trials-dies-4 trials_dies 4
    test_case trials-dies-6 trials_dies 6
}
