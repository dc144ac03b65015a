# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases with ranks in containers, emulated by namespaces. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# ROW: its job, while each rank has a user namespace. The ranks cannot open each other's memory, so each rank is a
# host.
in_user_namespaces() {
    may_unshare --user --map-root-user
    wrapper=(unshare --user --map-root-user)
    row_job "$1"
}

# Only the last rank is in a user namespace: the other ranks share memory.
one_in_user_namespace() {
    may_unshare --user --map-root-user
    # shellcheck disable=SC2016 # for the shell in there
    wrapper=(sh -c '[ "$OMPI_COMM_WORLD_RANK" -ne 3 ] || exec unshare --user --map-root-user "$@"; exec "$@"' sh)
    row_job '+ | 4 | tcp GBA_TEST_APART=1 | early_exit 60 | software>0 fallback=0 | /MPI_COMM_WORLD .*software: .* 2 hosts, 4 members, at most 3 on a host/'
}

# OPTION...: skip the case if this system does not permit such namespaces.
may_unshare() {
    unshare "$@" true 2>/dev/null || skip "this system does not permit unshare $*"
}

# REASON COMMAND: the ranks run in namespaces that COMMAND has changed. No rank can identify its host,
# the user gets one line, and all 40 communicators use Open MPI's barrier.
unknown_host() {
    local spaces=(--user --map-root-user --mount --pid --fork --kill-child)
    may_unshare "${spaces[@]}"
    wrapper=(unshare "${spaces[@]}" sh -c "$2"'; exec "$@"' sh)
    row_job "+ | 3 | quiet tcp GBA_TEST_APART=1 | groups 40 10 | only/$1/"
    row_job '+ | 3 | tcp GBA_TEST_APART=1 | early_exit 60 | software=0 fallback>0'
}

# Two containers of two ranks share a group of a gba-switchd, and the last rank is stopped. Rank 0 reports it, and cannot
# see the processes of the other container; a rank there says where the missing one is.
stalled_in_container() {
    local members=4 holders=() options=() i
    may_unshare --user --map-root-user
    for i in 0 1; do
        unshare --user --map-root-user sleep 100 &
        holders[i]=$!
    done
    # shellcheck disable=SC2016 # expanded on each rank
    wrapper=(sh -c '[ "$OMPI_COMM_WORLD_RANK" -lt 2 ] || set -- "$2" "$@"; target=$1; shift 2
        [ "$OMPI_COMM_WORLD_RANK" -lt 2 ] || shift
        exec nsenter --user --preserve-credentials --target "$target" "$@"' sh "${holders[@]}")
    row_option tcp
    row_option switch=unix
    path=("${options[@]}" --mca coll_gba_barrier_verbose 1 -x GBA_TEST_APART=1)
    stopped_job -np "$members" -- stuck 1
    kill "${holders[@]}"
    reported_by 1 "MPI_COMM_WORLD .*barrier 6 \\(switch\\) stalled for .*; missing: rank 3 on $(hostname)\$"
    grep -qE 'MPI_COMM_WORLD .*: rank 3 on .* [(]pid [0-9]+[)]: is stopped, waits in no barrier' "$out" ||
        fail 'nobody says where rank 3 is'
}

all_containers() {
    local device
    for device in default sim; do
        test_case "containers-user-$device" in_user_namespaces \
            "+ | 4 | $device tcp GBA_TEST_APART=1 | early_exit 60 | software>0 fallback=0 | /MPI_COMM_WORLD .*software: .* 4 hosts/"
    done
    # The same ranks share a group of a gba-switchd.
    test_case containers-user-switch in_user_namespaces \
        '+ | 4 | switch=unix tcp GBA_TEST_APART=1 | early_exit 60 | switch>0 software=0 | /MPI_COMM_WORLD .*switch: group/'
    test_alone containers-stalled stalled_in_container
    test_case containers-user-one one_in_user_namespace
    test_case containers-boot-id unknown_host 'boot_id contains no boot ID' \
        'mount -t proc proc /proc && mount --bind /dev/null /proc/sys/kernel/random/boot_id'
    test_case containers-outer-proc unknown_host 'another PID namespace' :
}
