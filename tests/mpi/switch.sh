# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases on gba-switchd: on one host over a Unix socket and TCP, and on several hosts over TCP. The daemon
# loses messages, is killed, restarted and stopped, and the link of a host is cut. tests/mpi/run sources
# this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# unix | tcp: $path has the options for that device path. (Between hosts, $selection shows the paths.)
switch_options() {
    path_options "${!1}"
    [ -z "${HOSTS-}" ] || path=("${path[@]:3}")
    path+=(-x GBA_SWITCH_KEY_FILE)
}

# Start a job in the background, and wait until it uses the switch.
switch_job() {
    : >"$out"
    job "${path[@]}" "$@" >/dev/null &
    job_pid=$!
    until_true grep -q 'MPI_COMM_WORLD .*switch: group' "$out"
}

# PROGRAM: the job has ended well.
switch_ended() {
    wait "$job_pid"
    cat "$out"
    lines 1 "^$1: right\$"
    lines 0 '^FAIL'
}

# PROGRAM: the job continues with software barriers.
switch_failed_over() {
    switch_ended "$1"
    lines 1 'MPI_COMM_WORLD .*software: .*from barrier [0-9]+ on; the device stopped answering in barrier [0-9]+ \(rank [0-9]+ on '
    total_is switch -gt 0
    total_is software -gt 0
}

# PROGRAM: so it does, and the restarted switch, which has all its groups, serves another job.
switch_given_up() {
    switch_failed_over "$1"
    groups_return
    job "${path[@]}" -np 3 -- early_exit 20 >/dev/null
    cat "$out"
    lines 1 '^early_exit: right$'
    total_is switch -eq 20
}

# PROGRAM: the job is still on the switch.
switch_survived() {
    switch_ended "$1"
    total_is failovers -eq 0
    total_is software -eq 0
}

# TRANSPORT RANKS OUTCOME ACTION...: these commands happen during the barriers of a job, which then makes 100 more.
switch_during() {
    local action
    limit 120
    switch_start "$(switch_address)"
    switch_options "$1"
    switch_job -np "$2" -- early_exit 100 "$work/go"
    for action in "${@:4}"; do
        eval "$action"
    done
    : >"$work/go"
    "$3" early_exit
}

switch_during_all() {
    # shellcheck disable=SC2016 # for eval
    local ranks=3 number='' die='kill -KILL $daemon' stop='kill -STOP $daemon' go_on='kill -CONT $daemon'
    # shellcheck disable=SC2016 # for eval
    local again='switch_start "${tcp#switch://}"'
    while :; do
        test_case "switch-killed$number" switch_during unix "$ranks" switch_failed_over "sleep 0.$((RANDOM % 3))" "$die"
        test_case "switch-restarted$number" switch_during unix "$ranks" switch_given_up \
            "sleep 0.$((RANDOM % 3))" "$die" "$again"
        [ "$number" != -8 ] && $long || break
        number=-$((${number#-} + 1))
        ranks=$((RANDOM % 6 + 2))
    done
    test_case switch-restarted-tcp switch_during tcp 3 switch_given_up "$die" "$again"
    # For a shorter time than the client's timeout; and for good: the members fail over.
    test_case switch-stopped switch_during unix 3 switch_survived "$stop" 'sleep 5' "$go_on"
    ! $long || test_case switch-stopped-tcp switch_during tcp 3 switch_survived "$stop" 'sleep 5' "$go_on"
    ! $long || test_case switch-silent switch_during tcp 3 switch_failed_over "$stop"
}

# NUMBER: so many groups so far.
took_groups() {
    [ "$(grep -c 'MPI_COMM_WORLD .*switch: group' "$out")" -eq "$1" ]
}

# The switch of the chosen device is killed, and the job has a group of another one of the list.
switch_regained_other() {
    limit 120
    switch_start 127.0.0.1
    local chosen=$daemon name=$unix
    work=$work/other
    mkdir "$work"
    switch_start 127.0.0.1
    path=(--mca coll_gba_barrier_verbose 1 --mca coll_gba_barrier_offload always
        --mca coll_gba_barrier_device_list "$name,$unix" --mca coll_gba_barrier_device_map "$name:1")
    switch_job -np 3 -- early_exit 100 "$work/regained"
    kill -KILL "$chosen"
    until_true took_groups 2
    : >"$work/regained"
    switch_ended early_exit
    total_is failovers -gt 0
    groups_return
}

# A rank is killed: the switch takes back its memberships, and the job ends.
switch_rank_killed() {
    local apart job_pid holders=none
    limit 120
    switch_start 127.0.0.1
    switch_options unix
    put_apart
    start_victim 4 many 1000000000
    until_true grep -q 'MPI_COMM_WORLD .*switch: group' "$out"
    kill_victim rank
    groups_return
}

# A TCP client without the key.
switch_no_key() {
    switch_start 127.0.0.1
    echo 00000000000000000000000000000000 >"$key"
    row_job "+ | 2 | quiet $tcp | early_exit 20 | only/refused the connection: wrong key \(key file $key\): copy the --key-file/"
}

# NUMBER TEXT...: that many lines of the log of the switch contain the text.
switch_logged() {
    cat "$work/switch.log"
    [ "$(grep -cE "${*:2}" "$work/switch.log")" -eq "$1" ] || fail "not $1 lines with \"${*:2}\" in the log of the switch"
}

# Nothing shows the key of the file.
key_hidden() {
    ! grep -qF "$(cat "$key")" "$out" "$work/switch.log" || fail 'the key is shown'
}

# Two ranks on two processors do not yield them, unless a switch of this host needs one, too.
switch_shares_processors() {
    local two options='--bind-to=none .mpi_yield_when_idle=0 GBA_TEST_YIELDS=1 preload=hosts_preload'
    two=$(taskset -cp $BASHPID | sed -E 's/.*: //; s/([0-9]+)-([0-9]+)/{\1..\2}/g; s/,/ /g')
    two=$(eval "printf '%s\n' $two" | head -n 2 | paste -sd ,)
    [ "${two#*,}" != "$two" ] || skip 'there is one processor'
    wrapper=(taskset -c "$two")
    row_job "+ | 2 | sim $options | early_exit 60 | took | 0/libgba yields/"
    row_job "+ | 2 | switch=unix $options | early_exit 60 | took | 2/libgba yields/"
}

# The switch replaces a chosen device that cannot be opened.
switch_replaces() {
    switch_start 127.0.0.1
    row_job "+ | 3 | device_list=/dev/null,$tcp device_map=/dev/null:1 GBA_SWITCH_KEY_FILE | early_exit 20 | switch>0 sim=0 errors=0 | ! groups_return"
}

# Two switches before the right one accept connections and do not answer. The 10 seconds for all
# candidates are a limit: without it, each of the two takes 10 seconds.
switch_list_silent() {
    local began
    limit 60
    switch_start 127.0.0.1
    # shellcheck disable=SC2016 # variables of Perl
    perl -MIO::Socket::UNIX -e 'for (@ARGV) { push @s, IO::Socket::UNIX->new(Local => $_, Listen => 8) or die }
        $| = 1; print "ready\n"; sleep 60' "$work/silent1" "$work/silent2" >"$work/silent" &
    until_true grep -q ready "$work/silent"
    began=$SECONDS
    row_job "+ | 2 | device_list=/dev/null,switch:$work/silent1,switch:$work/silent2,$unix device_map=/dev/null:1 | early_exit 20 | switch>0 sim=0 errors=0 | 2/cannot reach gba-switchd at switch:.*/silent[12]: Connection timed out/"
    [ $((SECONDS - began)) -lt 20 ] || fail "the job took $((SECONDS - began)) s"
    kill %+
    groups_return
}

all_switch() {
    local right='took errors=0 | ! groups_return'
    rows <<END
switch-unix-early_exit | 4 | switch=unix | early_exit 60 | $right
switch-tcp-early_exit | 4 | switch=tcp | early_exit 60 | $right
switch-kinds | 3 | switch=unix | kinds | $right
switch-threads | 3 | switch=unix | threads | $right
switch-ibarrier | 3 | switch=unix | ibarrier | $right
switch-outstanding | 3 | switch=unix | ibarrier 8 | $right
switch-churn | 3 | switch=unix | churn | $right
# A switch that loses arrivals and releases.
switch-loss | 4 | switch=unix+--latency+loss=1% | early_exit 100 | took errors=0 failovers=0
switch-missing | 3 | quiet switch:/nonexistent/gba-switchd | early_exit 20
  | only/cannot reach gba-switchd at switch:.*: No such file or directory.*Start gba-switchd/
# Nothing shows the key. The ranks cannot use the switch with more ports than the job may have.
switch-job-ports | 3 | switch=tcp+--log-level+debug+--job-ports+3 | early_exit 20 | took errors=0 | ! key_hidden
  | ! switch_logged 3 port [0-9]+: up | ! groups_return
switch-job-limit | 3 | switch=tcp+--log-level+info+--job-ports+2 | early_exit 20 | switch=0 sim=0 software>0
  | ! switch_logged 2 port [0-9]+: up
  | ! switch_logged 1 connection refused: the user or the job uses as many ports as it may
END
    switch_during_all
    test_cases switch-regained-other switch-no-key switch-shares-processors \
        switch-replaces switch-list-silent
    test_alone switch-rank-killed switch_rank_killed
    $long || return 0
    rows <<END
switch-many | 4 | switch=tcp | many 20000 | $right
switch-progress | 4 | switch=unix | progress | $right
switch-latency | 4 | switch=unix+--latency+up=20us,match=5us,release=1us,down=20us,jitter=50us | early_exit 100
  | took errors=0 failovers=0
switch-loss-latency | 4 | switch=unix+--latency+up=20us,down=20us,jitter=50us,loss=2% | early_exit 100
  | took errors=0 failovers=0
END
}

# --- Several hosts ---

# HOST COMMAND...: run the command on that host.
on_host() {
    "$OMPI_MCA_plm_rsh_agent" "$@"
}

# The switch has an address of its own, and a route from each host.
switch_network() {
    local name
    address=10.78.$((BASHPID / 250 % 250)).$((BASHPID % 250 + 1)) # cases run at the same time
    ip addr add "$address/32" dev lo
    for name in "${host_names[@]:1}"; do
        on_host "$name" ip route add "$address/32" via 10.77.0.1
    done
}

# OPTION switch-hosts of a row: a switch of these hosts, over TCP.
switch_for_hosts() {
    switch_network
    switch_start "$address"
    row_path "$tcp"
    options+=(-x GBA_SWITCH_KEY_FILE --map-by slot)
}

# SECONDS: the last host loses its link to the switch for that time; 0: for the rest of the job.
switch_cut() {
    local last=${host_names[${#host_names[@]} - 1]} patience=30 status=0
    ranks_on 2 1
    limit 120
    switch_network
    [ "$1" -ne 0 ] || patience=5
    switch_start "$address" --log-level warning --client-timeout "$patience"
    switch_options tcp
    switch_job --map-by slot -- early_exit 100 "$work/cut"
    on_host "$last" ip route replace blackhole "$address/32"
    if [ "$1" -eq 0 ]; then
        : >"$work/cut"
        switch_failed_over early_exit
        until_true grep -qE 'warning: port [0-9]+: down: the link to its host is lost' "$work/switch.log"
        "$build/gba/tools/gba_info" --health "$unix" >"$work/health" || status=$?
        cat "$work/health"
        [ "$status" -eq 2 ] && grep -qE "degraded: the link of port [0-9]+ to $last is lost" "$work/health" ||
            fail "gba_info --health: exit status $status"
        "$build/sim/switch/gba_diag" "$unix" | grep -E "^port [0-9]+: the link to $last at .* is lost"
        # The host connects for another job.
        on_host "$last" ip route del blackhole "$address/32"
        on_host "$last" ip route replace "$address/32" via 10.77.0.1
        on_host "$last" "GBA_SWITCH_KEY_FILE=$key $build/gba/tools/gba_info $tcp" >/dev/null
        "$build/gba/tools/gba_info" --health "$unix" | grep healthy
    else
        sleep "$1"
        on_host "$last" ip route del blackhole "$address/32"
        on_host "$last" ip route replace "$address/32" via 10.77.0.1
        : >"$work/cut"
        switch_survived early_exit
    fi
}

# The switch of several hosts is killed.
switch_spans_killed() {
    ranks_on 2 1
    limit 120
    switch_network
    switch_start "$address"
    switch_options tcp
    switch_job --map-by slot -- early_exit 100 "$work/failed"
    kill -KILL "$daemon"
    : >"$work/failed"
    switch_failed_over early_exit
}

# TEXT STATUS: gba_diag ends with that status, and prints the text about a member of MPI_COMM_WORLD.
diag_shows() {
    local status=0
    "$build/sim/switch/gba_diag" "$unix" >"$work/diag" || status=$?
    [ "$status" -eq "$2" ] && grep -qE "$1" "$work/diag"
}

# A rank on another host than the switch is stopped, which the switch cannot see: it is late. The last rank of `stuck`
# stops itself.
switch_stopped_away() {
    ranks_on 1 3
    limit 120
    switch_network
    switch_start "$address"
    switch_options tcp
    switch_job --map-by slot -- stuck 1 20
    until_true one_stopped
    until_true diag_shows '^  member 3 \(pid [0-9]+, port [0-9]+ on hostb at .*\): late' 0
    cat "$work/diag"
    kill -CONT "$stopped"
    switch_survived stuck
}

# The switch serves communicators of all ranks; and (switch-spans) one group MPI_COMM_WORLD, without a barrier in
# software.
all_switch_hosts() {
    local hosts=${#host_names[@]} program right spans
    right='took errors=0 failovers=0 | 1+/switch: group [0-9]+ of 32, RANKS members$/ | ! groups_return'
    spans="software=0 $right | /MPI_COMM_WORLD .*switch: group [0-9]+ of 32, RANKS members\$/"
    rows <<<"hosts$hosts-switch | 3.1.2.1 | switch-hosts | early_exit 60 | $spans"
    [ "$hosts" -le 3 ] || return 0
    test_case "hosts$hosts-switch-killed" switch_spans_killed
    if [ "$hosts" -eq 2 ]; then
        test_case hosts2-switch-cut switch_cut 0
        test_case hosts2-switch-stopped switch_stopped_away
        test_case hosts2-switch-restored switch_cut 3
    fi
    $long || return 0
    for program in kinds colls 'many 5000'; do
        rows <<<"hosts$hosts-switch-${program% *} | 2.1 | switch-hosts | $program | $spans"
    done
    # These make no barrier on MPI_COMM_WORLD, and churn has more communicators than groups.
    for program in threads ibarrier churn; do
        rows <<<"hosts$hosts-switch-$program | 2.1 | switch-hosts | $program | $right"
    done
}
