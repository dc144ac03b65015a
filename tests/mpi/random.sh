# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of "run --kills", jobs killed with SIGKILL at random points, and the function of those with many deaths of
# devices in one job (soak.c). run sources this file, after stalls.sh.
# shellcheck disable=SC2154,SC2034 # variables of run and of stalls.sh, read and set

# NUMBER: the number of groups that the simulated device reports as free.
free_groups() {
    "$build/gba/tools/gba_info" "sim:$name" >"$work/free"
    grep -q "^note *new device" "$work/free" || grep -q "^groups free *$1 of 32" "$work/free"
}

some_newcomer() {
    newcomers >/dev/null
}

# Also the processes that mpirun had just started when it was killed.
all_killed() {
    # shellcheck disable=SC2046 # several, or none any more
    kill -KILL $(newcomers) 2>/dev/null || true
    no_newcomers
}

# WHOM HELD PATH PROGRAM RANKS MILLISECONDS: WHOM is killed this long after the first rank exists: in
# MPI_Init, in the agreement on a device, in barriers. HELD: "held" if another process has the simulated
# device open meanwhile, "next" if a job then also takes all groups, else "alone". Afterwards all groups
# are free, and nothing is left.
killed_at() {
    local before free=32 apart holders='' name=kills-$$ path job_pid arguments=(1000000000)
    limit 120
    before=$(shm_files)
    put_apart
    if [ "$2" != alone ]; then
        hold "$name"
        free=31
    fi
    path_options "${3/sim/sim:$name}"
    case $3 in
    v?) path=(--mca coll_gba_barrier_device_path none --mca coll_gba_barrier_sw_algorithm "$3") ;;
    esac
    [ "$4" != scarce ] || arguments=(dies 100 40 1000000000)
    start_victim "$5" "$4" "${arguments[@]}"
    until_true some_newcomer
    sleep "$(printf '0.%03d' "$6")"
    if [ "$1" = job ]; then
        kill -KILL "$job_pid"
        until_true all_killed
        wait "$job_pid" 2>/dev/null || true
        cat "$out"
    else
        kill_victim "$1"
    fi
    until_true free_groups "$free"
    if [ "$2" = next ]; then
        path_options "sim:$name"
        job "${path[@]}" -np 2 -- groups 31 1
        lines 31 'early [0-9]+ .*sim: group'
        until_true free_groups "$free"
    fi
    [ "$2" = alone ] || let_go
    until_true running 0
    [ "$(shm_files)" = "$before" ] || fail "left in /dev/shm: $(shm_files)"
}

# $GBA_TEST_KILLS jobs, 200 if it is not set: some 15 minutes. $GBA_TEST_SEED kills the same at the same times.
all_kills() {
    local i whom held device program ranks seed=${GBA_TEST_SEED:-$$}
    RANDOM=$seed
    echo "seed $seed"
    for ((i = 1; i <= ${GBA_TEST_KILLS:-200}; i++)); do
        whom=job held=held device=sim program=many
        [ $((RANDOM % 3)) -ne 0 ] || whom=rank
        case $((RANDOM % 3)) in
        # Communicators are created and freed all the time: groups and teams that are partly set up.
        0) program=churn ;;
        # More communicators than groups, so groups move between them.
        1) program=scarce ;;
        esac
        [ $((i % 5)) -ne 1 ] || held=next
        # Sometimes the simulated device ends with the job; the software barriers take turns.
        [ $((i % 5)) -ne 3 ] || held=alone
        [ $((i % 5)) -ne 4 ] || held=alone device=v$((1 + i / 5 % 3))
        [ $((i % 10)) -ne 5 ] || device=none
        ranks=$((2 + RANDOM % 3))
        test_case "kill-$i-$whom-$held-$device-$program-$ranks" \
            killed_at "$whom" "$held" "$device" "$program" "$ranks" $((RANDOM % 1000))
    done
}

# KIND RANKS DEATHS SEED [DEVICES]: jobs of DEVICES devices each, until DEATHS of them have died under a
# team. KIND is flat (one group for all ranks), leaders (of at most 5 pretended hosts),
# domains (4 pretended hosts and two devices), or nonblocking (as flat; a team's barriers are nonblocking
# after the first one).
soaked() {
    local kind=$1 ranks=$2 deaths=$3 died=0 style=4 options counts
    RANDOM=$4
    while [ "$died" -lt "$deaths" ]; do
        # The program has a time limit for each device.
        options="quiet sim:row-%-0 retry_after=1 limit=7200 GBA_TEST_SECONDS=600 GBA_TEST_SEED=$RANDOM"
        case $kind in
        leaders) options+=" hierarchy=node hosts=$((1 + RANDOM % (ranks < 5 ? ranks : 5)))" ;;
        domains) options+=' hosts=4 devices=-,-' ;;
        nonblocking) style=2 ;;
        esac
        row_job "+ | $ranks | $options | soak ${5:-80} $style"
        counts=$(sed -n 's/^soak: \([0-9]* devices\)/\1/p' "$out")
        [[ $counts =~ ([0-9]+)\ deaths, ]] || fail 'no counts'
        [ "${BASH_REMATCH[1]}" -gt 0 ] || fail 'no device died under a team'
        died=$((died + BASH_REMATCH[1]))
    done
}
