# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Injected faults: faults of the device, ranks that differ, invalid input. Every case checks what the user
# reads: one line, and the job continues. run sources this file, after stalls.sh.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

died='/MPI_COMM_WORLD .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on /'

# A rank lacks the plugin, and the selection names it: Open MPI ends the job.
lacks_named() {
    limit 60
    only_rank 1 OMPI_MCA_mca_base_component_path
    fails job -np 2 -- early_exit 20
    # mpirun of 4.1 loses a help message now and then, and says so.
    ! grep -q 'ORTE_ERROR_LOG: Data unpack.*show_help' "$out" || fails job -np 2 -- early_exit 20
    lines 1 'Component: *gba_barrier'
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
    else
        cp "$programs/early_exit" "$work/early_exit"
    fi
    : >"$work/gba0"
    chmod 000 "$work/gba0"
    "${as[@]}" env HOME="$work/home" TMPDIR="$work/home" timeout "$(limit_of 60)" "$launcher" "${selection[@]}" \
        --mca coll_gba_barrier_device_path "$work/gba0" -np 3 "$work/early_exit" 20 >"$out" 2>&1
    cat "$out"
    one_line 'permission|permit'
}

# NUMBER LONG: the number of random faults: NUMBER; LONG with --long; $GBA_TEST_DEATHS if set.
soak() {
    ! $long || set -- "$2"
    echo "${GBA_TEST_DEATHS:-$1}"
}

# With these options of the simulator all barriers are right, and rank 0 and another rank have repaired.
faults_repaired() {
    local arrivals='lost_arrivals>0 | 1+/totals of rank [1-3]: .* lost arrivals [1-9]/'
    local releases='lost_releases>0 | 1+/totals of rank [1-3]: .* lost releases [1-9]/'
    rows <<END
fault-lose-arrival | 4 | sim?lose_arrival=7 | early_exit 100 | took errors=0 | $arrivals
fault-lose-release | 4 | sim?lose_release=7 | early_exit 100 | took errors=0 | $releases
fault-lose-both | 4 | sim?lose_arrival=11&lose_release=13 | early_exit 100 | took errors=0 | $arrivals | $releases
fault-latency | 4 | sim?latency=20us | early_exit 100 | took errors=0
fault-jitter | 4 | sim?latency=5us&jitter=50us&seed=3 | early_exit 100 | took errors=0
fault-all | 4 | sim?latency=1us&jitter=9us&lose_arrival=17&lose_release=19 | early_exit 100
  | took errors=0 | $arrivals
fault-full | 4 | quiet sim?full=1 | kinds | only/no barrier group is free/
# The communicators that have no rank 3 get their groups.
fault-refuse-rank | 4 | sim?refuse_rank=3 | kinds | took | 0/4 ranks\): sim/
  | /MPI_COMM_WORLD .*(fallback|software): .*rank 3 .*although device_path is/
fault-groups | 4 | sim?groups=2 | groups 10 4 | 2/early [0-9]+ .*sim: group [01] of 2/
  | 8/early [0-9]+ .*no barrier group is free/ | 2/again [0-9]+ .*sim: group [01] of 2/
silent | 3 | quiet default | early_exit 20 | 0/gba/
END
}

# The device dies after so many rounds; the only visible effect is one line. Then under nonblocking barriers with a
# blocking one queued behind them: no round is lost, and those count that begin before the agreement at the end of a
# blocking one. Later barriers are software barriers, or (sw_enable 0) Open MPI's own.
faults_die() {
    local rounds fallback='sw_enable=0 | ibarrier 6 | failovers=1 software+fallback+sim=111'
    for rounds in 1 50; do
        rows <<END
fault-die-$rounds-@ | 2 3 7 | quiet sim?die_after=$rounds | early_exit | only/stopped answering|died/
+ | @ | sim?die_after=$rounds | early_exit | failovers>0 sim>$rounds sim<=$((rounds + 4)) software+fallback>0
END
    done
    for rounds in 2 7 11 12 60; do
        rows <<END
fault-idie-$rounds-@ | 2 3 7 | sim?die_after=$rounds | ibarrier 6
  | failovers=1 sim>$rounds software+fallback+sim=111
END
    done
    rows <<END
fault-idie-7-@-fallback | 2 7 | sim?die_after=7 $fallback sim>7
fault-idie-60-@-fallback | 2 7 | sim?die_after=60 $fallback sim>60
END
}

# A rank leaves the fatal round before the others, comes to it last, or is not in MPI.
faults_death() {
    local ranks mode options
    rows <<END
# Notifications are not out while the service hands them to the PML.
death-posted | 1 | quiet default | posted | /^posted: right$/
# An agreement in the progress of another communicator's barrier, which does not yield while it tests, takes
# the path for ranks that share cores, as mpi_yield_when_idle says, also if there is a core for each.
death-meanwhile | 2 | sim?groups=1&die_after=5 retry_after=1 agree_after=0 | death 12 50
  | /software: counter in shared memory, 2 members on one host, from barrier [0-9]+ on; the device stopped/
# Rank 0 leaves the fatal round, the 22nd, only when its notifications are out. Two ranks only: a third rank would notify the
# last one as well, and its notifications are not held.
death-queued-blocking | 2 | sim?die_after=21 tcp retry_after=1 | queued WORK 1 | $died
death-queued-nonblocking | 2 | sim?die_after=21 tcp retry_after=1 | queued WORK 2 | $died
# Only rank 0 sees the end of the fatal round, and then joins no collective call. All its rounds are counted: those
# of the device, and the fatal one.
death-left-2-@ | 2 3 4 7 16 | sim?die_after=5&die_release=1 retry_after=5 | death 2 5 | sim=7 software=19 | $died
death-left-3-@ | 2 3 4 7 16 | sim?die_after=5&die_release=1 retry_after=5 | death 3 5 | sim=6
death-left-4-@ | 2 3 4 7 16 | sim?die_after=5&die_release=1 retry_after=5 | death 4 5 | sim=6
# MPI_Finalize does not wait for all ranks, so a rank that has left the fatal round could not answer: no device.
death-left-async | 3 | sim?die_after=10&die_release=1 .async_mpi_finalize=1 | death 4 10 | sim=0 software=11
  | /MPI_COMM_WORLD .*software: .*no device: async_mpi_finalize is set, although device_path is/
# Nonblocking barriers only: the ranks agree on another path in one of them, on a software barrier and on messages
# in the place of Open MPI's own. The rounds are those of the device, and the few that notifications completed.
death-nonblocking-@ | 2 3 4 7 16 | sim?die_after=20 retry_after=1 | death 9 2000
  | failovers=1 sim<=24 sim+software=2002 | ${died/WORLD /WORLD .*software: }
+ | @ | sim?die_after=20 retry_after=1 sw_enable=0 | death 9 500
  | failovers=1 sim<=24 sim+fallback=502 | ${died/WORLD /WORLD .*fallback: }
# The device dies in the last round, and no notification is left to a PML that reports it.
END
    for ranks in 2 3 4 7 16; do
        for mode in 0 1 2; do
            options="die_after=5&die_release=$mode needs=ucx .pml=ucx .pml_ucx_tls=any .pml_ucx_devices=any"
            [ "$mode" -ge "$ranks" ] ||
                rows <<<"death-swept-$mode-$ranks | $ranks | sim?$options | death 4 5 | 0/unexpected tag/"
        done
        # Rank 0 is the last to enter the fatal round, and the other ranks wait for its notifications.
        for mode in 7 8; do
            rows <<<"death-last-$mode-$ranks | $ranks | sim?die_arrival=$((5 * ranks + 1)) | death $mode 5 | $died"
        done
        # Many deaths at random points in one job; "run --long" has more.
        test_case "death-random-$ranks" soaked flat "$ranks" "$(soak 13 200)" "${GBA_TEST_SEED:-1}" 20
        test_case "death-node-$ranks" soaked leaders "$ranks" "$(soak 6 100)" "${GBA_TEST_SEED:-1}" 20
    done
    test_case death-soak-nonblocking-3 soaked nonblocking 3 1 "${GBA_TEST_SEED:-1}" 20
}

# Ranks that test rarely, by shared memory and TCP. The number of calls of MPI is limited, not the time.
faults_rare() {
    local name device program path ranks
    while IFS='|' read -r name device program; do
        for ranks in 3 7; do
            [ "$ranks" -eq 3 ] || [[ $name = *@* ]] || continue
            path=${device/ARRIVAL/$((2 * ranks + 2))}
            rows <<END
${name/@/$ranks} | $ranks | $path agree_after=0 retry_after=1 | $program | took
+ | $ranks | $path agree_after=0 retry_after=1 tcp | $program | took
END
        done
    done <<'END'
rare-released-@|sim?die_after=5&die_release=1|rare 3 4 5
rare-lost-@|sim?lose_arrival=ARRIVAL|rare 2 4 2
rare-dies-@|sim?die_after=2|rare 2 4 2
rare-agrees|none|rare 1 8 1
rare-recovers|sim?die_after=2|rare 2 16 6
END
}

# One rank differs, without exclusive selection, because a rank without the plugin could not start at all: all ranks
# take the fallback, for that reason.
faults_differ() {
    local variable=OMPI_MCA_coll_gba_barrier
    rows <<END
differ-no-device | 4 | quiet free sim rank=2:${variable}_device_path=none | early_exit | only/rank 2/
differ-no-device-0 | 4 | quiet free sim rank=0:${variable}_device_path=none | early_exit | only/rank 0/
differ-no-plugin | 4 | quiet free sim rank=2:OMPI_MCA_mca_base_component_path | early_exit | only/plugin.*rank 2/
differ-no-plugin-0 | 4 | quiet free sim rank=0:OMPI_MCA_mca_base_component_path | early_exit | only/plugin.*rank 0/
differ-disable | 4 | quiet free sim rank=2:${variable}_disable=1 | early_exit | only/rank 2/
differ-priority | 4 | quiet free sim rank=2:${variable}_priority=50 | early_exit | only/differ.*rank 2/
differ-min-comm-size | 4 | quiet free sim rank=2:${variable}_min_comm_size=3 | early_exit | only/differ.*rank 2/
differ-wire | 4 | quiet free sim preload=hosts_preload rank=2:GBA_TEST_WIRE=255 | early_exit
  | only/wire version.*differs: .*rank 2/
differ-no-plugin-excluded | 2 | select=^han rank=1:OMPI_MCA_mca_base_component_path | early_exit 20
  | /MPI_COMM_WORLD .*fallback: .*plugin.*rank 1/
differ-simulator | 4 | quiet free sim rank=2:${variable}_device_path=sim:other | early_exit | only/rank 2/
# A simulated device belongs to one host.
hosts-2 | 4 | sim cluster=hosta:2,hostb:2 --map-by=node | early_exit
  | /MPI_COMM_WORLD .*(fallback|software): .*different devices .*hostb.*although/ | 0/MPI_COMM_WORLD .*sim: group/
+ | 4 | sim cluster=hosta:2,hostb:2 --map-by=node | kinds
  | /MPI_COMM_WORLD .*(fallback|software): .*different devices .*hostb.*although/ | 0/MPI_COMM_WORLD .*sim: group/
END
    test_case differ-no-plugin-named lacks_named
}

# A value out of range, on all ranks, and on one of them, which then reports it, and the first communicator why it has
# no group. Then invalid device paths, of which a long one is cut in the message.
faults_invalid() {
    local name parameter value allowed long_name
    while read -r name parameter value allowed; do
        rows <<END
range-$name | 3 | quiet sim $parameter=$value | early_exit 20 | only/$parameter=.*$allowed/
+ | 3 | quiet sim rank=1:OMPI_MCA_coll_gba_barrier_$parameter=$value | early_exit 20
  | /coll gba_barrier: .*$parameter=.*$allowed/
END
    done <<'END'
priority priority 101 0 to 100
priority-low priority -1 0 to 100
min-comm-size min_comm_size 1 allowed: 2 to
agree-after agree_after 65536 0 to 65535
sw-radix sw_radix 65 0, 2 to 64
sw-radix-1 sw_radix 1 0, 2 to 64
verbose verbose 4 0 to 3
retry-after retry_after -1 0 to 3600000
END
    # A value that is none, from each of Open MPI's sources.
    rows <<END
malformed-option | 3 | quiet sim stuck_after=1x | early_exit 20 | only/stuck_after=1x is invalid; allowed: 0 to 2592000 s, or with a unit.*; the component is disabled/
malformed-environment | 3 | quiet sim OMPI_MCA_coll_gba_barrier_max_groups=abc | early_exit 20 | only/max_groups=abc is invalid; allowed: 0 to 32.*; the component is disabled/
malformed-word | 3 | quiet sim wait=doze | early_exit 20 | only/wait=doze is invalid; allowed: auto, spin, yield, sleep/
misspelt-name | 3 | quiet sim OMPI_MCA_coll_gba_barrier_device_pth=x | early_exit 20 | only/device_pth in the environment is not a parameter.*did you mean coll_gba_barrier_device_path\?/
misspelt-prefix | 3 | quiet sim .coll_gba_barier_wait=spin | early_exit 20 | only/coll_gba_barier_wait in the environment is not a parameter.*did you mean coll_gba_barrier_wait\?/
misspelt-no-mpi | 3 | quiet sim GBA_WAIT=spin GBA_DEVICE_PATH=sim | early_exit 20 | only/GBA_WAIT in the environment is for programs without MPI/
malformed-empty | 3 | quiet sim OMPI_MCA_coll_gba_barrier_sw_radix= | early_exit 20 | only/sw_radix= is invalid; allowed: 0, 2 to 64/
# Times with a unit are right, and so is a word of a number that Open MPI knows.
well-formed | 3 | quiet sim stuck_after=10m retry_after=0.1s sw_enable=yes | early_exit 20 | 0/coll gba_barrier:/
END
    test_case malformed-file malformed_file min_comm_size 2x '2 to 2147483647'
    test_case malformed-own malformed_file totals 1e3 'text, json'
    printf -v long_name 'x%.0s' {1..300}
    rows <<END
bad-option | 3 | quiet sim?lose_everything=1 | early_exit 20 | only/unknown option "lose_everything"/
bad-name-long | 3 | quiet sim:$long_name | early_exit 20 | only/name of a simulated device/
bad-path-long | 3 | quiet /dev/$long_name | early_exit 20 | only/at most [0-9]+ characters/
bad-null | 3 | quiet /dev/null | early_exit 20 | only/not a GBA/
bad-file | 3 | quiet $top/tests/README.md | early_exit 20 | only/not a GBA/
bad-missing | 3 | quiet /dev/gba-missing | early_exit 20 | only/no device/
END
    test_case bad-permission no_permission
}

all_faults() {
    faults_repaired
    faults_die
    faults_death
    faults_rare
    faults_differ
    faults_invalid
    test_alone killed-rank killed rank
    test_alone killed-job killed job
    test_alone killed-parents killed parents
    all_stalled
}
