# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases that run the programs on every path and with every number of ranks. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# PROGRAM RANKS PATH [ARGUMENT...]
program_right() {
    local program=$1 ranks=$2 device=$3
    shift 3
    limit 120
    path_options "$device"
    job "${path[@]}" -np "$ranks" -- "$program" "$@"
    lines 0 '^FAIL'
    took "$device"
}

# Transports in which a long message needs progress of the peer: shared memory with two copies, TCP.
progress_right() {
    limit 120
    path_options "$2"
    for transport in 'btl_vader_single_copy_mechanism none' 'btl tcp,self'; do
        # shellcheck disable=SC2086 # two words
        job "${path[@]}" --mca $transport -np "$1" -- progress
        took "$2"
    done
}

# RANKS: 40 communicators, 32 groups.
groups_right() {
    program_right groups "$1" sim
    lines 32 'early [0-9]+ .*sim: group'
    lines 8 'early [0-9]+ .*(fallback|software): .*no barrier group is free'
    # The freed communicators have released their groups to these.
    lines 16 'again [0-9]+ .*sim: group'
}

# RANKS AFTER SOFTWARE: AFTER is offload_after; until then software barriers, or (0) Open MPI's own.
scarce_after() {
    limit 120
    path_options sim
    [ "$3" -eq 1 ] || path+=(-x GBA_TEST_FALLBACK=1)
    job "${path[@]}" --mca coll_gba_barrier_offload_after "$2" --mca coll_gba_barrier_sw_enable "$3" \
        -np "$1" -- scarce after "$2"
    lines 2 'SPLIT FROM 0 .*sim: group 0 of 32'
    # The user requested this, so there is no report.
    lines 0 'although'
}

# RANKS SOFTWARE: freed groups go to the communicators that renegotiate.
scarce_freed() {
    limit 120
    path_options 'sim?groups=4'
    [ "$2" -eq 1 ] || path+=(-x GBA_TEST_FALLBACK=1)
    job "${path[@]}" --mca coll_gba_barrier_sw_enable "$2" -np "$1" -- scarce freed 100 4
    [ "$(grep -c 'SPLIT FROM 0 .*sim: group [0-3] of 4' "$out")" -ge 12 ] || fail 'few groups were used'
}

# RANKS GROUPS LIMIT SOFTWARE: 100 communicators. The groups of those that are freed go to others,
# whether the device or (LIMIT not 0) max_groups limits their number.
scarce_moves() {
    local groups=$2
    limit 300
    path_options "sim?groups=$2"
    [ "$3" -eq 0 ] || groups=$3
    [ "$4" -eq 1 ] || path+=(-x GBA_TEST_FALLBACK=1)
    job "${path[@]}" --mca coll_gba_barrier_max_groups "$3" --mca coll_gba_barrier_sw_enable "$4" \
        -np "$1" -- scarce moves 100 "$groups" 3
    total_is failovers -eq 0
}

# RANKS JOBS SEED: groups move between communicators, and the device loses messages, is slow, or dies.
scarce_faults() {
    local options i
    limit 300
    RANDOM=$3
    for ((i = 0; i < $2; i++)); do
        case $((i % 4)) in
        0) options="lose_arrival=$((3 + RANDOM % 500))&lose_release=$((3 + RANDOM % 500))" ;;
        1) options="latency=$((RANDOM % 20))us&jitter=$((RANDOM % 50))us" ;;
        2) options="die_after=$((RANDOM % 5000))" ;;
        3) options="die_after=$((RANDOM % 5000))&die_release=1&latency=10us&jitter=100us" ;;
        esac
        path_options "sim?groups=6&$options&seed=$RANDOM"
        case $options in
        die*) job "${path[@]}" --mca coll_gba_barrier_retry_after 1 -x GBA_TEST_SEED="$RANDOM" -np "$1" -- \
            scarce dies 40 6 40 ;;
        *) job "${path[@]}" --mca coll_gba_barrier_retry_after 1 -x GBA_TEST_SEED="$RANDOM" -np "$1" -- \
            scarce moves 40 6 3 ;;
        esac
        lines 0 '^FAIL'
    done
}

# HOSTS RANKS: the same for leaders of pretended hosts; until then messages between the leaders.
scarce_hosts() {
    limit 120
    path_options 'sim?groups=4'
    path+=(--mca coll_gba_barrier_hierarchy node -x GBA_TEST_HOSTS="$1"
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    job "${path[@]}" --mca coll_gba_barrier_offload_after 10 -np "$2" -- scarce after 10
    lines 2 "SPLIT FROM 0 .*sim: group 0 of 4 among the leaders of $1 host"
    job "${path[@]}" -np "$2" -- scarce freed 20 4
    [ "$(grep -c "SPLIT FROM 0 .*sim: group [0-3] of 4 among the leaders of $1 host" "$out")" -ge 12 ] ||
        fail 'few groups were used'
}

# 64 communicators of one host, for the two colors of 32 splits, hold no group of two. trial_test: the time
# of the device has no effect.
scarce_one_host() {
    limit 120
    path_options 'sim?groups=2'
    job "${path[@]}" --mca coll_gba_barrier_offload fastest --mca coll_gba_barrier_trial_test 1 \
        -x GBA_TEST_HOSTS=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 4 -- scarce hosts 32
    lines 1 '^scarce: right$'
    lines 64 'SPLIT FROM 0 .*software: .*no device: fewer hosts than min_hosts'
}

# FUNCTION [ARGUMENT...]: one of the above with nonblocking barriers only.
scarce_nonblocking() {
    selection+=(-x GBA_TEST_NONBLOCKING=1)
    "$@"
}

scarce_all() {
    local software
    for software in 0 1; do
        test_case "scarce-after-$1-10-$software" scarce_after "$1" 10 "$software"
        test_case "scarce-after-$1-1-$software" scarce_after "$1" 1 "$software"
        test_case "scarce-freed-$1-$software" scarce_freed "$1" "$software"
    done
    test_case "scarce-moves-$1" scarce_moves "$1" 8 0 1
    test_case "scarce-moves-fallback-$1" scarce_moves "$1" 6 0 0
    test_case "scarce-limit-$1" scarce_moves "$1" 32 5 1
    test_case "scarce-faults-$1" scarce_faults "$1" 4 "$1"
    test_case "scarce-hosts-$1-1" scarce_hosts 1 "$1"
    test_case "scarce-hosts-$1-2" scarce_hosts 2 "$1"
    [ "$1" -ne 4 ] || test_case scarce-one-host scarce_one_host
}

scarce_nonblocking_all() {
    test_case scarce-nonblocking-after-4 scarce_nonblocking scarce_after 4 300 1
    test_case scarce-nonblocking-after-3-0 scarce_nonblocking scarce_after 3 10 0
    test_case scarce-nonblocking-freed-3 scarce_nonblocking scarce_freed 3 1
    test_case scarce-nonblocking-moves-2 scarce_nonblocking scarce_moves 2 6 0 0
    test_case scarce-nonblocking-faults-2 scarce_nonblocking scarce_faults 2 4 5
    test_case scarce-nonblocking-hosts-4 scarce_nonblocking scarce_hosts 2 4
}

# RANKS COUNT PATH
many_right() {
    limit 600
    path_options "$3"
    job "${path[@]}" -np "$1" -- many "$2"
    took "$3"
    case $3 in
    sim) total_is rounds -eq "$2" && total_is errors -eq 0 ;;
    esac
}

# RANKS SEQUENCE: the rounds pass the point where a signed or an unsigned sequence wraps.
sequence_right() {
    local program
    limit 120
    path_options sim
    for program in 'many 20000' outstanding early_exit ibarrier; do
        # shellcheck disable=SC2086 # a program with its argument
        job "${path[@]}" --mca coll_gba_barrier_first_sequence "$2" -np "$1" -- $program
        took sim
        total_is errors -eq 0
    done
}

# HOSTS RANKS PATH PROGRAM [ARGUMENT...]: a group among the leaders of pretended hosts.
on_hosts() {
    local hosts=$1 ranks=$2
    limit 120
    path_options "$3"
    shift 3
    job "${path[@]}" --mca coll_gba_barrier_hierarchy node -x GBA_TEST_HOSTS="$hosts" \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np "$ranks" -- "$@"
    lines 0 '^FAIL'
    lines 1 "MPI_COMM_WORLD .*sim: group 0 of 32 among the leaders of $hosts hosts?, $ranks members"
}

hierarchy_right() {
    on_hosts "$1" "$2" sim "${@:3}"
    took sim
    total_is software -eq 0
    total_is errors -eq 0
}

# HOSTS RANKS: only leaders detect losses.
hierarchy_resent() {
    on_hosts "$1" "$2" 'sim?lose_arrival=5&lose_release=7' early_exit 30
    took sim
}

# HOSTS RANKS ROUNDS: the leader of a host notifies its ranks that the device has failed.
hierarchy_death() {
    on_hosts "$1" "$2" "sim?die_after=$3" early_exit
    total_is failovers -gt 0
    # The rounds that the device completed, and the few that failure notifications completed.
    total_is sim -gt "$3"
    total_is sim -le $(($3 + 4))
    total_is software -gt 0
}

hierarchy_all() {
    local hosts ranks
    for ranks in 2 3 4 7 16; do
        for hosts in 1 2 5; do
            [ "$hosts" -le "$ranks" ] || continue
            test_case "hierarchy-early_exit-$ranks-$hosts" hierarchy_right "$hosts" "$ranks" early_exit 100
            test_case "hierarchy-many-$ranks-$hosts" hierarchy_right "$hosts" "$ranks" many 5000
            test_case "hierarchy-kinds-$ranks-$hosts" hierarchy_right "$hosts" "$ranks" kinds
        done
    done
    for hosts in 1 5; do
        test_case "hierarchy-early_exit-64-$hosts" hierarchy_right "$hosts" 64 early_exit 100
    done
    test_case hierarchy-kinds-64-5 hierarchy_right 5 64 kinds
    for hosts in 1 3; do
        test_case "hierarchy-resent-$hosts" hierarchy_resent "$hosts" 7
        test_case "hierarchy-death-$hosts" hierarchy_death "$hosts" 7 20
    done
}

# MODE PROGRAM [ENVIRONMENT...]: the program detects and reports a broken barrier (broken.c).
broken_found() {
    local mode=$1 program=$2 options=() variable
    shift 2
    case $mode in
    hang | stall) limit 6 ;;
    *) limit 60 ;;
    esac
    head -c 8 /dev/zero >"$work/zero"
    for variable in LD_PRELOAD="$broken" GBA_TEST_BROKEN="$mode" GBA_TEST_BROKEN_FILE="$work/zero" "$@"; do
        options+=(-x "$variable")
    done
    selection=() # Open MPI's own barrier, broken on purpose
    fails job "${options[@]}" --mca btl tcp,self -np 4 -- "$program"
    grep -q "^FAIL $program: rank [0-9]*" "$out" || fail "$program failed without its FAIL line"
    case $mode in
    hang | stall) grep -q "hangs" "$out" || fail "no word of a hang" ;;
    values) grep -q "FAIL colls: rank 1: .*${1#*=}" "$out" || fail "not that call" ;;
    esac
}

# RANKS LOSSES MODE...: a lost message costs retry_after, and hundreds are lost here.
ibarrier_lost_right() {
    limit 120
    path_options "sim?$2"
    job "${path[@]}" --mca coll_gba_barrier_retry_after 1 -np "$1" -- ibarrier "${@:3}"
    took sim
    total_is errors -eq 0
}

# RANKS ALGORITHM MODE...
ibarrier_algorithm_right() {
    limit 120
    path_options none
    job "${path[@]}" --mca coll_gba_barrier_sw_algorithm "$2" -np "$1" -- ibarrier "${@:3}"
    lines 0 '^FAIL'
    took none
}

# Messages between pretended hosts, with eight requests for all sends of a rank.
ibarrier_nested() {
    local requests=() name
    limit 60
    path_options none
    for name in num max inc; do
        requests+=(--mca "pml_ob1_free_list_$name" 8)
    done
    job "${path[@]}" --mca pml ob1 --mca btl tcp,self "${requests[@]}" -x GBA_TEST_HOSTS=2 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 2 -- ibarrier 7
    lines 0 '^FAIL'
    lines 2 'software: .* of 2 hosts'
}

# RANKS: nonblocking barriers, in all modes of the program that the path allows.
ibarrier_all() {
    local algorithm losses='lose_arrival=17&lose_release=19'
    # A round of many ranks has many arrivals, and the losses of one round are recovered one by one.
    [ "$1" -lt 7 ] || losses='lose_arrival=97&lose_release=101'
    # Mode 2 runs by itself, because it needs threads; the other modes test a program without threads.
    test_case "ibarrier-$1-sim" program_right ibarrier "$1" sim 1 4 5 3
    test_case "ibarrier-$1-sim-threads" program_right ibarrier "$1" sim 2
    test_case "ibarrier-$1-lost" ibarrier_lost_right "$1" "$losses" 1 5 3
    test_case "ibarrier-$1-lost-threads" ibarrier_lost_right "$1" "$losses" 2
    # Mode 4 with releases lost only: a member that is away cannot repeat its arrival.
    test_case "ibarrier-$1-lost-away" ibarrier_lost_right "$1" 'lose_release=3' 4
    test_case "ibarrier-$1-none" program_right ibarrier "$1" none 1 4 5 3
    test_case "ibarrier-$1-none-threads" program_right ibarrier "$1" none 2
    for algorithm in v1 v2 v3; do
        test_case "ibarrier-$1-$algorithm" ibarrier_algorithm_right "$1" "$algorithm" 1 5 3
        test_case "ibarrier-$1-$algorithm-threads" ibarrier_algorithm_right "$1" "$algorithm" 2
    done
    test_case "ibarrier-$1-fallback" program_right ibarrier "$1" fallback 1
    test_case "ibarrier-$1-fallback-threads" program_right ibarrier "$1" fallback 2
}

# RANKS DEVICE AFTER COMMUNICATORS MODE...: the ranks agree in a nonblocking barrier, at the AFTER-th one of
# each communicator. AFTER is 1 more than agree_after.
nonblocking_right() {
    local ranks=$1 device=$2 after=$3 comms=$4
    shift 4
    limit 120
    path_options "$device"
    job "${path[@]}" "${nonblocking_options[@]}" --mca coll_gba_barrier_agree_after "$((after - 1))" \
        -np "$ranks" -- nonblocking "$after" "$@"
    lines 0 '^FAIL'
    took "$device"
    [ "$device" = fallback ] || total_is fallback -eq $((comms * (after - 1)))
}
nonblocking_options=()

# As above: between pretended hosts, with eight requests for all messages of a rank.
nonblocking_hosts() {
    nonblocking_options=(--mca pml ob1 --mca btl 'tcp,self' --mca pml_ob1_free_list_num 8
        --mca pml_ob1_free_list_max 8 --mca pml_ob1_free_list_inc 8 -x GBA_TEST_HOSTS=2
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    nonblocking_right "$@"
    lines "$4" 'software: .* of 2 hosts'
}

# RANKS OPTION: the simulated device dies in the agreement, or in the first barriers after it, or it has no
# group for a communicator.
nonblocking_dies() {
    limit 120
    path_options "sim?$2"
    job "${path[@]}" -np "$1" -- nonblocking 1 1
    lines 0 '^FAIL'
    total_is software -gt 0
    total_is fallback -eq 0
}

# RANKS OFFLOAD SOFTWARE MODE...: the ranks get a group in a barrier after OFFLOAD, while later ones are queued.
nonblocking_offload() {
    nonblocking_options=(--mca coll_gba_barrier_offload_after "$2" --mca coll_gba_barrier_sw_enable "$3")
    limit 120
    path_options sim
    job "${path[@]}" "${nonblocking_options[@]}" --mca coll_gba_barrier_agree_after 2 -np "$1" -- \
        nonblocking 3 "${@:4}"
    lines 0 '^FAIL'
    total_is sim -gt 0
}

nonblocking_all() {
    local option
    # 32 communicators in mode 1, 24 in mode 2, 6 in mode 4; two of the three of mode 3 agree.
    test_case nonblocking-2-none nonblocking_right 2 none 1 38 1 4 3
    test_case nonblocking-3-sim nonblocking_right 3 sim 5 38 1 4
    test_case nonblocking-7-none nonblocking_right 7 none 3 38 1 4
    test_case nonblocking-16-sim nonblocking_right 16 sim 2 32 1
    test_case nonblocking-3-none-threads nonblocking_right 3 none 4 24 2
    test_case nonblocking-4-sim-threads nonblocking_right 4 sim 2 24 2
    test_case nonblocking-5-fallback nonblocking_right 5 fallback 3 0 1 4 3
    test_case nonblocking-3-fallback-threads nonblocking_right 3 fallback 3 0 2
    test_case nonblocking-5-hosts nonblocking_hosts 5 none 2 6 4
    test_case nonblocking-8-hosts nonblocking_hosts 8 none 1 5 5
    test_case nonblocking-4-offload nonblocking_offload 4 12 1 1 4
    test_case nonblocking-5-offload-0 nonblocking_offload 5 9 0 1 4
    test_case nonblocking-3-offload-threads nonblocking_offload 3 12 0 2
    for option in die_call=3 die_arrival=7 'die_after=40' groups=1; do
        test_case "nonblocking-4-$option" nonblocking_dies 4 "$option"
    done
}

# RANKS DEVICE COUNT MODE [PARAMETER VALUE]...: that count of the job is not 0 at the end.
mixture_right() {
    local count=$3 mode=$4
    limit 120
    path_options "$2"
    nonblocking_options=(-np "$1")
    shift 4
    while [ $# -gt 0 ]; do
        nonblocking_options+=(--mca "coll_gba_barrier_$1" "$2")
        shift 2
    done
    job "${path[@]}" --mca coll_gba_barrier_agree_after 0 "${nonblocking_options[@]}" -- mixture 4 1200 "$mode"
    lines 0 '^FAIL'
    lines 1 '^mixture: right$'
    total_is "$count" -gt 0
}

mixture_all() {
    test_case mixture-3-offload mixture_right 3 sim sim 1 offload_after 13
    test_case mixture-4-scarce mixture_right 4 'sim?groups=2' renegotiations 1 offload_after 5
    test_case mixture-3-dies mixture_right 3 'sim?die_after=150' failovers 1 retry_after 1
    test_case mixture-3-dies-fallback mixture_right 3 'sim?die_after=90' failovers 2 retry_after 1 sw_enable 0
    test_case mixture-3-trials mixture_right 3 none software 2 trial_after 40 trial_test 2
}

# The values of the tools interface after 1000 barriers of 3 ranks, in the preloaded example.
stats_right() {
    limit 60
    path_options "$1"
    job "${path[@]}" -x LD_PRELOAD="$build/contrib/examples/mpi_t/.libs/barrier_stats.so" \
        --mca coll_gba_barrier_sample 10 -np 3 -- many 1000
    lines 1 "^barrier_stats: barriers_$2 +all +3000\$"
    lines 1 '^barrier_stats: comm_barriers +all +3000$'
    lines 1 '^barrier_stats: comm_barriers_sampled +all +300$'
    lines 1 '^barrier_stats: wait_ns +all +[1-9][0-9]+$'
    lines 1 '^barrier_stats: imbalance_max_ns +maximum +[1-9][0-9]+$'
    lines "$3" '^barrier_stats: refused_no_device +all +3$'
}

broken_all() {
    local program call
    for program in early_exit many kinds churn threads outstanding groups spawn; do
        test_case "broken-early-$program" broken_found early "$program"
    done
    for program in early_exit kinds threads ibarrier; do
        test_case "broken-iearly-$program" broken_found iearly "$program"
    done
    test_case broken-hang broken_found hang early_exit
    test_case broken-stall broken_found stall progress
    for call in MPI_Scan MPI_Alltoall MPI_Scatter MPI_Reduce_scatter_block MPI_Neighbor_allgather; do
        test_case "broken-values-$call" broken_found values colls GBA_TEST_BROKEN_CALL="$call"
    done
}

all_cases() {
    local ranks device program count
    broken_all
    hierarchy_all
    test_case ibarrier-nested ibarrier_nested
    nonblocking_all
    mixture_all
    test_case stats-sim stats_right sim sim 0
    test_case stats-none stats_right none software 1
    for ranks in 2 3 4 7 16; do
        for device in sim none default fallback; do
            case $device:$ranks in
            # These differ from "none" in the way to a barrier, not in the barrier.
            default:2 | default:4 | fallback:3 | fallback:7) ;;
            default:* | fallback:*) continue ;;
            esac
            for program in early_exit kinds threads outstanding spawn churn; do
                test_case "$program-$ranks-$device" program_right "$program" "$ranks" "$device"
            done
            test_case "progress-$ranks-$device" progress_right "$ranks" "$device"
        done
        # Open MPI's other collectives exist and are right; they do not depend on the barrier's path.
        test_case "colls-$ranks-sim" program_right colls "$ranks" sim
        ibarrier_all "$ranks"
        test_case "groups-$ranks" groups_right "$ranks"
    done
    test_case colls-3-none program_right colls 3 none
    for ranks in 2 3 16; do
        test_case "sequence-31-$ranks" sequence_right "$ranks" $((0x7fffff00))
        test_case "sequence-32-$ranks" sequence_right "$ranks" $((0xffffff00))
    done
    for ranks in 2 4; do
        scarce_all "$ranks"
    done
    scarce_nonblocking_all
    for ranks in 2 3 4 7 16; do
        for device in sim none; do
            count=100000
            ! $long && [ "$ranks" -ne 2 ] || count=1000000
            test_case "many-$ranks-$device" many_right "$ranks" "$count" "$device"
        done
    done
}
