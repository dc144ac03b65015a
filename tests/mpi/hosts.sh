# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of software barriers of communicators that span hosts. run sources this file inside
# tests/cluster, for tests/mpi/hosts. Between the hosts there is only TCP. The order of messages shows
# that no rank leaves early (test_referee), because the hosts share no memory.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

IFS=, read -r -a host_names <<<"${HOSTS-}"

# COUNT...: ranks on each host; the last number also holds for the remaining hosts.
ranks_on() {
    local list='' count=0 name
    ranks=0
    for name in "${host_names[@]}"; do
        [ $# -eq 0 ] || { count=$1 && shift; }
        list=$list,$name:$count
        ranks=$((ranks + count))
    done
    # More processes than cores, although no single host can see it: they must yield the core.
    selection=(--mca coll gba_barrier --host "${list#,}" --bind-to none --mca mpi_yield_when_idle 1
        --mca coll_gba_barrier_verbose 1 -np "$ranks")
}

# KIND, for the option kind= of a row: the required software barrier of all ranks; "auto": the component's choice. The
# radix leaves the last round of v2 incomplete with most sizes.
row_kind() {
    took=kind
    case $1 in
    auto) kind_text='' ;;
    flat-v1) kind_text='dissemination \(v1\) through messages' ;;
    flat-v2) kind_text='radix 3 \(v2\) through messages' ;;
    node-v1) kind_text='dissemination \(v1\) among the leaders' ;;
    node-v2) kind_text='radix 3 \(v2\) among the leaders' ;;
    flat-tree) kind_text='tree through messages' ;;
    node-tree) kind_text='tree among the leaders' ;;
    esac
    [ "$1" = auto ] || options+=(--mca coll_gba_barrier_hierarchy "${1%-*}"
        --mca coll_gba_barrier_sw_algorithm "${1#*-}" --mca coll_gba_barrier_sw_radix 3)
}

took_kind() {
    local inter=0
    ! grep -q '^kinds: right' "$out" || inter=120 # barriers of its intercommunicators
    total_is software -gt 0
    total_is fallback -eq "$inter"
    grep -qE "coll gba_barrier: .*: software: $kind_text.* ${#host_names[@]} hosts" "$out" ||
        fail "no software barrier of that kind"
}

# HOST COMMAND: a command that the ranks on one host run before they start.
on_one_host() {
    # In /run, which tests/cluster creates, because each host has its own /tmp.
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016
        echo "if [ \"\$(hostname)\" = $1 ]; then $2; fi; exec \"\$@\""
    } >"/run/wrapper.$BASHPID"
    chmod +x "/run/wrapper.$BASHPID"
    wrapper=("/run/wrapper.$BASHPID")
}

# One host lacks the plugin: all ranks take Open MPI's barrier, and the user gets a line. (Not under
# exclusive selection, which could not start there.)
lacks_plugin() {
    on_one_host "${host_names[1]}" 'unset OMPI_MCA_mca_base_component_path'
    row_job "+ | 2 | free | early_exit 60 | software=0 fallback>0 | /MPI_COMM_WORLD .*fallback: .*${host_names[1]}/"
}

# One host has no shared memory: no rank takes the hybrid barrier, and the user gets a line. (The limit
# suffices for the few ranks of the test program itself.)
lacks_memory() {
    on_one_host "${host_names[1]}" 'ulimit -f 5'
    row_job "+ | 1.2.1 | kind=node-v1 tcp | early_exit 60 | software=0 fallback>0 | /MPI_COMM_WORLD .*fallback: .*memory.*${host_names[1]}/"
}

# LINES: on the second host, or on all, the device exists and fails to open: a line for each host.
unusable_on_hosts() {
    local make="exec $top/tests/own_dev --same-user 'echo something >gba0' \"\$@\""
    on_one_host "${host_names[1]}" "$make"
    [ "$1" -eq 1 ] || { echo '#!/bin/sh' && echo "$make"; } >"${wrapper[0]}"
    row_job "+ | 2 | - | early_exit 60 | software>0 | $1//dev/gba0 is not a GBA: .*; barriers use software/ | /^\\[${host_names[1]}:.*/dev/gba0 is not a GBA: .*; barriers use software/"
}

# The last rank of the last host is stopped. Its node sees that it is missing. The other ranks see at most
# the host, and one of them reports it.
spans_stopped() {
    local last=${host_names[${#host_names[@]} - 1]}
    ranks_on 2
    path=()
    stopped_job --map-by slot -- stuck 1
    reported_by 1 "MPI_COMM_WORLD .*barrier 6 \\(software\\) stalled for .*missing: rank $((ranks - 1)) on $last\$"
    reported_by 2 'barrier 6 .*stalled for' # at most one of a host
    lines 0 "barrier 6 .*stalled for .* on (${host_names[0]})"
    grep -q 'barrier 6 has ended after' "$out" || fail 'no word that it went on'
}

# HOW WHERE [OPTION...]: the same on a copy of MPI_COMM_WORLD. Each host may report on the fallback, where only its own
# ranks are visible; that of the last one says what its last rank does. HOW: of `stuck`.
spans_copy() {
    local how=$1 where=$2 last=${host_names[${#host_names[@]} - 1]}
    shift 2
    ranks_on 2
    path=()
    stopped_job --map-by slot "$@" -- stuck "$how" 5 dup
    reported_by 2 'barrier 6 .*stalled for'
    reported_by 1 "DUP FROM 0 .*barrier 6 .*missing: rank $((ranks - 1)) on $last\$"
    grep -qE "DUP FROM 0 .*: rank $((ranks - 1)) on $last \\(pid [0-9]+\\): is stopped, $where" "$out" ||
        fail "the last rank: not \"$where\""
}

# [OPTION...]: the last rank waits in MPI_COMM_WORLD, the others in its copy; both are reported on its host.
spans_crossed() {
    local last=${host_names[${#host_names[@]} - 1]}
    limit 60
    ranks_on 2
    fails job --map-by slot "$@" --mca coll_gba_barrier_stuck_after 2 --mca coll_gba_barrier_abort_after 4 -- stuck 5 5 dup
    reported_by 1 "DUP FROM 0 .*barrier 6 .*missing: rank $((ranks - 1)) on $last\$"
    grep -qE "DUP FROM 0 .*: rank $((ranks - 1)) on $last .*: waits in barrier 1 of MPI_COMM_WORLD .*for" "$out" ||
        fail "the last rank is not seen"
    grep -qE "MPI_COMM_WORLD .*rank $((ranks - 2)) on $last .*: waits in barrier 6 of .*DUP FROM 0 .*for" "$out" ||
        fail "the other stall is not reported"
    lines 0 'stalled for 2 s.*no member that this process sees is missing'
    until_true running 0
}

all_hosts() {
    local hosts=${#host_names[@]} kind place program ranks counts sequence=first_sequence=$((0xffffff00))
    for kind in flat-v1 flat-v2 node-v1 node-v2; do
        # On the last host of unequal ones: one rank, which is alone and its node's leader.
        rows <<END
hosts$hosts-$kind-node | 2 | kind=$kind --map-by=node | early_exit 60 | took
hosts$hosts-$kind-slot | 2 | kind=$kind --map-by=slot | early_exit 60 | took
hosts$hosts-$kind-unequal | 3.2.1 | kind=$kind --map-by=node | early_exit 60 | took
hosts$hosts-$kind-sequence-32 | 2.1 | kind=$kind --map-by=slot $sequence | many 600 | took
END
    done
    rows <<END
hosts$hosts-flat-tree | 3.2.1 | kind=flat-tree --map-by=node | early_exit 60 | took
hosts$hosts-node-tree | 3.2.1 | kind=node-tree --map-by=node | early_exit 60 | took
hosts$hosts-flat-tree-sequence | 2.1 | kind=flat-tree --map-by=slot $sequence | many 600 | took
hosts$hosts-auto | 1.4.2 | kind=auto --map-by=slot | early_exit 60 | took
hosts$hosts-one-each | 1 | kind=auto --map-by=slot | many 500 | took
END
    for kind in flat-v1 node-v1; do
        # The default osc component of Debian's Open MPI cannot create a window over TCP, with or without plugin.
        rows <<<"hosts$hosts-$kind-progress | 2 | kind=$kind .osc=pt2pt --map-by=slot | progress | took"
        [ "$hosts" -ne 3 ] || for program in kinds colls threads ibarrier churn; do
            rows <<<"hosts3-$kind-$program | 2.1 | kind=$kind --map-by=node | $program | took"
        done
    done
    [ "$hosts" -ne 3 ] || rows <<'END'
hosts3-flat-tree-ibarrier | 2.1 | kind=flat-tree --map-by=node | ibarrier | took
hosts3-flat-v1-outstanding | 2.1 | kind=flat-v1 --map-by=node | ibarrier 8 | took
hosts3-node-v1-outstanding | 2.1 | kind=node-v1 --map-by=node | ibarrier 8 | took
END
    # Rank 0 leaves a barrier while there is much to send before its signal. With radix 3 two ranks more mean a second
    # round, in which rank 0 waits for rank 1, which then has its signal.
    [ "$hosts" -ne 2 ] || for kind in flat-v1 flat-v2 node-v1 flat-tree; do
        counts=2
        [ "$kind" != flat-v2 ] || counts=2.1
        rows <<END
hosts2-$kind-queued | $counts | kind=$kind --map-by=node | queued WORK 1 | took
hosts2-$kind-queued-nonblocking | $counts | kind=$kind --map-by=node | queued WORK 2 | took
END
    done
    # A simulated device on each host; the ranks of each pretend to be two hosts.
    ranks=$((2 * hosts))
    kind="sim>0 errors=0 | /MPI_COMM_WORLD .*sim: groups among the leaders of $ranks hosts"
    kind+=", dissemination \(v1\) among $hosts switch domains/"
    # Without exclusive selection Open MPI selects the plugin by its priority, unless it is disabled on all. The
    # fallback barrier is that of coll/han. In its first call coll/han detects that it gains nothing with one rank on
    # each host, and restores the communicator's previous functions. The exchange of the agreement uses han's
    # collectives, too.
    rows <<END
hosts$hosts-domains | 2 | sim --map-by=slot hosts=$ranks | early_exit 60 | $kind
hosts$hosts-domains-many | 2 | sim --map-by=slot hosts=$ranks | many 500 | $kind
hosts$hosts-disabled | 1 | sw_enable=0 | early_exit 30 | fallback>0 | /MPI_COMM_WORLD .*fallback: /
hosts$hosts-above-han | 1 | none .coll_han_priority=40 sw_enable=0 | many 20 | fallback=20
+ | 1 | none .coll_han_priority=40 sw_enable=0 | churn
+ | 1 | none .coll_han_priority=40 | churn | software>0
END
    test_case "hosts$hosts-lacks-plugin" lacks_plugin
    test_case "hosts$hosts-lacks-memory" lacks_memory
    if [ "$hosts" -eq 2 ]; then
        test_alone hosts2-stalled-stopped spans_stopped
        test_alone hosts2-stalled-copy spans_copy 1 'waits in no barrier'
        test_alone hosts2-stalled-unagreed spans_copy 1 'waits in no barrier' --mca coll_gba_barrier_agree_after 100
        test_alone hosts2-stalled-begun spans_copy 4 'has begun nonblocking barrier 6 of ' --mca coll_gba_barrier_agree_after 5
        test_alone hosts2-stalled-crossed spans_crossed
        test_alone hosts2-stalled-crossed-unagreed spans_crossed --mca coll_gba_barrier_agree_after 100
        test_case hosts2-unusable-1 unusable_on_hosts 1
        test_case hosts2-unusable-2 unusable_on_hosts 2
        # No group is free on any host, and no communicator spans the hosts: one line for the job.
        rows <<'END'
hosts2-idle | 2 | alone kind=auto --map-by=slot | idle | took
hosts2-no-group | 2 | sim?full=1 --map-by=slot | alerts pairs | sim=0 software>0
  | 2/software: .*no barrier group is free/ | /no barrier group is free .*although device_path is/
END
    fi
    all_switch_hosts
    [ "$hosts" -ne 4 ] || rows <<'END'
hosts4-node-v1-128 | 32 | alone kind=node-v1 --map-by=node | many 20 | took
hosts4-flat-v2-128 | 32 | alone kind=flat-v2 --map-by=slot | many 20 | took
END
}
