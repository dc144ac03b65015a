# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Injected faults: faults of the device, ranks that differ, invalid input. Every case checks what the user
# reads: one line, and the job continues. run sources this file, after stalls.sh.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# OPTIONS KEY...: with these options of the simulator all barriers are right, and these totals are not
# 0, of rank 0 and of another rank.
faulty() {
    local options=$1 key
    shift
    limit 120
    path_options "sim?$options"
    job "${path[@]}" -np 4 -- early_exit 100
    took sim
    total_is errors -eq 0
    for key in "$@"; do
        total_is "$key" -gt 0
        grep -qE "totals of rank [1-3]: .* $key [1-9]" "$out" || fail "no other rank shows its $key"
    done
}

# OPTIONS REASON: none of 4 communicators gets a group, for that reason.
refused() {
    limit 60
    job --mca coll_gba_barrier_device_path "sim?$1" -np 4 -- kinds
    one_line "$2"
}

# refuse_rank=3: the communicators that have no rank 3 get their groups.
refused_rank() {
    limit 60
    path_options 'sim?refuse_rank=3'
    job "${path[@]}" -np 4 -- kinds
    took sim
    lines 1 'MPI_COMM_WORLD .*(fallback|software): .*rank 3 .*although device_path is'
    lines 0 '4 ranks\): sim'
}

few_groups() {
    limit 60
    path_options 'sim?groups=2'
    job "${path[@]}" -np 4 -- groups 10 4
    lines 2 'early [0-9]+ .*sim: group [01] of 2'
    lines 8 'early [0-9]+ .*no barrier group is free'
    lines 2 'again [0-9]+ .*sim: group [01] of 2'
}

# The device dies after so many rounds; the only visible effect is one line.
death() {
    limit 60
    job --mca coll_gba_barrier_device_path "sim?die_after=$1" -np "$2" -- early_exit
    one_line 'stopped answering|died'
    path_options "sim?die_after=$1"
    job "${path[@]}" -np "$2" -- early_exit
    total_is failovers -gt 0
    # The round in which the device died, one that begins without it, and nonblocking ones in between.
    total_is sim -gt "$1"
    total_is sim -le $(($1 + 4))
    [ $(($(total software) + $(total fallback))) -gt 0 ] || fail 'nothing after the device'
}

# ROUNDS RANKS SOFTWARE: the device dies under nonblocking barriers with a blocking one queued behind
# them. Later barriers are software barriers, or (0) Open MPI's own.
idie() {
    limit 60
    path_options "sim?die_after=$1"
    job "${path[@]}" --mca coll_gba_barrier_sw_enable "$3" -np "$2" -- ibarrier 6
    total_is failovers -eq 1
    # And the barriers that begin before the agreement at the end of a blocking one.
    total_is sim -gt "$1"
    [ $(($(total software) + $(total fallback) + $(total sim))) -eq 111 ] || fail 'a round is lost'
}

# MODE RANKS: only rank 0 sees the end of the fatal round, and then joins no collective call.
death_left() {
    limit 60
    path_options 'sim?die_after=5&die_release=1'
    job "${path[@]}" --mca coll_gba_barrier_retry_after 5 -np "$2" -- death "$1" 5
    lines 0 '^FAIL'
    # All its rounds are counted: those of the device, and the fatal one.
    case $1 in
    2)
        lines 1 'MPI_COMM_WORLD .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on '
        total_is sim -eq 7
        total_is software -eq 19
        ;;
    *) total_is sim -eq 6 ;;
    esac
}

# MODE RANKS: rank 0 is the last to enter the fatal round, and the other ranks wait for its
# notifications.
death_last() {
    limit 60
    path_options "sim?die_arrival=$((5 * $2 + 1))"
    job "${path[@]}" -np "$2" -- death "$1" 5
    lines 0 '^FAIL'
    lines 1 'MPI_COMM_WORLD .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on '
}

# MODE RANKS: rank 0 leaves the fatal round only when its notifications are out.
death_queued() {
    limit 60
    path_options 'sim?die_after=5'
    job "${path[@]}" --mca btl tcp,self --mca coll_gba_barrier_retry_after 1 -np "$2" -- death "$1" 5
    lines 0 '^FAIL'
    lines 1 'MPI_COMM_WORLD .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on '
}

# Notifications are not out while the service hands them to the PML.
death_posted() {
    limit 60
    job -np 1 -- posted
    lines 1 '^posted: right$'
}

# MPI_Finalize does not wait for all ranks, so a rank that has left the fatal round could not answer: no
# device.
death_async() {
    limit 60
    path_options 'sim?die_after=10&die_release=1'
    job "${path[@]}" --mca async_mpi_finalize 1 -np 3 -- death 4 10
    total_is sim -eq 0
    total_is software -eq 11
    lines 1 'MPI_COMM_WORLD .*software: .*no device: async_mpi_finalize is set, although device_path is'
}

# RANKS: nonblocking barriers only; the ranks agree on another path in one of them, on a software barrier
# and on messages in the place of Open MPI's own.
death_nonblocking() {
    local kind rounds=2000
    limit 60
    path_options 'sim?die_after=20'
    for kind in software fallback; do
        job "${path[@]}" --mca coll_gba_barrier_retry_after 1 -np "$1" -- death 9 "$rounds"
        lines 0 '^FAIL'
        lines 1 "MPI_COMM_WORLD .*$kind: .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \\(rank [0-9]+ on "
        total_is failovers -eq 1
        # The rounds of the device, and the few that failure notifications completed.
        total_is sim -le 24
        [ $(($(total sim) + $(total "$kind"))) -eq $((rounds + 2)) ] || fail 'a round is lost'
        path+=(--mca coll_gba_barrier_sw_enable 0)
        rounds=500
    done
}

# An agreement in the progress of another communicator's barrier, which does not yield while it tests, takes
# the path for ranks that share cores, as mpi_yield_when_idle says, also if there is a core for each.
death_meanwhile() {
    limit 60
    path_options 'sim?groups=1&die_after=5'
    job "${path[@]}" --mca coll_gba_barrier_retry_after 1 --mca coll_gba_barrier_agree_after 0 -np 2 -- death 12 50
    lines 0 '^FAIL'
    lines 1 'software: counter in shared memory, 2 members on one host, from barrier [0-9]+ on; the device stopped'
}

# OPTIONS RANKS: the device dies in the last round, and no notification is left to a PML that reports
# it.
death_swept() {
    limit 60
    "$ompi_info" --parsable 2>/dev/null | grep -q '^mca:pml:ucx:' || skip 'this Open MPI has no pml ucx'
    path_options "sim?$1"
    job "${path[@]}" --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any -np "$2" -- death 4 5
    lines 0 '^FAIL'
    lines 0 'unexpected tag'
}

# RANKS DEATHS SEED [HOSTS]: DEATHS deaths at random points, in all modes that allow any point. HOSTS:
# with groups among the leaders of at most so many pretended hosts.
deaths() {
    local ranks=$1 deaths=$2 hosts=${4-0} options mode arrivers=$1 jobs died=0 among=()
    limit 60
    RANDOM=$3
    for ((jobs = 0; died < deaths; jobs++)); do
        # Some deaths come after the last barrier, or in it. No rank then needs another path, and
        # nothing is reported. They do not count.
        [ "$jobs" -lt $((3 * deaths)) ] || fail "the device died in $died of $jobs jobs only"
        if [ "$hosts" -gt 0 ]; then
            arrivers=$((1 + RANDOM % (hosts < ranks ? hosts : ranks)))
            among=(--mca coll_gba_barrier_hierarchy node -x GBA_TEST_HOSTS="$arrivers"
                -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
        fi
        case $((RANDOM % 5)) in
        0) options="die_arrival=$((1 + RANDOM % (20 * arrivers)))" ;;
        # In an agreement, or as a communicator is freed.
        4) options="die_call=$((1 + RANDOM % (3 * arrivers + 2)))" ;;
        1) options="die_after=$((1 + RANDOM % 15))" ;;
        2) options="die_after=$((RANDOM % 15))&die_release=$((1 + RANDOM % arrivers))" ;;
        # Some of these releases are still in transit when the device dies.
        3) options="die_after=$((RANDOM % 15))&die_release=$((1 + RANDOM % arrivers))&latency=200us&jitter=2ms" ;;
        esac
        case $((RANDOM % 4)) in
        0) mode='1 25' ;;
        1) mode='5 4' ;;
        2) mode='6 3' ;;
        3) mode='9 40' ;;
        esac
        path_options "sim?$options&seed=$RANDOM"
        # shellcheck disable=SC2086 # two words
        job "${path[@]}" --mca coll_gba_barrier_retry_after 1 -x GBA_TEST_SEED="$RANDOM" \
            "${among[@]}" -np "$ranks" -- death $mode
        lines 0 '^FAIL'
        ! grep -q 'stopped answering' "$out" || died=$((died + 1))
    done
    echo "$died deaths in $jobs jobs"
}

# RANK NAME=VALUE...: that rank has these settings. NAME alone: the rank lacks that setting.
only_rank() {
    local rank=$1 assignment
    shift
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016
        echo "if [ \"\${OMPI_COMM_WORLD_RANK-\$PMIX_RANK}\" = $rank ]; then"
        for assignment in "$@"; do
            case $assignment in
            *=*) echo "export '$assignment'" ;;
            *) echo "unset '$assignment'" ;;
            esac
        done
        # shellcheck disable=SC2016
        echo 'fi; exec "$@"'
    } >"$work/wrapper"
    chmod +x "$work/wrapper"
    wrapper=("$work/wrapper")
}

# REASON RANK NAME=VALUE...: that rank differs; all ranks take the fallback, for that reason.
differs() {
    local reason=$1
    shift
    limit 60
    only_rank "$@"
    # Not exclusive: a rank without the plugin could not start at all.
    selection=()
    job --mca coll_gba_barrier_device_path sim -np 4 -- early_exit
    one_line "$reason"
}

# OPTION...: a rank lacks the plugin, under this selection. Open MPI ends the job if a list names it.
lacks_named() {
    limit 60
    only_rank 1 OMPI_MCA_mca_base_component_path
    selection=("$@")
    case "$*" in
    *gba_barrier*)
        fails job -np 2 -- early_exit 20
        # mpirun of 4.1 loses a help message now and then, and says so.
        if grep -q 'ORTE_ERROR_LOG: Data unpack.*show_help' "$out"; then
            fails job -np 2 -- early_exit 20
        fi
        lines 1 'Component: *gba_barrier'
        ;;
    *)
        job --mca coll_gba_barrier_verbose 1 -np 2 -- early_exit 20
        lines 1 'MPI_COMM_WORLD .*fallback: .*plugin.*rank 1'
        ;;
    esac
}

# One rank has a libgba with another wire version: no rank sends it anything.
wire_differs() {
    differs 'wire version.*differs: .*rank 2' 2 LD_PRELOAD="$programs/.libs/hosts_preload.so" GBA_TEST_WIRE=255
}

# NAME VALUE ALLOWED: a value out of range, on all ranks, and on one of them.
out_of_range() {
    limit 60
    job --mca coll_gba_barrier_device_path sim --mca "coll_gba_barrier_$1" "$2" -np 3 -- early_exit 20
    one_line "$1=.*$3"
    only_rank 1 "OMPI_MCA_coll_gba_barrier_$1=$2"
    job --mca coll_gba_barrier_device_path sim -np 3 -- early_exit 20
    # The rank reports its invalid value, and the first communicator why it has no group.
    lines 1 "coll gba_barrier: .*$1=.*$3"
}

# PATH REASON: an invalid device path on all ranks.
bad_path() {
    limit 60
    job --mca coll_gba_barrier_device_path "$1" -np 3 -- early_exit 20
    lines 0 '^FAIL'
    one_line "$2"
}

# A path of 300 characters is cut in the message.
long_path() {
    bad_path "$1$(printf 'x%.0s' {1..300})" "$2"
}

plain_file() {
    echo 'not a device' >"$work/file"
    bad_path "$work/file" 'not a GBA'
}

# A device whose state this user may not read. Root may, so root runs the case as the user nobody.
no_permission() {
    local as=()
    limit 60
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        mkdir "$work/home"
        cp "$programs/early_exit" "$work/early_exit"
        chmod 755 "$work" "$work/early_exit"
        chown 65534 "$work/home"
        wrapper=()
    else
        cp "$programs/early_exit" "$work/early_exit"
    fi
    : >"$work/gba0"
    chmod 000 "$work/gba0"
    "${as[@]}" env HOME="$work/home" TMPDIR="$work/home" timeout "$(limit_of 60)" "$mpirun" "${selection[@]}" \
        --mca coll_gba_barrier_device_path "$work/gba0" -np 3 "$work/early_exit" 20 >"$out" 2>&1
    cat "$out"
    one_line 'permission|permit'
}

silent() {
    limit 60
    job -np 3 -- early_exit 20
    lines 0 'gba'
}

# Ranks on two hosts, with a simulated device that belongs to one host.
two_hosts() {
    local status=0 ranks=$1 program
    shift
    for program in "$@"; do
        # shellcheck disable=SC2016 # HOSTS is set inside
        limited 120 "$top/tests/cluster" 2 sh -c '
            mpirun=$1 ranks=$2 program=$3
            "$mpirun" --host "$(echo "$HOSTS" | sed "s/,/:$ranks,/g"):$ranks" --map-by node \
                --bind-to none -np "$ranks" --mca coll gba_barrier \
                --mca coll_gba_barrier_device_path sim --mca coll_gba_barrier_verbose 1 \
                -x OMPI_MCA_mca_base_component_path -x OMPI_MCA_mpi_yield_when_idle \
                -x GBA_TEST_SECONDS=60 "$program"' \
            sh "$mpirun" "$ranks" "$programs/$program" >"$out" 2>&1 || status=$?
        cat "$out"
        if [ "$status" -eq 77 ]; then
            echo "skipped: no namespaces here"
            return 0
        fi
        [ "$status" -eq 0 ] || fail "status $status"
        lines 1 "MPI_COMM_WORLD .*(fallback|software): .*different devices .*hostb.*although"
        lines 0 "MPI_COMM_WORLD .*sim: group"
    done
}

# NUMBER LONG: the number of random faults: NUMBER; LONG with --long; $GBA_TEST_DEATHS if set.
soak() {
    ! $long || set -- "$2"
    echo "${GBA_TEST_DEATHS:-$1}"
}

# MODE CALLS ROUNDS DEVICE RANKS: ranks that test rarely, by shared memory and TCP. The number of calls of
# MPI is limited, not the time.
rare() {
    local i
    limit 60
    path_options "$4"
    for i in 1 2; do
        job "${path[@]}" --mca coll_gba_barrier_agree_after 0 --mca coll_gba_barrier_retry_after 1 \
            -np "$5" -- rare "$1" "$2" "$3"
        lines 0 '^FAIL'
        took "$4"
        path+=(--mca btl 'tcp,self')
    done
}

all_faults() {
    local rounds ranks mode
    test_case fault-lose-arrival faulty lose_arrival=7 'lost arrivals'
    test_case fault-lose-release faulty lose_release=7 'lost releases'
    test_case fault-lose-both faulty 'lose_arrival=11&lose_release=13' 'lost arrivals' 'lost releases'
    test_case fault-repeat-release faulty repeat_release=5
    test_case fault-latency faulty latency=20us
    test_case fault-jitter faulty 'latency=5us&jitter=50us&seed=3'
    test_case fault-all faulty 'latency=1us&jitter=9us&lose_arrival=17&lose_release=19&repeat_release=5' 'lost arrivals'
    test_case fault-full refused full=1 'no barrier group is free'
    test_case fault-version refused version=0x20000 'version'
    test_case fault-refuse-rank refused_rank
    test_case fault-groups few_groups
    for rounds in 1 50; do
        for ranks in 2 3 7; do
            test_case "fault-die-$rounds-$ranks" death "$rounds" "$ranks"
        done
    done
    test_cases death-posted death-meanwhile silent
    # Two ranks only: a third rank would notify the last one as well, and its notifications are not
    # held.
    test_case death-queued-blocking death_queued 10 2
    test_case death-queued-nonblocking death_queued 11 2
    for ranks in 3 7; do
        test_case "rare-released-$ranks" rare 3 4 5 'sim?die_after=5&die_release=1' "$ranks"
        test_case "rare-lost-$ranks" rare 2 4 2 "sim?lose_arrival=$((2 * ranks + 2))" "$ranks"
        test_case "rare-dies-$ranks" rare 2 4 2 'sim?die_after=2' "$ranks"
    done
    test_case rare-agrees rare 1 8 1 none 3
    test_case rare-recovers rare 2 16 6 'sim?die_after=2' 3
    for ranks in 2 3 4 7 16; do
        for mode in 2 3 4; do
            test_case "death-left-$mode-$ranks" death_left "$mode" "$ranks"
        done
        for mode in 7 8; do
            test_case "death-last-$mode-$ranks" death_last "$mode" "$ranks"
        done
        [ "$ranks" -ne 3 ] || test_case death-left-async death_async
        test_case "death-nonblocking-$ranks" death_nonblocking "$ranks"
        for mode in 0 1 2; do
            [ "$mode" -lt "$ranks" ] || continue
            test_case "death-swept-$mode-$ranks" death_swept "die_after=5&die_release=$mode" "$ranks"
        done
        test_case "death-random-$ranks" deaths "$ranks" "$(soak 13 200)" "${GBA_TEST_SEED:-1}"
        test_case "death-node-$ranks" deaths "$ranks" "$(soak 6 100)" "${GBA_TEST_SEED:-1}" 5
    done

    # Many deaths in one job; tests/mpi/deaths has more.
    test_case death-soak-flat-5 soaked flat 5 1 "${GBA_TEST_SEED:-1}" 20
    test_case death-soak-leaders-7 soaked leaders 7 1 "${GBA_TEST_SEED:-1}" 20
    test_case death-soak-domains-4 soaked domains 4 1 "${GBA_TEST_SEED:-1}" 20
    test_case death-soak-nonblocking-3 soaked nonblocking 3 1 "${GBA_TEST_SEED:-1}" 20

    for rounds in 2 7 11 12 60; do
        for ranks in 2 3 7; do
            test_case "fault-idie-$rounds-$ranks" idie "$rounds" "$ranks" 1
        done
    done
    # Then Open MPI's own barrier is next; the time of the death does not matter for it.
    for ranks in 2 7; do
        test_case "fault-idie-7-$ranks-fallback" idie 7 "$ranks" 0
        test_case "fault-idie-60-$ranks-fallback" idie 60 "$ranks" 0
    done

    test_case differ-no-device differs 'rank 2' 2 OMPI_MCA_coll_gba_barrier_device_path=none
    test_case differ-no-device-0 differs 'rank 0' 0 OMPI_MCA_coll_gba_barrier_device_path=none
    test_case differ-no-plugin differs 'plugin.*rank 2' 2 OMPI_MCA_mca_base_component_path
    test_case differ-no-plugin-0 differs 'plugin.*rank 0' 0 OMPI_MCA_mca_base_component_path
    test_case differ-disable differs 'rank 2' 2 OMPI_MCA_coll_gba_barrier_disable=1
    test_case differ-priority differs 'differ.*rank 2' 2 OMPI_MCA_coll_gba_barrier_priority=50
    test_case differ-min-comm-size differs 'differ.*rank 2' 2 OMPI_MCA_coll_gba_barrier_min_comm_size=3
    test_case differ-wire wire_differs
    test_case differ-no-plugin-named lacks_named --mca coll gba_barrier
    test_case differ-no-plugin-excluded lacks_named --mca coll ^han
    test_case differ-simulator differs 'rank 2' 2 OMPI_MCA_coll_gba_barrier_device_path=sim:other
    test_case range-priority out_of_range priority 101 '0 to 100'
    test_case range-priority-low out_of_range priority -1 '0 to 100'
    test_case range-min-comm-size out_of_range min_comm_size 1 'allowed: 2 to'
    test_case range-agree-after out_of_range agree_after 65536 '0 to 65535'
    test_case range-sw-radix out_of_range sw_radix 65 '0 to 64'
    test_case range-verbose out_of_range verbose 4 '0 to 3'
    test_case range-retry-after out_of_range retry_after -1 '0 to 3600000'
    test_case hosts-2 two_hosts 4 early_exit kinds

    test_case bad-option bad_path 'sim?lose_everything=1' 'unknown option "lose_everything"'
    test_case bad-value bad_path 'sim?groups=33' 'groups=33.*1 to 32'
    test_case bad-name bad_path 'sim:a/b' 'name of a simulated device'
    test_case bad-name-long long_path 'sim:' 'name of a simulated device'
    test_case bad-path-long long_path '/dev/' 'at most [0-9]+ characters'
    test_case bad-word bad_path gba0 'allowed: an absolute path'
    test_case bad-null bad_path /dev/null 'not a GBA'
    test_case bad-file plain_file
    test_case bad-missing bad_path /dev/gba-missing 'no device'
    test_case bad-version bad_path 'sim?version=0x20000' 'version'
    test_case bad-permission no_permission
    test_alone killed-rank killed rank
    test_alone killed-job killed job
    all_stalled
}
