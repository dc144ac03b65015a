# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of communicators whose hosts have several devices: a group for each switch domain, messages
# between the domain leaders. The hosts are pretended (hosts_preload.c); the devices are dealt out to
# them in turn. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# HOSTS: the expectation of groups for domains.
domains_text() {
    echo " | 1+/coll gba_barrier: .*sim: groups among the leaders of $1 hosts, dissemination \\(v1\\) among [23] switch domains/"
}

all_domains() {
    local right ranks mode program text device
    text=$(domains_text 4)
    right="took errors=0 software=0$text"
    for program in 'early_exit 100' 'many 5000' 'ibarrier 1 8' threads; do
        rows <<<"domains-${program%% *}-@ | 4 7 16 | sim hosts=4 devices=-,- | $program | $right"
    done
    rows <<END
domains-kinds-@ | 4 7 16 | sim hosts=4 devices=-,- | kinds | took errors=0 $text
domains-sequence-32-@ | 4 7 16 | sim hosts=4 devices=-,- first_sequence=$((0xffffff00)) | many 5000 | $right
domains-three | 9 | sim hosts=5 devices=-,-,- | early_exit 100 | took errors=0 software=0$(domains_text 5)
domains-resent | 7 | sim hosts=4 devices=?lose_arrival=5,?lose_release=7 | early_exit 30 | took$text
# Two domains would be one host each, so a device has nothing to do.
domains-of-one | 5 | sim hosts=2 devices=-,- | early_exit 60 | sim=0 software>0
  | /MPI_COMM_WORLD .*software: dissemination \(v1\) among the leaders of 2 hosts.*no device: .* different devices/
END
    # One device dies in the sixth barrier, and all ranks continue, also those of the other domain. A rank that has
    # left that barrier joins no collective call. Two rounds make a barrier: the device dies in the second round, when
    # one rank has its release; in the first round, when one rank has its release; and when no rank has. All barriers
    # are counted: those of the devices, and the fatal one. If no rank is released, all may have the path of the next
    # barrier in common at the end of the fatal one, or one later.
    for mode in 2 3 4; do
        right="death $mode 5 | sim=6$text"
        [ "$mode" -ne 2 ] || right="death 2 5 | sim=7 software=19 | $died$text"
        rows <<END
domains-death-released-$mode | 7 | sim hosts=4 devices=?die_after=11&die_release=1,- retry_after=5 | $right
domains-death-gathered-$mode | 7 | sim hosts=4 devices=-,?die_after=10&die_release=1 retry_after=5 | $right
domains-death-gathering-$mode | 7 | sim hosts=4 devices=?die_after=10,- retry_after=5 | ${right/sim=7 software=19/sim>5 software>18}
END
    done
    for ranks in 4 7; do
        test_case "domains-death-random-$ranks" soaked domains "$ranks" "$(soak 8 100)" "${GBA_TEST_SEED:-1}" 20
    done
    all_devices
}

# Several devices on one host: all members of a communicator use one switch, whatever device each rank has chosen.
all_devices() {
    local a=sim:devices-%-a b=sim:devices-%-b own='rank=2|3:OMPI_MCA_coll_gba_barrier_device_list' group near full
    group='software=0 | /MPI_COMM_WORLD .*sim: group [0-9]+ of 32, 4 members/'
    local dead=' | 1+/from barrier .* the device stopped answering/'
    local dying="default quiet verbose=2 device_list=$a?die_after=30,$b device_map=$a?die_after=30:1 retry_after=5"
    local other='.*sim: group [0-9]+ of 32, .*; not at sim:devices-[0-9]+-a\?die_after=30 \(the device stopped answering\)/'
    near='process [01] chooses device sim:devices-[0-9]+-a: the nearest \(PIX\), 2 of 4 processes'
    full='process [23] chooses device sim:devices-[0-9]+-b: one of the 2 nearest \(PIX\), 2 of 4 processes'
    rows <<END
devices-one-list | 4 | device_list=$a,$b | early_exit 60 | $group
devices-other-switch | 4 | device_list=$a,$b $own=$b | early_exit 60 | $group
devices-apart | 4 | device_list=$a,sim:devices-%-c $own=$b,sim:devices-%-d | early_exit 60 | sim=0
  | /MPI_COMM_WORLD .*software: .*no device: .* different devices \(rank 2 on .*although device_list is "sim:devices/
# Ranks 0 and 1 are near the first device, the others to both. The others choose the second one, because each rank has
# the distances of all.
devices-balanced | 4 | quiet verbose=2 device_list=$a,$b GBA_TEST_NEAR=2 preload=hosts_preload | early_exit 60
  | $group | 2/$near/ | 2/$full/
devices-mapped | 4 | quiet verbose=2 device_list=$a,$b device_map=$b:3,$a:1 | early_exit 60 | $group
  | 3/process [012] chooses device sim:devices-[0-9]+-b: device_map/
  | 1/process 3 chooses device sim:devices-[0-9]+-a: device_map/
# The device that all ranks choose cannot be opened.
devices-replaced | 4 | device_list=/dev/null,$a device_map=/dev/null:1 | early_exit 60 | $group
  | //dev/null is not a GBA: .*; its processes use sim:devices-[0-9]+-a/
# Rank 2 cannot receive failure notifications, so it joins no group on either of its devices.
devices-unnotified | 4 | device_list=$a,$b GBA_TEST_UNNOTIFIED=2 preload=hosts_preload | early_exit 60
  | /MPI_COMM_WORLD .*software: .*no device: out of memory \(rank 2 on /
# More communicators than one device has groups: the later ones use the second device.
devices-exhausted | 4 | device_list=$a,$b | groups 36 2 | software=0 errors=0 | 0/early .*no device/
  | 1+/early 35 .*sim: group [0-9]+ of 32, 4 members; not at sim:devices-[0-9]+-a \(no barrier group is free\)/
# Rank 0 has no group for the team on its first device, and the other hosts have the second one only.
devices-full | 4 | device_list=$a?full=1,$b $own=$b | early_exit 60 | $group
  | /MPI_COMM_WORLD .*; not at sim:devices-[0-9]+-a\?full=1 \(this member and .* rank 2 on /
devices-all-full | 4 | device_list=$a?full=1,$b?full=1 | early_exit 60 | sim=0
  | /MPI_COMM_WORLD .*software: .*no device: no barrier group is free \(rank 0 .*\); not at sim:[^ ]*-a\?full=1 \(no barrier group is free\), sim:[^ ]*-b\?full=1 \(/
# An explicit device_path replaces device_list.
devices-path | 4 | none quiet verbose=2 device_list=$a,$b | early_exit 60 | sim=0 | 0/chooses device/
# The device of all ranks dies, and the communicators continue on the other one.
devices-death | 4 | $dying | death 1 200 $dead | 1+/MPI_COMM_WORLD $other
devices-death-nonblocking | 4 | $dying | death 9 400 $dead | 1+/MPI_COMM_WORLD $other
devices-death-comms | 4 | $dying | death 6 6 $dead | 1+/$other
END
}
