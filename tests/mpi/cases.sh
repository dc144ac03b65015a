# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases that run the programs on every path and with every number of ranks. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

programs_all() {
    local device program ranks
    for device in sim none default fallback; do
        case $device in
        # These differ from "none" in the way to a barrier, not in the barrier.
        default) ranks='2 4' ;;
        fallback) ranks='3 7' ;;
        *) ranks='2 3 4 7 16' ;;
        esac
        for program in early_exit kinds threads spawn churn; do
            rows <<<"$program-@-$device | $ranks | $device | $program | took"
        done
        rows <<<"outstanding-@-$device | $ranks | $device | ibarrier 8 | took"
        # Transports in which a long message needs progress of the peer: shared memory with two copies, TCP.
        rows <<END
progress-@-$device | $ranks | $device .btl_vader_single_copy_mechanism=none | progress | took
+ | @ | $device tcp | progress | took
END
    done
    rows <<'END'
progress-@-sleep | 2 4 | none wait=sleep | progress | took
+ | @ | none wait=sleep tcp | progress | took
progress-@-yield | 2 4 | none wait=yield | progress | took
END
    # Open MPI's other collectives exist and are right; they do not depend on the barrier's path. 40 communicators
    # have 32 groups, which those that are freed release to others.
    rows <<'END'
colls-@-sim | 2 3 4 7 16 | sim | colls | took
colls-3-none | 3 | none | colls | took
groups-@ | 2 3 4 7 16 | sim | groups | took
  | 32/early [0-9]+ .*sim: group/ | 8/early [0-9]+ .*(fallback|software): .*no barrier group is free/
  | 16/again [0-9]+ .*sim: group/
END
}

# RANKS JOBS SEED: groups move between communicators, and the device loses messages, is slow, or dies.
scarce_faults() {
    local options program i
    RANDOM=$3
    for ((i = 0; i < $2; i++)); do
        program='moves 40 6 3'
        case $((i % 4)) in
        0) options="lose_arrival=$((3 + RANDOM % 500))&lose_release=$((3 + RANDOM % 500))" ;;
        1) options="latency=$((RANDOM % 20))us&jitter=$((RANDOM % 50))us" ;;
        2) options="die_after=$((RANDOM % 5000))" ;;
        3) options="die_after=$((RANDOM % 5000))&die_release=1&latency=10us&jitter=100us" ;;
        esac
        [[ $options != die* ]] || program='dies 40 6 40'
        row_job "+ | $1 | sim?groups=6&$options&seed=$RANDOM retry_after=1 GBA_TEST_SEED=$RANDOM limit=300 $4 | scarce $program"
    done
}

# OPTION: more communicators than groups. Until a communicator has one (offload_after), it has software barriers or
# (sw_enable 0) Open MPI's own. Freed groups go to those that renegotiate, also among the leaders of pretended hosts.
scarce_all() {
    local group='SPLIT FROM 0 .*sim: group' some
    some=' | 12+/SPLIT FROM 0 .*sim: group [0-3] of 4/'
    rows <<END
scarce-after-@-10-1 | 2 4 | sim offload_after=10 | scarce after 10 | 2/$group 0 of 32/ | 0/although/
scarce-after-@-10-0 | 2 4 | sim offload_after=10 sw_enable=0 GBA_TEST_FALLBACK=1 | scarce after 10 | 2/$group 0 of 32/
  | 0/although/
scarce-after-@-1-1 | 2 4 | sim offload_after=1 | scarce after 1 | 2/$group 0 of 32/ | 0/although/
scarce-after-@-1-0 | 2 4 | sim offload_after=1 sw_enable=0 GBA_TEST_FALLBACK=1 | scarce after 1 | 2/$group 0 of 32/
  | 0/although/
scarce-freed-@-1 | 2 4 | sim?groups=4 | scarce freed 100 4 $some
scarce-freed-@-0 | 2 4 | sim?groups=4 sw_enable=0 GBA_TEST_FALLBACK=1 | scarce freed 100 4 $some
scarce-moves-@ | 2 4 | sim?groups=8 limit=300 | scarce moves 100 8 3 | failovers=0
scarce-moves-fallback-@ | 2 4 | sim?groups=6 sw_enable=0 GBA_TEST_FALLBACK=1 limit=300 | scarce moves 100 6 3 | failovers=0
scarce-limit-@ | 2 4 | sim?groups=32 max_groups=5 limit=300 | scarce moves 100 5 3 | failovers=0
# 64 communicators of one host, for the two colors of 32 splits, hold no group of two. trial_test: the time
# of the device has no effect.
scarce-one-host | 4 | sim?groups=2 offload=fastest trial_test=1 hosts=2 | scarce hosts 32 | /^scarce: right$/
  | 64/SPLIT FROM 0 .*software: .*no device: fewer hosts than min_hosts/
# The same with nonblocking barriers only.
scarce-nonblocking-after-4 | 4 | sim offload_after=300 GBA_TEST_NONBLOCKING=1 | scarce after 300
  | 2/$group 0 of 32/ | 0/although/
scarce-nonblocking-after-3-0 | 3 | sim offload_after=10 sw_enable=0 GBA_TEST_FALLBACK=1 GBA_TEST_NONBLOCKING=1
  | scarce after 10 | 2/$group 0 of 32/ | 0/although/
scarce-nonblocking-freed-3 | 3 | sim?groups=4 GBA_TEST_NONBLOCKING=1 | scarce freed 100 4 $some
scarce-nonblocking-moves-2 | 2 | sim?groups=6 sw_enable=0 GBA_TEST_FALLBACK=1 GBA_TEST_NONBLOCKING=1 limit=300
  | scarce moves 100 6 3 | failovers=0
END
    for ranks in 2 4; do
        test_case "scarce-faults-$ranks" scarce_faults "$ranks" 4 "$ranks" -
        scarce_hosts "scarce-hosts-$ranks-1" "$ranks" 1 -
        scarce_hosts "scarce-hosts-$ranks-2" "$ranks" 2 -
    done
    test_case scarce-nonblocking-faults-2 scarce_faults 2 4 5 GBA_TEST_NONBLOCKING=1
    scarce_hosts scarce-nonblocking-hosts-4 4 2 GBA_TEST_NONBLOCKING=1
}

# NAME RANKS HOSTS OPTION: until the leaders have a group they exchange messages.
scarce_hosts() {
    local options="sim?groups=4 hierarchy=node hosts=$3 $4"
    rows <<END
$1 | $2 | $options offload_after=10 | scarce after 10
  | 2/SPLIT FROM 0 .*sim: group 0 of 4 among the leaders of $3 host/
+ | $2 | $options | scarce freed 20 4 | 12+/SPLIT FROM 0 .*sim: group [0-3] of 4 among the leaders of $3 host/
END
}

# The rounds pass the point where a signed or an unsigned sequence wraps.
sequence_all() {
    local first
    for first in 31:0x7fffff00 32:0xffffff00; do
        rows <<END
sequence-${first%:*}-@ | 2 3 16 | sim first_sequence=$((${first#*:})) | many 20000 | took errors=0
+ | @ | sim first_sequence=$((${first#*:})) | early_exit | took errors=0
+ | @ | sim first_sequence=$((${first#*:})) | ibarrier | took errors=0
END
    done
}

many_all() {
    local count=100000
    rows <<'END'
many-2-sim | 2 | sim limit=600 | many 1000000 | took rounds=1000000 errors=0
many-2-none | 2 | none limit=600 | many 1000000 | took
END
    ! $long || count=1000000
    rows <<END
many-@-sim | 3 4 7 16 | sim limit=600 | many $count | took rounds=$count errors=0
many-@-none | 3 4 7 16 | none limit=600 | many $count | took
END
}

# A group among the leaders of pretended hosts.
hierarchy_all() {
    local hosts ranks right options group
    for hosts in 1 2 5 3; do
        group="/MPI_COMM_WORLD .*sim: group 0 of 32 among the leaders of $hosts hosts?, @ members/"
        right="took software=0 errors=0 | $group"
        options="hierarchy=node hosts=$hosts"
        ranks='2 3 4 7 16'
        [ "$hosts" -ne 5 ] || ranks='7 16'
        [ "$hosts" -eq 3 ] || rows <<END
hierarchy-early_exit-@-$hosts | $ranks | sim $options | early_exit 100 | $right
hierarchy-many-@-$hosts | $ranks | sim $options | many 5000 | $right
hierarchy-kinds-@-$hosts | $ranks | sim $options | kinds | $right
END
        [ "$hosts" -eq 2 ] || [ "$hosts" -eq 3 ] ||
            rows <<<"hierarchy-early_exit-@-$hosts | 64 | sim $options | early_exit 100 | $right"
        [ "$hosts" -ne 5 ] || rows <<<"hierarchy-kinds-@-5 | 64 | sim $options | kinds | $right"
        # Only leaders detect losses. The leader of a host notifies its ranks that the device has failed: in the
        # rounds that the device completed, and the few that failure notifications completed.
        [ "$hosts" -ne 1 ] && [ "$hosts" -ne 3 ] || rows <<END
hierarchy-resent-$hosts | 7 | sim?lose_arrival=5&lose_release=7 $options | early_exit 30 | took | ${group/@/7}
hierarchy-death-$hosts | 7 | sim?die_after=20 $options | early_exit | failovers>0 sim>20 sim<=24 software>0 | ${group/@/7}
END
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

broken_all() {
    local program call
    for program in early_exit many kinds churn threads ibarrier groups spawn; do
        test_case "broken-early-$program" broken_found early "$program"
    done
    for program in early_exit kinds threads ibarrier; do
        test_case "broken-iearly-$program" broken_found iearly "$program"
    done
    test_case broken-hang broken_found hang early_exit
    test_case broken-stall broken_found stall progress
    for call in MPI_Scan MPI_Alltoall MPI_Scatter MPI_Reduce_scatter_block; do
        test_case "broken-values-$call" broken_found values colls GBA_TEST_BROKEN_CALL="$call"
    done
}

# Nonblocking barriers, in all modes of the program that the path allows. Mode 2 runs by itself, because it needs
# threads; the other modes test a program without threads. Mode 4 has releases lost only: a member that is away
# cannot repeat its arrival. A lost message costs retry_after, and hundreds are lost here.
ibarrier_all() {
    local algorithm ranks losses='lose_arrival=17&lose_release=19'
    for ranks in '2 3 4' '7 16'; do
        rows <<END
ibarrier-@-sim | $ranks | sim | ibarrier 1 4 5 3 | took
ibarrier-@-sim-threads | $ranks | sim | ibarrier 2 | took
ibarrier-@-lost | $ranks | sim?$losses retry_after=1 | ibarrier 1 5 3 | took errors=0
ibarrier-@-lost-threads | $ranks | sim?$losses retry_after=1 | ibarrier 2 | took errors=0
ibarrier-@-lost-away | $ranks | sim?lose_release=3 retry_after=1 | ibarrier 4 | took errors=0
ibarrier-@-none | $ranks | none | ibarrier 1 4 5 3 | took
ibarrier-@-none-threads | $ranks | none | ibarrier 2 | took
ibarrier-@-fallback | $ranks | fallback | ibarrier 1 | took
ibarrier-@-fallback-threads | $ranks | fallback | ibarrier 2 | took
END
        for algorithm in v1 v2 v3; do
            rows <<END
ibarrier-@-$algorithm | $ranks | none sw_algorithm=$algorithm | ibarrier 1 5 3 | took
ibarrier-@-$algorithm-threads | $ranks | none sw_algorithm=$algorithm | ibarrier 2 | took
END
        done
        # A round of many ranks has many arrivals, and the losses of one round are recovered one by one.
        losses='lose_arrival=97&lose_release=101'
    done
}

# The ranks agree in a nonblocking barrier, after agree_after of each communicator: 32 communicators in mode 1, 24 in
# mode 2, 6 in mode 4; two of the three of mode 3 agree. Between pretended hosts a rank has eight requests for all
# its sends. Then the device dies in the agreement, or in the first barriers after it, or it has no group for a
# communicator.
nonblocking_all() {
    local requests='.pml=ob1 tcp .pml_ob1_free_list_num=8 .pml_ob1_free_list_max=8 .pml_ob1_free_list_inc=8 hosts=2'
    local option
    rows <<END
ibarrier-nested | 2 | none $requests | ibarrier 7 | 2/software: .* of 2 hosts/
nonblocking-2-none | 2 | none agree_after=0 | nonblocking 1 1 4 3 | took fallback=0
nonblocking-3-sim | 3 | sim agree_after=4 | nonblocking 5 1 4 | took fallback=152
nonblocking-7-none | 7 | none agree_after=2 | nonblocking 3 1 4 | took fallback=76
nonblocking-16-sim | 16 | sim agree_after=1 | nonblocking 2 1 | took fallback=32
nonblocking-3-none-threads | 3 | none agree_after=3 | nonblocking 4 2 | took fallback=72
nonblocking-4-sim-threads | 4 | sim agree_after=1 | nonblocking 2 2 | took fallback=24
nonblocking-5-fallback | 5 | fallback agree_after=2 | nonblocking 3 1 4 3 | took
nonblocking-3-fallback-threads | 3 | fallback agree_after=2 | nonblocking 3 2 | took
nonblocking-5-hosts | 5 | none agree_after=1 $requests | nonblocking 2 4 | took fallback=6 | 6/software: .* of 2 hosts/
nonblocking-8-hosts | 8 | none agree_after=0 $requests | nonblocking 1 5 | took fallback=0 | 5/software: .* of 2 hosts/
# The ranks get a group in a barrier after offload_after, while later ones are queued.
nonblocking-4-offload | 4 | sim offload_after=12 agree_after=2 | nonblocking 3 1 4 | sim>0
nonblocking-5-offload-0 | 5 | sim offload_after=9 sw_enable=0 agree_after=2 | nonblocking 3 1 4 | sim>0
nonblocking-3-offload-threads | 3 | sim offload_after=12 sw_enable=0 agree_after=2 | nonblocking 3 2 | sim>0
END
    for option in die_call=3 die_arrival=7 die_after=40 groups=1; do
        rows <<<"nonblocking-4-$option | 4 | sim?$option | nonblocking 1 1 | software>0 fallback=0"
    done
}

# What happens in the midst of barriers of both kinds.
mixture_all() {
    rows <<END
mixture-3-offload | 3 | sim offload_after=13 | mixture 4 1200 1 | /^mixture: right$/ | sim>0
mixture-4-scarce | 4 | sim?groups=2 offload_after=5 | mixture 4 1200 1 | /^mixture: right$/ | renegotiations>0
mixture-3-dies | 3 | sim?die_after=150 retry_after=1 | mixture 4 1200 1 | /^mixture: right$/ | failovers>0
mixture-3-dies-fallback | 3 | sim?die_after=90 retry_after=1 sw_enable=0 | mixture 4 1200 2 | /^mixture: right$/ | failovers>0
mixture-3-trials | 3 | none trial_after=40 trial_test=2 | mixture 4 1200 2 | /^mixture: right$/ | software>0
END
}

all_cases() {
    broken_all
    hierarchy_all
    nonblocking_all
    mixture_all
    programs_all
    ibarrier_all
    sequence_all
    scarce_all
    many_all
}
