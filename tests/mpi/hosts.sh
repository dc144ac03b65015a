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

# KIND: the required software barrier of all ranks; empty $kind_text: the component's choice.
kind_options() {
    case $1 in
    auto) path=() kind_text='' ;;
    flat-v1) kind_text='dissemination \(v1\) through messages' ;;
    flat-v2) kind_text='radix 3 \(v2\) through messages' ;;
    node-v1) kind_text='dissemination \(v1\) among the leaders' ;;
    node-v2) kind_text='radix 3 \(v2\) among the leaders' ;;
    flat-tree) kind_text='tree through messages' ;;
    node-tree) kind_text='tree among the leaders' ;;
    esac
    # A radix that leaves the last round of v2 incomplete with most sizes.
    [ "$1" = auto ] || path=(--mca coll_gba_barrier_hierarchy "${1%-*}"
        --mca coll_gba_barrier_sw_algorithm "${1#*-}" --mca coll_gba_barrier_sw_radix 3)
}

took_software() {
    total_is software -gt 0
    total_is fallback -eq 0
    grep -qE "coll gba_barrier: .*: software: $kind_text.* ${#host_names[@]} hosts" "$out" ||
        fail "no software barrier of that kind"
}

# KIND PLACE PROGRAM [ARGUMENT...]: PLACE is the mapping of ranks, "node" or "slot".
spans() {
    local place=$2
    limit 120
    kind_options "$1"
    shift 2
    job "${path[@]}" --map-by "$place" -- "$@"
    lines 0 '^FAIL'
    took_software "$1"
}

spans_with() { # COUNTS KIND PLACE PROGRAM [ARGUMENT...]
    # shellcheck disable=SC2086 # a list of numbers
    ranks_on $1
    shift
    spans "$@"
}

# The default osc component of Debian's Open MPI cannot create a window over TCP, with or without
# plugin.
spans_progress() {
    ranks_on 2
    selection+=(--mca osc pt2pt)
    spans "$1" slot progress
}

spans_sequence() { # KIND SEQUENCE
    ranks_on 2 1
    selection+=(--mca coll_gba_barrier_first_sequence "$2")
    spans "$1" slot many 600
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
    ranks_on 2
    limit 60
    on_one_host "${host_names[1]}" 'unset OMPI_MCA_mca_base_component_path'
    selection=("${selection[@]:3}")
    job -- early_exit 60
    total_is software -eq 0
    total_is fallback -gt 0
    lines 1 "MPI_COMM_WORLD .*fallback: .*${host_names[1]}"
}

# One host has no shared memory: no rank takes the hybrid barrier, and the user gets a line. (The limit
# suffices for the few ranks of the test program itself.)
lacks_memory() {
    ranks_on 1 2 1
    limit 60
    on_one_host "${host_names[1]}" 'ulimit -f 5'
    kind_options node-v1
    job "${path[@]}" --mca btl tcp,self -- early_exit 60
    total_is software -eq 0
    total_is fallback -gt 0
    lines 1 "MPI_COMM_WORLD .*fallback: .*memory.*${host_names[1]}"
}

# LINES: on the second host, or on all, the device exists and fails to open: a line for each host.
unusable_on_hosts() {
    local make="exec $top/tests/own_dev --same-user 'echo something >gba0' \"\$@\""
    ranks_on 2
    limit 60
    on_one_host "${host_names[1]}" "$make"
    [ "$1" -eq 1 ] || { echo '#!/bin/sh' && echo "$make"; } >"${wrapper[0]}"
    job -- early_exit 60
    total_is software -gt 0
    lines "$1" '/dev/gba0 is not a GBA: .*; barriers use software'
    lines 1 "^\\[${host_names[1]}:.*/dev/gba0 is not a GBA: .*; barriers use software"
}

# No group is free on any host, and no communicator spans the hosts: one line for the job.
no_group_on_hosts() {
    ranks_on 2
    limit 60
    job --map-by slot --mca coll_gba_barrier_device_path 'sim?full=1' -- alerts pairs
    total_is sim -eq 0
    total_is software -gt 0
    lines "${#host_names[@]}" 'software: .*no barrier group is free'
    lines 1 'no barrier group is free .*although device_path is'
}

# Without exclusive selection Open MPI selects the plugin by its priority, unless it is disabled on all.
disabled() {
    ranks_on 1
    limit 60
    job --mca coll_gba_barrier_sw_enable 0 -- early_exit 30
    total_is fallback -gt 0
    lines 1 'MPI_COMM_WORLD .*fallback: '
}

# The fallback barrier is that of coll/han. In its first call coll/han detects that it gains nothing
# with one rank on each host, and restores the communicator's previous functions.
above_han() {
    ranks_on 1
    selection+=(--mca coll_han_priority 40 --mca coll_gba_barrier_device_path none)
    limit 60
    job --mca coll_gba_barrier_sw_enable 0 -- many 20
    total_is fallback -eq 20
    job --mca coll_gba_barrier_sw_enable 0 -- churn
    # The exchange of the agreement also uses han's collectives.
    job -- churn
    total_is software -gt 0
}

# The last rank of the last host is stopped. Its node sees that it is missing. The other ranks see at most
# the host, and one of them reports it.
spans_stopped() {
    local last=${host_names[${#host_names[@]} - 1]}
    ranks_on 2
    kind_options auto
    stopped_job --map-by slot -- stuck 1
    lines 1 "MPI_COMM_WORLD .*barrier 6 \\(software\\) stalled for .*missing: rank $((ranks - 1)) on $last\$"
    [ "$(grep -c 'barrier 6 .*stalled for' "$out")" -le 2 ] || fail 'reported more than once a host'
    lines 0 "barrier 6 .*stalled for .* on (${host_names[0]})"
    grep -q 'barrier 6 has ended after' "$out" || fail 'no word that it went on'
}

# MODE KIND: rank 0 leaves a barrier while there is much to send before its signal.
spans_queued() {
    local directory
    # In /run, which the hosts share.
    directory=$(mktemp -d /run/queued.XXXXXX)
    ranks_on 2
    # With radix 3 two ranks more mean a second round, in which rank 0 waits for rank 1, which then has
    # its signal.
    [ "$2" != flat-v2 ] || ranks_on 2 1
    spans "$2" node queued "$directory" "$1"
}

all_hosts() {
    local hosts=${#host_names[@]} kind place program
    for kind in flat-v1 flat-v2 node-v1 node-v2; do
        for place in node slot; do
            test_case "hosts$hosts-$kind-$place" spans_with 2 "$kind" "$place" early_exit 60
        done
        # On the last host: one rank, which is alone and its node's leader.
        test_case "hosts$hosts-$kind-unequal" spans_with '3 2 1' "$kind" node early_exit 60
        test_case "hosts$hosts-$kind-sequence-32" spans_sequence "$kind" $((0xffffff00))
    done
    for kind in flat-tree node-tree; do
        test_case "hosts$hosts-$kind" spans_with '3 2 1' "$kind" node early_exit 60
    done
    test_case "hosts$hosts-flat-tree-sequence" spans_sequence flat-tree $((0xffffff00))
    [ "$hosts" -ne 3 ] || test_case "hosts$hosts-flat-tree-ibarrier" spans_with '2 1' flat-tree node ibarrier
    test_case "hosts$hosts-auto" spans_with '1 4 2' auto slot early_exit 60
    test_case "hosts$hosts-one-each" spans_with 1 auto slot many 500
    for kind in flat-v1 node-v1; do
        test_case "hosts$hosts-$kind-progress" spans_progress "$kind"
        for program in kinds colls threads outstanding ibarrier churn; do
            [ "$hosts" -eq 3 ] || continue
            test_case "hosts$hosts-$kind-$program" spans_with '2 1' "$kind" node "$program"
        done
    done
    [ "$hosts" -ne 2 ] || test_alone "hosts$hosts-stalled-stopped" spans_stopped
    [ "$hosts" -ne 2 ] || test_alone "hosts$hosts-idle" spans_with 2 auto slot idle
    for kind in flat-v1 flat-v2 node-v1 flat-tree; do
        [ "$hosts" -eq 2 ] || continue
        test_case "hosts$hosts-$kind-queued" spans_queued 1 "$kind"
        test_case "hosts$hosts-$kind-queued-nonblocking" spans_queued 2 "$kind"
    done
    test_case "hosts$hosts-domains" spans_domains -- early_exit 60
    test_case "hosts$hosts-domains-many" spans_domains -- many 500
    test_case "hosts$hosts-lacks-plugin" lacks_plugin
    test_case "hosts$hosts-lacks-memory" lacks_memory
    if [ "$hosts" -eq 2 ]; then
        test_case hosts2-unusable-1 unusable_on_hosts 1
        test_case hosts2-unusable-2 unusable_on_hosts 2
        test_case hosts2-no-group no_group_on_hosts
    fi
    test_case "hosts$hosts-disabled" disabled
    test_case "hosts$hosts-above-han" above_han
    all_switch_hosts
    if [ "$hosts" -eq 4 ]; then
        test_alone "hosts$hosts-node-v1-128" spans_with 32 node-v1 node many 20
        test_alone "hosts$hosts-flat-v2-128" spans_with 32 flat-v2 slot many 20
    fi
}
