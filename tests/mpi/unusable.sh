# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of a device that exists and fails to open, and of lines that appear without a request. run
# sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# COMMAND: the jobs of this case have their own /dev, in which this shell command creates gba0.
with_dev() {
    local status=0
    around=("$top/tests/own_dev" "$1")
    "${around[@]}" true || status=$?
    [ "$status" -ne 77 ] || skip 'this system does not permit namespaces'
}

# MODE: a file of another user. In those namespaces root has no rights to it.
foreign_file() {
    [ "$(id -u)" -eq 0 ] || skip 'only root can make a file of another user'
    : >"$work/file"
    chmod "$1" "$work/file"
    chown 65534:65534 "$work/file"
}

# A file that no driver serves.
stale_file() {
    if [ "$(id -u)" -ne 0 ] || ! mknod "$work/file" c 240 77 2>/dev/null; then
        skip 'this user may not make device files'
    fi
    chmod 666 "$work/file"
    "$build/gba/tools/gba_info" "$work/file" 2>&1 | grep -q 'no driver serves' ||
        skip 'this file system has no device files'
}

# COMMAND CAUSE ADVICE [COMMAND_BEFORE...]: one line has both, whether the user set the path or not; the job continues.
# At verbose 1 the line of each communicator has the cause, too.
unusable() {
    "${@:4}"
    with_dev "${1//WORK/$work}"
    row_job "+ | 4 | quiet tcp | early_exit 20 | only/$2; barriers use software\. $3/"
    row_job "+ | 4 | quiet tcp /dev/gba0 | groups | only/although device_path is \"/dev/gba0\" \($2\)\. $3/"
    row_job "+ | 4 | tcp | early_exit 20 | /$2; barriers use software/ | /MPI_COMM_WORLD .*no device.*\($2\)/"
}

# COMMAND ROW...: these jobs, while the device is what COMMAND makes.
dev_jobs() {
    local row
    with_dev "$1"
    for row in "${@:2}"; do
        row_job "$row"
    done
}

# One rank alone may not use the device: that rank has the cause, and prints the line.
unusable_one() {
    with_dev 'echo something >gba0'
    row_job '+ | 4 | quiet free sim tcp rank=2:OMPI_MCA_coll_gba_barrier_device_path=/dev/gba0 | early_exit 20 | /coll gba_barrier:/ | /MPI_COMM_WORLD .*rank 2 .*although device_path is "/dev/gba0" \(/dev/gba0 is not a GBA: /'
    row_job '+ | 4 | quiet free tcp OMPI_MCA_coll_gba_barrier_device_path=sim rank=2:OMPI_MCA_coll_gba_barrier_device_path | early_exit 20 | //dev/gba0 is not a GBA: .*; barriers use software/ | /MPI_COMM_WORLD .*rank 2 .*although device_path is "sim"/'
}

all_unusable() {
    local bound=': >gba0 && mount --bind WORK/file gba0' null=': >gba0 && mount --bind /dev/null gba0'
    local none='Set device_path to the file of a GBA, or to "none"$' once
    test_case unusable-mode unusable "$bound" 'cannot open /dev/gba0: Permission denied' \
        'Set its group to gba and its mode \(now 0600\) to 0660, or see gba_info\(1\), "Permissions"$' foreign_file 0600
    test_case unusable-group unusable "$bound" 'cannot open /dev/gba0: Permission denied' \
        'Add the user to group [^ ]*, or see gba_info\(1\), "Permissions"$' foreign_file 0660
    test_case unusable-file unusable 'echo something >gba0' '/dev/gba0 is not a GBA: it is not a character device' "$none"
    test_case unusable-device unusable "$null" '/dev/gba0 is not a GBA: another driver serves this file' "$none"
    test_case unusable-abi unusable "$null" \
        '/dev/gba0 has driver interface 99 and registers 3\.0; this library needs driver interface [0-9]+ and registers 3\.x' \
        'Install the driver and libgba of the same release$' \
        export "LD_PRELOAD=$programs/.libs/hosts_preload.so" GBA_TEST_ABI=99
    test_case unusable-stale unusable "$bound" \
        'cannot open /dev/gba0: No such device or address \(no driver serves this file\)' \
        'Load the GBA driver, or remove the file$' stale_file
    test_case unusable-one unusable_one
    # Forty communicators, nonblocking barriers, parts of the job: the same line, once. No line without
    # barriers, or with device_path none.
    once=' | only//dev/gba0 is not a GBA: .*; barriers use software/'
    test_case unusable-once dev_jobs 'echo something >gba0' "+ | 4 | quiet tcp | groups$once" \
        "+ | 4 | quiet tcp | ibarrier 1$once" "+ | 4 | quiet tcp | kinds$once" "+ | 4 | quiet tcp | alerts pairs$once" \
        '+ | 1 | quiet tcp | early_exit 20 | 0/gba_barrier:/' '+ | 4 | quiet none tcp | early_exit 20 | 0/gba_barrier:/'
    # No file, or a dangling link: there is no device, and nothing to report.
    test_case absent-file dev_jobs : '+ | 3 | quiet tcp | early_exit 20 | 0/gba/'
    test_case absent-link dev_jobs 'ln -s no-such-file gba0' '+ | 3 | quiet tcp | early_exit 20 | 0/gba/'
    rows <<'END'
# 40 communicators of 3 ranks, some without a group. Then pairs without a communicator of all ranks: the 32
# communicators with a group are not those that would report.
alerts-later | 3 | quiet sim tcp | groups | 0/coll gba_barrier:/
alerts-few | 3 | quiet sim?groups=1 tcp | groups | 0/coll gba_barrier:/
alerts-full | 3 | quiet sim?full=1 tcp | groups | /coll gba_barrier:/ | /no barrier group is free .*although device_path is/
alerts-pairs | 10 | quiet sim?groups=1 tcp | alerts pairs | 0/coll gba_barrier:/
alerts-pairs-full | 10 | quiet sim?full=1 tcp | alerts pairs | /coll gba_barrier:/
# A program that leaves lines unfinished on both streams.
alerts-own-line | 2 | quiet /no-such-gba | alerts partial | /^\[[^]]*\] coll gba_barrier: / | 0/[^]] coll gba_barrier/
alerts-own-line-parameter | 2 | quiet min_comm_size=0 | alerts partial | /^\[[^]]*\] coll gba_barrier: /
  | 0/[^]] coll gba_barrier/
alerts-own-line-death | 2 | quiet sim?die_after=1 | alerts partial | /^\[[^]]*\] coll gba_barrier: /
  | 0/[^]] coll gba_barrier/
END
}
