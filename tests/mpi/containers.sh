# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases with ranks in containers, emulated by namespaces. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# OPTION...: skip the case if this system does not permit such namespaces.
may_unshare() {
    unshare "$@" true 2>/dev/null || skip "this system does not permit unshare $*"
}

# PATH: a user namespace for each rank. The ranks cannot open each other's memory, so each rank is a
# host.
each_in_user_namespace() {
    may_unshare --user --map-root-user
    limit 60
    path_options "$1"
    wrapper=(unshare --user --map-root-user)
    job "${path[@]}" --mca btl tcp,self -x GBA_TEST_APART=1 -np 4 -- early_exit 60
    lines 0 '^FAIL'
    lines 1 'MPI_COMM_WORLD .*software: .* 4 hosts'
    total_is software -gt 0
    total_is fallback -eq 0
}

# The same ranks share a group of a gba-switchd.
switch_in_user_namespaces() {
    may_unshare --user --map-root-user
    limit 60
    switch_start 127.0.0.1
    switch_options unix
    wrapper=(unshare --user --map-root-user)
    job "${path[@]}" --mca btl tcp,self -x GBA_TEST_APART=1 -np 4 -- early_exit 60
    lines 0 '^FAIL'
    lines 1 'MPI_COMM_WORLD .*switch: group'
    total_is switch -gt 0
    total_is software -eq 0
}

# Only the last rank is in a user namespace: the other ranks share memory.
one_in_user_namespace() {
    may_unshare --user --map-root-user
    limit 60
    path_options default
    # shellcheck disable=SC2016 # for the shell in there
    wrapper=(sh -c '[ "$OMPI_COMM_WORLD_RANK" -ne 3 ] || exec unshare --user --map-root-user "$@"; exec "$@"' sh)
    job "${path[@]}" --mca btl tcp,self -x GBA_TEST_APART=1 -np 4 -- early_exit 60
    lines 0 '^FAIL'
    lines 1 'MPI_COMM_WORLD .*software: .* 2 hosts, 4 members, at most 3 on a host'
    total_is software -gt 0
    total_is fallback -eq 0
}

# REASON COMMAND: the ranks run in namespaces that COMMAND has changed. No rank can identify its host,
# the user gets one line, and all 40 communicators use Open MPI's barrier.
unknown_host() {
    local spaces=(--user --map-root-user --mount --pid --fork --kill-child)
    may_unshare "${spaces[@]}"
    limit 60
    path_options default
    wrapper=(unshare "${spaces[@]}" sh -c "$2"'; exec "$@"' sh)
    job --mca btl tcp,self -x GBA_TEST_APART=1 -np 3 -- groups 40 10
    lines 0 '^FAIL'
    one_line "$1"
    job "${path[@]}" --mca btl tcp,self -x GBA_TEST_APART=1 -np 3 -- early_exit 60
    lines 0 '^FAIL'
    total_is software -eq 0
    total_is fallback -gt 0
}

all_containers() {
    local device
    for device in default sim; do
        test_case "containers-user-$device" each_in_user_namespace "$device"
    done
    test_case containers-user-switch switch_in_user_namespaces
    test_case containers-user-one one_in_user_namespace
    test_case containers-boot-id unknown_host 'boot_id contains no boot ID' \
        'mount -t proc proc /proc && mount --bind /dev/null /proc/sys/kernel/random/boot_id'
    test_case containers-outer-proc unknown_host 'another PID namespace' :
}
