# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of a device that exists and fails to open, and of lines that appear without a request. run
# sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# COMMAND: the jobs of this case have their own /dev, in which this shell command creates gba0.
with_dev() {
    local status=0
    "$top/tests/own_dev" "$1" true || status=$?
    [ "$status" -ne 77 ] || skip 'this system does not permit namespaces'
    {
        echo '#!/bin/sh'
        echo "exec $top/tests/own_dev '$1' $mpirun \"\$@\""
    } >"$work/in_dev"
    chmod +x "$work/in_dev"
    mpirun=$work/in_dev
}

# MODE: a file of another user. In those namespaces root has no rights to it.
foreign_file() {
    [ "$(id -u)" -eq 0 ] || skip 'only root can make a file of another user'
    rm -f "$work/file"
    : >"$work/file"
    chmod "$1" "$work/file"
    chown 65534:65534 "$work/file"
    with_dev ": >gba0 && mount --bind $work/file gba0"
}

# CAUSE ADVICE: one line has both, whether the user set the path or not; the job continues.
unusable() {
    limit 60
    job --mca btl tcp,self -np 4 -- early_exit 20
    lines 0 '^FAIL'
    one_line "$1; barriers use software\. $2"
    job --mca btl tcp,self --mca coll_gba_barrier_device_path /dev/gba0 -np 4 -- groups
    one_line "although device_path is \"/dev/gba0\" \($1\)\. $2"
    # At verbose 1 the line of each communicator has the cause, too.
    job --mca btl tcp,self --mca coll_gba_barrier_verbose 1 -np 4 -- early_exit 20
    lines 1 "$1; barriers use software"
    lines 1 "MPI_COMM_WORLD .*no device.*\($1\)"
}

# Forty communicators, nonblocking barriers, parts of the job: the same line, once. No line without
# barriers, or with device_path none.
unusable_once() {
    limit 60
    with_dev 'echo something >gba0'
    for program in groups 'ibarrier 1' kinds 'alerts pairs'; do
        # shellcheck disable=SC2086 # a program with its argument
        job --mca btl tcp,self -np 4 -- $program
        one_line '/dev/gba0 is not a GBA: .*; barriers use software'
    done
    job --mca btl tcp,self -np 1 -- early_exit 20
    lines 0 'gba_barrier:'
    job --mca btl tcp,self --mca coll_gba_barrier_device_path none -np 4 -- early_exit 20
    lines 0 'gba_barrier:'
}

unusable_mode() {
    foreign_file 0600
    unusable 'cannot open /dev/gba0: Permission denied' \
        'Set its group to gba and its mode \(now 0600\) to 0660, or see gba_info\(1\), "Permissions"$'
}

unusable_group() {
    foreign_file 0660
    unusable 'cannot open /dev/gba0: Permission denied' \
        'Add the user to group [^ ]*, or see gba_info\(1\), "Permissions"$'
}

unusable_file() {
    with_dev 'echo something >gba0'
    unusable '/dev/gba0 is not a GBA: it is not a character device' \
        'Set device_path to the file of a GBA, or to "none"$'
}

unusable_device() {
    with_dev ': >gba0 && mount --bind /dev/null gba0'
    unusable "/dev/gba0 is not a GBA: another driver serves this file" \
        'Set device_path to the file of a GBA, or to "none"$'
}

unusable_abi() {
    with_dev ': >gba0 && mount --bind /dev/null gba0'
    export LD_PRELOAD=$programs/.libs/hosts_preload.so GBA_TEST_ABI=99
    unusable '/dev/gba0 has driver interface 99 and registers 2\.0; this library needs driver interface [0-9]+ and registers 2\.x' \
        'Install the driver and libgba of the same release$'
}

# A file that no driver serves.
unusable_stale() {
    rm -f "$work/file"
    if [ "$(id -u)" -ne 0 ] || ! mknod "$work/file" c 240 77 2>/dev/null; then
        skip 'this user may not make device files'
    fi
    chmod 666 "$work/file"
    "$programs/../../gba/tools/gba_info" "$work/file" 2>&1 | grep -q 'no driver serves' ||
        skip 'this file system has no device files'
    with_dev ": >gba0 && mount --bind $work/file gba0"
    unusable 'cannot open /dev/gba0: No such device or address \(no driver serves this file\)' \
        'Load the GBA driver, or remove the file$'
}

# No file, or a dangling link: there is no device, and nothing to report.
absent() {
    limit 60
    with_dev "$1"
    job --mca btl tcp,self -np 3 -- early_exit 20
    lines 0 gba
}

# One rank alone may not use the device: that rank has the cause, and prints the line.
unusable_one() {
    local options
    limit 60
    with_dev 'echo something >gba0'
    selection=() # see differs
    only_rank 2 OMPI_MCA_coll_gba_barrier_device_path=/dev/gba0
    job --mca btl tcp,self --mca coll_gba_barrier_device_path sim -np 4 -- early_exit 20
    lines 1 'coll gba_barrier:'
    lines 1 'MPI_COMM_WORLD .*rank 2 .*although device_path is "/dev/gba0" \(/dev/gba0 is not a GBA: '
    only_rank 2 OMPI_MCA_coll_gba_barrier_device_path
    job --mca btl tcp,self -x OMPI_MCA_coll_gba_barrier_device_path=sim -np 4 -- early_exit 20
    lines 1 '/dev/gba0 is not a GBA: .*; barriers use software'
    lines 1 'MPI_COMM_WORLD .*rank 2 .*although device_path is "sim"'
}

# OPTIONS LINES: 40 communicators of 3 ranks, some without a group; LINES lines at verbose 0.
no_group_alerts() {
    limit 60
    job --mca btl tcp,self --mca coll_gba_barrier_device_path "$1" -np 3 -- groups "${@:3}"
    lines "$2" 'coll gba_barrier:'
    lines "$2" 'no barrier group is free .*although device_path is'
}

# Pairs without a communicator of all ranks: the 32 communicators with a group are not those that would
# report.
no_group_pairs() {
    limit 60
    job --mca btl tcp,self --mca coll_gba_barrier_device_path "$1" -np 10 -- alerts pairs
    lines "$2" 'coll gba_barrier:'
}

# A program that leaves lines unfinished on both streams.
own_line() {
    limit 60
    job "$@" -np 2 -- alerts partial
    lines 1 '^\[[^]]*\] coll gba_barrier: '
    lines 0 '[^]] coll gba_barrier'
}

all_unusable() {
    test_cases unusable-mode unusable-group unusable-file unusable-device unusable-abi unusable-stale \
        unusable-one unusable-once
    test_case absent-file absent :
    test_case absent-link absent 'ln -s no-such-file gba0'
    test_case alerts-later no_group_alerts 'sim' 0
    test_case alerts-few no_group_alerts 'sim?groups=1' 0
    test_case alerts-full no_group_alerts 'sim?full=1' 1
    test_case alerts-pairs no_group_pairs 'sim?groups=1' 0
    test_case alerts-pairs-full no_group_pairs 'sim?full=1' 1
    test_case alerts-own-line own_line --mca coll_gba_barrier_device_path /no-such-gba
    test_case alerts-own-line-parameter own_line --mca coll_gba_barrier_min_comm_size 0
    test_case alerts-own-line-death own_line --mca coll_gba_barrier_device_path 'sim?die_after=1'
}
