# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of many deaths of devices in one job (soak.c). run sources this file, after domains.sh.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# KIND RANKS DEATHS SEED [DEVICES]: jobs of DEVICES devices each, until DEATHS of them have died under a
# team. KIND is flat (one group for all ranks), leaders (of at most 5 pretended hosts),
# domains (4 pretended hosts and two devices), or nonblocking (as flat; a team's barriers are nonblocking
# after the first one). The counts go to $logs/deaths, one line for each job.
soaked() {
    local kind=$1 ranks=$2 deaths=$3 died=0 hosts=0 style=4 name=soak-$BASHPID options counts
    # For the job. The program has a time limit for each device.
    limit 7200
    RANDOM=$4
    while [ "$died" -lt "$deaths" ]; do
        options=(-x GBA_TEST_SECONDS=600 -x GBA_TEST_SEED="$RANDOM")
        case $kind in
        leaders) hosts=$((1 + RANDOM % (ranks < 5 ? ranks : 5))) ;;
        domains) hosts=4 ;;
        nonblocking) style=2 ;;
        esac
        [ "$hosts" -eq 0 ] || options+=(-x GBA_TEST_HOSTS="$hosts"
            -x LD_PRELOAD="$programs/.libs/hosts_preload.so")
        [ "$kind" != leaders ] || options+=(--mca coll_gba_barrier_hierarchy node)
        [ "$kind" != domains ] || options+=(-x GBA_TEST_DEVICES="sim:$name-0 sim:$name-1")
        job --mca coll_gba_barrier_device_path "sim:$name-0" --mca coll_gba_barrier_retry_after 1 \
            "${options[@]}" -np "$ranks" -- soak "${5:-80}" "$style"
        lines 0 '^FAIL'
        counts=$(sed -n 's/^soak: \([0-9]* devices\)/\1/p' "$out")
        [[ $counts =~ ([0-9]+)\ deaths, ]] || fail 'no counts'
        [ "${BASH_REMATCH[1]}" -gt 0 ] || fail 'no device died under a team'
        died=$((died + BASH_REMATCH[1]))
        echo "$kind-$ranks $counts" >>"$logs/deaths"
    done
}

all_deaths() {
    local ranks kind
    for ranks in 2 3 4 5 7 8 12 16; do
        for kind in flat leaders domains nonblocking; do
            # Two domains need two hosts each, else a device has nothing to do.
            [ "$kind" != domains ] || [ "$ranks" -ge 4 ] || continue
            test_case "soak-$kind-$ranks" soaked "$kind" "$ranks" "${GBA_TEST_DEATHS:-100}" \
                "${GBA_TEST_SEED:-1}"
        done
    done
}
