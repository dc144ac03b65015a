# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Software barriers of communicators that span hosts: run sources this inside tests/cluster, for
# tests/mpi/hosts. Several hosts have nothing but TCP between them, and messages show by their order
# that nobody leaves early (test_referee), since no memory can.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

IFS=, read -r -a host_names <<<"${HOSTS-}"

# COUNT...: ranks on each host, the last number again for the hosts that are left.
ranks_on() {
    local list='' count=0 name
    ranks=0
    for name in "${host_names[@]}"; do
        [ $# -eq 0 ] || { count=$1 && shift; }
        list=$list,$name:$count
        ranks=$((ranks + count))
    done
    # More processes than cores, though no single host knows: they must give up the core.
    selection=(--mca coll gba_barrier --host "${list#,}" --bind-to none --mca mpi_yield_when_idle 1
        --mca coll_gba_barrier_verbose 1 -np "$ranks")
}

# KIND: what the software barrier of all ranks is to be; empty in $kind_text: as it chooses.
kind_options() {
    case $1 in
    auto) path=() kind_text='' ;;
    flat-v1) kind_text='v1 through messages' ;;
    flat-v2) kind_text='v2 through messages' ;;
    node-v1) kind_text='v1 among the leaders' ;;
    node-v2) kind_text='v2 among the leaders' ;;
    esac
    # A radix that leaves the last round of v2 incomplete with most sizes.
    [ "$1" = auto ] || path=(--mca coll_gba_barrier_hierarchy "${1%-*}"
        --mca coll_gba_barrier_sw_algorithm "${1#*-}" --mca coll_gba_barrier_sw_radix 3)
}

took_software() { # PROGRAM
    total_is software -gt 0
    # Nonblocking barriers before the first blocking one are Open MPI's.
    [ "$1" = outstanding ] || [ "$1" = ibarrier ] || total_is fallback -eq 0
    grep -qE "coll gba_barrier: .*: software: $kind_text.* ${#host_names[@]} hosts" "$out" ||
        fail "no software barrier of that kind"
}

# KIND PLACE PROGRAM [ARGUMENT...]: PLACE is how ranks are dealt out, "node" or "slot".
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

# The osc component that Debian's Open MPI takes by itself makes no window over TCP, with any plugin.
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

# HOST COMMAND: what the ranks on one host do before they start.
on_one_host() {
    # In /run, which tests/cluster makes, for each host has a /tmp of its own.
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016
        echo "if [ \"\$(hostname)\" = $1 ]; then $2; fi; exec \"\$@\""
    } >/run/wrapper
    chmod +x /run/wrapper
    wrapper=(/run/wrapper)
}

# One host lacks the plugin: all take Open MPI's barrier, and are told. (Not under exclusive
# selection, which could not start there.)
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

# One host has no shared memory: no hybrid for anybody, and they are told. (The limit is enough for
# the few ranks of the test program itself.)
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

# Without exclusive selection the plugin takes part by its priority; disabled on all it does not.
disabled() {
    ranks_on 1
    limit 60
    job --mca coll_gba_barrier_sw_enable 0 -- early_exit 30
    total_is fallback -gt 0
    lines 1 'MPI_COMM_WORLD .*fallback: '
}

# The saved barrier is that of coll/han, which finds out in its first call that there is nothing to
# gain with one rank on each host, and puts back into the communicator what was there before it.
above_han() {
    ranks_on 1
    selection+=(--mca coll_han_priority 40 --mca coll_gba_barrier_device_path none)
    limit 60
    job --mca coll_gba_barrier_sw_enable 0 -- many 20
    total_is fallback -eq 20
    job --mca coll_gba_barrier_sw_enable 0 -- churn
    # And the exchange before a path is agreed on has han's collectives.
    job -- churn
    total_is software -gt 0
}

# The last rank of the last host is stopped. Its node knows that it is missing; the others know at
# most the host, and one rank of them says so.
spans_stopped() {
    local last=${host_names[${#host_names[@]} - 1]}
    ranks_on 2
    kind_options auto
    stopped_job --map-by slot -- stuck 1
    lines 1 "MPI_COMM_WORLD .*barrier 6 \\(software\\) has not ended .*missing: rank $((ranks - 1)) on $last\$"
    [ "$(grep -c 'barrier 6 .*has not ended' "$out")" -le 2 ] || fail 'told more than once a host'
    lines 0 "barrier 6 .*has not ended .* on (${host_names[0]})"
    grep -q 'barrier 6 has ended after' "$out" || fail 'no word that it went on'
}

all_hosts() {
    local hosts=${#host_names[@]} kind place program
    for kind in flat-v1 flat-v2 node-v1 node-v2; do
        for place in node slot; do
            test_case "hosts$hosts-$kind-$place" spans_with 2 "$kind" "$place" early_exit 60
        done
        # On the last host, one rank, which is its node's leader and alone.
        test_case "hosts$hosts-$kind-unequal" spans_with '3 2 1' "$kind" node early_exit 60
        test_case "hosts$hosts-$kind-sequence-32" spans_sequence "$kind" $((0xffffff00))
    done
    test_case "hosts$hosts-auto" spans_with '1 4 2' auto slot early_exit 60
    test_case "hosts$hosts-one-each" spans_with 1 auto slot many 500
    for kind in flat-v1 node-v1; do
        test_case "hosts$hosts-$kind-progress" spans_progress "$kind"
        for program in kinds colls threads outstanding ibarrier churn; do
            [ "$hosts" -eq 3 ] || continue
            test_case "hosts$hosts-$kind-$program" spans_with '2 1' "$kind" node "$program"
        done
    done
    [ "$hosts" -ne 2 ] || test_case "hosts$hosts-stuck-stopped" spans_stopped
    [ "$hosts" -ne 2 ] || test_case "hosts$hosts-idle" spans_with 2 auto slot idle
    test_case "hosts$hosts-islands" spans_islands -- early_exit 60
    test_case "hosts$hosts-islands-many" spans_islands -- many 500
    test_case "hosts$hosts-lacks-plugin" lacks_plugin
    test_case "hosts$hosts-lacks-memory" lacks_memory
    test_case "hosts$hosts-disabled" disabled
    test_case "hosts$hosts-above-han" above_han
    if [ "$hosts" -eq 4 ]; then
        test_case "hosts$hosts-node-v1-128" spans_with 32 node-v1 node many 20
        test_case "hosts$hosts-flat-v2-128" spans_with 32 flat-v2 slot many 20
    fi
}
