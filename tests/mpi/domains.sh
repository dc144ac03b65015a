# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of communicators whose hosts have several devices: a group for each switch domain, messages
# between the domain leaders. The hosts are pretended (hosts_preload.c); the devices are dealt out to
# them in turn. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# HOSTS RANKS "DEVICE..." PROGRAM [ARGUMENT...]: DEVICE is the options of a device, or "-" for none: "-
# ?die_after=3".
on_domains() {
    local hosts=$1 ranks=$2 devices='' device
    limit 120
    for device in $3; do
        # Named after this run, because a simulated device serves all jobs of the user that name it.
        devices="$devices${devices:+ }sim:domains-$BASHPID-${#devices}${device#-}"
    done
    shift 3
    path_options sim
    job "${path[@]}" -x GBA_TEST_HOSTS="$hosts" -x GBA_TEST_DEVICES="$devices" \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" "${domains_options[@]}" -np "$ranks" -- "$@"
    lines 0 '^FAIL'
    grep -qE "coll gba_barrier: .*sim: groups among the leaders of $hosts hosts, dissemination \(v1\) among [23] switch domains" \
        "$out" || fail 'no groups for domains'
}
domains_options=()

domains_right() {
    on_domains "$@"
    took sim
    total_is errors -eq 0
    [ "$4" = kinds ] || total_is software -eq 0
}

domains_sequence() { # HOSTS RANKS SEQUENCE
    domains_options=(--mca coll_gba_barrier_first_sequence "$3")
    domains_right "$1" "$2" '- -' many 5000
}

domains_resent() {
    on_domains "$1" "$2" '?lose_arrival=5 ?lose_release=7' early_exit 30
    took sim
}

# MODE DEVICES: one device dies in the sixth barrier, and all ranks continue, also those of the other
# domain. A rank that has left that barrier joins no collective call.
domains_death() {
    domains_options=(--mca coll_gba_barrier_retry_after 5)
    on_domains 4 7 "$2" death "$1" 5
    # All barriers are counted: those of the devices, and the fatal one.
    case $1 in
    2)
        lines 1 'MPI_COMM_WORLD .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on '
        total_is sim -eq 7
        total_is software -eq 19
        ;;
    *) total_is sim -eq 6 ;;
    esac
}

# RANKS JOBS SEED: JOBS deaths of one of two devices at random points.
domains_deaths() {
    local ranks=$1 jobs=$2 option mode devices i
    limit 60
    RANDOM=$3
    for ((i = 0; i < jobs; i++)); do
        case $((RANDOM % 4)) in
        0) option="?die_arrival=$((1 + RANDOM % 40))" ;;
        1) option="?die_after=$((1 + RANDOM % 16))" ;;
        2) option="?die_after=$((RANDOM % 16))&die_release=$((1 + RANDOM % 2))" ;;
        3) option="?die_after=$((RANDOM % 16))&die_release=1&latency=200us&jitter=2ms" ;;
        esac
        case $((RANDOM % 4)) in
        0) mode='1 25' ;;
        1) mode='5 8' ;;
        2) mode='6 6' ;;
        3) mode='9 40' ;;
        esac
        devices="$option -"
        [ $((RANDOM % 2)) -eq 0 ] || devices="- $option"
        # The program gets the seed as well, so that a failed job can be repeated.
        domains_options=(--mca coll_gba_barrier_retry_after 1 -x GBA_TEST_SEED="$RANDOM")
        # shellcheck disable=SC2086 # two words
        on_domains 4 "$ranks" "$devices" death $mode
        grep -q 'stopped answering' "$out" || fail 'the device did not die'
    done
}

# RANKS SEED: a job that once made only nonblocking barriers on each communicator, so nothing was agreed
# on.
domains_death_seed() {
    domains_options=(--mca coll_gba_barrier_retry_after 1 -x GBA_TEST_SEED="$2")
    on_domains 4 "$1" '?die_after=6 -' death 6 6
    grep -q 'stopped answering' "$out" || fail 'the device did not die'
}

# Two domains would be one host each, so a device has nothing to do.
domains_of_one() {
    limit 60
    path_options sim
    job "${path[@]}" -x GBA_TEST_HOSTS=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so" \
        -x GBA_TEST_DEVICES="sim:domains-$BASHPID-0 sim:domains-$BASHPID-1" -np 5 -- early_exit 60
    took none
    lines 1 'MPI_COMM_WORLD .*software: dissemination \(v1\) among the leaders of 2 hosts.*no device: .* different devices'
}

# Several devices on one host: all members of a communicator use one switch, whatever device each rank
# has chosen.
devices_list() { # RUN LIST: the names of the devices of this run
    local name list=
    for name in $2; do
        case $name in /*) ;; *) name=sim:devices-$1-$name ;; esac
        list="$list${list:+,}$name"
    done
    echo "$list"
}

# FIRST SECOND: the devices of ranks 0 and 1, and those of ranks 2 and 3.
devices_job() {
    local run=$BASHPID # not that of the subshells below
    limit 60
    job --mca coll_gba_barrier_verbose 2 "${devices_options[@]}" -np 2 "${devices_env[@]}" \
        -x OMPI_MCA_coll_gba_barrier_device_list="$(devices_list "$run" "$1")" \
        "$programs/${devices_program[0]}" "${devices_program[@]:1}" : -np 2 "${devices_env[@]}" \
        -x OMPI_MCA_coll_gba_barrier_device_list="$(devices_list "$run" "$2")" -- "${devices_program[@]}"
    lines 0 '^FAIL'
}
devices_options=()
devices_env=()
devices_program=(early_exit 60)

# FIRST SECOND
devices_steered() {
    devices_job "$1" "$2"
    lines 1 'MPI_COMM_WORLD .*sim: group [0-9]+ of 32, 4 members'
    total_is software -eq 0
}

devices_apart() {
    devices_job 'a c' 'b d'
    lines 1 'MPI_COMM_WORLD .*software: .*no device: .* different devices \(rank 2 on .*although device_list is "sim:devices'
    total_is sim -eq 0
}

# Ranks 0 and 1 are near the first device, the others to both. The others choose the second one, because
# each rank has the distances of all.
devices_balanced() {
    devices_env=(-x GBA_TEST_NEAR=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    devices_steered 'a b' 'a b'
    lines 2 'process [01] chooses device sim:devices-[0-9]+-a: the nearest \(PIX\), 2 of 4 processes'
    lines 2 'process [23] chooses device sim:devices-[0-9]+-b: one of the 2 nearest \(PIX\), 2 of 4 processes'
}

devices_mapped() {
    local run=$BASHPID
    devices_options=(--mca coll_gba_barrier_device_map "$(devices_list "$run" b):3,$(devices_list "$run" a):1")
    devices_steered 'a b' 'a b'
    lines 3 'process [012] chooses device sim:devices-[0-9]+-b: device_map'
    lines 1 'process 3 chooses device sim:devices-[0-9]+-a: device_map'
}

# The device that all ranks choose cannot be opened.
devices_replaced() {
    devices_options=(--mca coll_gba_barrier_device_map /dev/null:1)
    devices_steered '/dev/null a' '/dev/null a'
    lines 1 '/dev/null is not a GBA: .*; its processes use sim:devices-[0-9]+-a'
}

# Rank 2 cannot receive failure notifications, so it joins no group on either of its devices.
devices_unnotified() {
    devices_env=(-x GBA_TEST_UNNOTIFIED=2 -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
    devices_job 'a b' 'a b'
    lines 1 'MPI_COMM_WORLD .*software: .*no device: out of memory \(rank 2 on '
}

# More communicators than one device has groups: the later ones use the second device.
devices_exhausted() {
    devices_program=(groups 36 2)
    devices_job 'a b' 'a b'
    total_is software -eq 0
    lines 0 'early .*no device'
    grep -qE 'early 35 .*sim: group [0-9]+ of 32, 4 members; not at sim:devices-[0-9]+-a \(no barrier group is free\)' "$out" ||
        fail 'no communicator took a group of the second device'
    total_is errors -eq 0
}

# Rank 0 has no group for the team on its first device, and the other hosts have the second one only.
devices_full() {
    devices_steered 'a?full=1 b' b
    lines 1 'MPI_COMM_WORLD .*; not at sim:devices-[0-9]+-a\?full=1 \(this member and .* rank 2 on '
}

devices_all_full() {
    devices_job 'a?full=1 b?full=1' 'a?full=1 b?full=1'
    lines 1 'MPI_COMM_WORLD .*software: .*no device: no barrier group is free \(rank 0 .*\); not at sim:[^ ]*-a\?full=1 \(no barrier group is free\), sim:[^ ]*-b\?full=1 \('
    total_is sim -eq 0
}

# MODE ROUNDS: the device of all ranks dies, and the communicators continue on the other one.
devices_death() {
    devices_program=(death "$1" "$2")
    devices_options=(--mca coll_gba_barrier_retry_after 5 --mca coll_gba_barrier_device_map
        "$(devices_list "$BASHPID" 'a?die_after=30'):1")
    devices_job 'a?die_after=30 b' 'a?die_after=30 b'
    grep -q 'from barrier .* the device stopped answering' "$out" || fail 'the device did not die'
    grep -qE "$3 .*sim: group [0-9]+ of 32, .*; not at sim:devices-[0-9]+-a\?die_after=30 \(the device stopped answering\)" "$out" ||
        fail 'no communicator took a group of the other device'
}

# An explicit device_path replaces device_list.
devices_path() {
    devices_options=(--mca coll_gba_barrier_device_path none)
    devices_job 'a b' 'a b'
    lines 0 'chooses device'
    total_is sim -eq 0
}

all_domains() {
    local ranks program mode
    for ranks in 4 7 16; do
        for program in 'early_exit 100' 'many 5000' kinds ibarrier threads outstanding; do
            # shellcheck disable=SC2086 # a program with its argument
            test_case "domains-${program%% *}-$ranks" domains_right 4 "$ranks" '- -' $program
        done
        test_case "domains-sequence-32-$ranks" domains_sequence 4 "$ranks" $((0xffffff00))
    done
    test_case domains-three domains_right 5 9 '- - -' early_exit 100
    test_case domains-resent domains_resent 4 7
    # Two rounds make a barrier. The device dies in the second round of the sixth barrier, when one rank
    # has its release; in its first round, when one rank has its release; and when no rank has.
    for mode in 2 3 4; do
        test_case "domains-death-released-$mode" domains_death "$mode" '?die_after=11&die_release=1 -'
        test_case "domains-death-gathered-$mode" domains_death "$mode" '- ?die_after=10&die_release=1'
        test_case "domains-death-gathering-$mode" domains_death "$mode" '?die_after=10 -'
    done
    for ranks in 4 7; do
        test_case "domains-death-random-$ranks" domains_deaths "$ranks" "$(soak 8 100)" \
            "${GBA_TEST_SEED:-1}"
    done
    test_case domains-death-seed-109 domains_death_seed 7 109
    test_case domains-death-seed-522 domains_death_seed 4 522
    test_cases domains-of-one devices-apart devices-balanced devices-mapped devices-replaced \
        devices-unnotified devices-exhausted devices-full devices-all-full devices-path
    test_case devices-one-list devices_steered 'a b' 'a b'
    test_case devices-other-switch devices_steered 'a b' b
    test_case devices-death devices_death 1 200 MPI_COMM_WORLD
    test_case devices-death-nonblocking devices_death 9 400 MPI_COMM_WORLD
    test_case devices-death-comms devices_death 6 6 ''
}

# For tests/mpi/hosts: emulated hosts with a simulated device each; the ranks of each pretend to be two
# hosts.
spans_domains() {
    ranks_on 2
    limit 120
    job --mca coll_gba_barrier_device_path sim --map-by slot -x GBA_TEST_HOSTS="$ranks" \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" "$@"
    lines 0 '^FAIL'
    lines 1 "MPI_COMM_WORLD .*sim: groups among the leaders of $ranks hosts, dissemination \(v1\) among ${#host_names[@]} switch domains"
    total_is sim -gt 0
    total_is errors -eq 0
}

