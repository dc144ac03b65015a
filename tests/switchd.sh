# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Start gba-switchd, or the program $GBA_TEST_SWITCHD, for a case of tests/mpi/run or tests/shmem/run, which source
# this file. It ends with the case. until_true is here for the other cases, too: the cases of hosts source nothing else.
# shellcheck disable=SC2154,SC2034 # variables of the runners and of the cases

# ADDRESS[:PORT] [OPTION...]: start gba-switchd with a Unix socket in $work, and with TCP at that address. With a PORT
# the key of an earlier daemon stays. Sets $daemon, the device paths $unix and $tcp, and GBA_SWITCH_KEY_FILE.
switch_start() {
    local address=$1 program=${GBA_TEST_SWITCHD:-$build/sim/switch/gba-switchd}
    shift
    [ -x "$program" ] || skip 'gba-switchd was not built, because there is no libevent'
    # In /run, which tests/cluster creates, because each host has its own /tmp.
    key=$work/key
    [ -z "${HOSTS-}" ] || key=/run/key.$BASHPID
    [ "${address#*:}" != "$address" ] || {
        rm -f "$key" # of an earlier daemon
        address=$address:0
    }
    [ -f "$key" ] || (umask 077 && od -An -tx1 -N16 /dev/urandom | tr -d ' ' >"$key")
    export GBA_SWITCH_KEY_FILE=$key
    : >"$work/ready"
    "$program" --listen "$work/switch" --tcp "$address" --key-file "$key" --log-level error "$@" \
        >"$work/ready" 2>>"$work/switch.log" &
    daemon=$!
    until_true grep -q '^gba-switchd ready: ' "$work/ready"
    read -r _ _ unix tcp _ <"$work/ready"
}

# The address of a daemon that is started again there. Its port is none of those that the kernel gives to other
# programs in between (ip_local_port_range).
switch_address() {
    echo "127.0.0.1:$((10000 + BASHPID % 20000))"
}

# Wait until COMMAND is true; 20 seconds at most, as limit_of in tests/load.sh.
until_true() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt $((200 * ${GBA_TEST_FACTOR:-1})) ] || fail "did not come true: $*" || return 1
        sleep 0.1
    done
}

groups_free() {
    "$build/gba/tools/gba_info" "$unix" | grep -qE '^groups free +32 of 32$'
}

# All groups of the switch are free when the processes have ended.
groups_return() {
    until_true groups_free
}
