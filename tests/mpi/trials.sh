# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of trials: the ranks measure other barriers between those of the program. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# RANKS: one of two switches dies in a trial, whose messages between the switch domains are on their way.
trials_dies() {
    local after options='trial_after=10 trial_test=1 offload=fastest min_hosts=100 hosts=4'
    for after in 1 2 7 20 $((20 + RANDOM % 100)); do
        row_job "+ | $1 | $options devices=-,?die_after=$after | early_exit 200 | 1+/MPI_COMM_WORLD .*measured in us: /"
    done
}

all_trials() {
    local hierarchy ranks hosts count options stopped measured='1+/measured in us: /'
    # The ranks change to each candidate in turn, that of Open MPI among them, while the program checks each barrier.
    # `many` has blocking barriers only.
    while read -r hosts ranks count; do
        options="none trial_after=10 trial_test=2 hosts=$hosts limit=240"
        rows <<END
trials-$hosts-$ranks | $ranks | $options | early_exit 100 | $measured
+ | $ranks | $options | kinds | $measured
+ | $ranks | $options | ibarrier 1 | $measured
+ | $ranks | $options | many 100 | software>60 fallback>0 | 10/MPI_COMM_WORLD .*measured in us: /
  | /MPI_COMM_WORLD .*fallback: the fastest of $count; .*measured in us: /
END
    done <<<$'1 4 6\n3 5 7'
    # A core for each rank, as far as they can see: a short trial compares the radices, and the program checks each
    # barrier before and after the change.
    options='none .mpi_yield_when_idle=0 wait=yield agree_after=0 GBA_TEST_CORES=64 preload=hosts_preload limit=240'
    rows <<END
trials-short-@ | 4 9 | $options | many 6000
  | /MPI_COMM_WORLD .*software: [a-z0-9]+ .*measured in us: radix 4 [0-9.]+, dissemination /
END
    # Each rank has a host of its own. Ranks are stopped at any point of a trial, for longer than its limits, because
    # the clock of libgba is fast.
    stopped='agree_after=0 trial_after=5 trial_test=1 offload=fastest min_hosts=100 stuck_after=0 limit=300'
    stopped+=' GBA_TEST_CLOCK=1000 GBA_TEST_STOPS=30'
    for hierarchy in auto node; do
        options="default $stopped hierarchy=$hierarchy"
        rows <<END
trials-stopped-3-$hierarchy | 3 | $options hosts=3 devices=- | trials $(soak 8 400) 30 | $measured
trials-stopped-4-$hierarchy | 4 | $options hosts=4 devices=-,- | trials $(soak 8 400) 30 | $measured
END
    done
    test_case trials-dies-4 trials_dies 4
    test_case trials-dies-6 trials_dies 6
}
