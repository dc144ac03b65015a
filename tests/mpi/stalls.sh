# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Killed and stopped processes, what they leave, and the reports of stalled barriers. run sources this file, and
# all_faults of faults.sh runs its cases.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# The processes that run a program of the tests.
processes() {
    local exe
    for exe in /proc/[0-9]*/exe; do
        case $(readlink "$exe" 2>/dev/null) in
        "$programs"/*) echo "${exe//[!0-9]/}" ;;
        esac
    done
}

shm_files() {
    find /dev/shm -mindepth 1 -maxdepth 1 -name '*gba*' 2>/dev/null | sort
}

# NUMBER: so many processes run.
running() {
    [ "$(processes | wc -l)" -eq "$1" ]
}

# The directory of Open MPI's own files, which it cannot remove when it is killed.
put_apart() {
    apart=(--mca orte_tmpdir_base "$work" --mca btl_vader_backing_directory "$work")
}

# NAME: another job holds this simulated device, so that it outlives killed jobs. That job has one
# group, for its MPI_COMM_WORLD of 2 ranks.
hold() {
    until_true running 0 # processes of a killed job may still end
    "$mpirun" "${selection[@]}" "${apart[@]}" --mca coll_gba_barrier_device_path "sim:$1" -np 2 \
        "$programs/many" 1000000000 >"$work/holder" 2>&1 &
    holder=$!
    until_true running 2
    holders=$(processes)
}

let_go() {
    local pid
    for pid in $holders; do
        kill -KILL "$pid"
    done
    wait "$holder" 2>/dev/null || true
    until_true running 0
}

# RANKS PROGRAM [ARGUMENT...]: a job to be killed, on the path of path_options.
start_victim() {
    local ranks=$1 program=$2
    shift 2
    "$mpirun" "${selection[@]}" "${apart[@]}" "${path[@]}" -np "$ranks" "$programs/$program" "$@" \
        >"$out" 2>&1 &
    job_pid=$!
}

# WHOM: "rank"; "job": mpirun and all ranks; "parents": these, but no process that a rank has forked.
kill_victim() {
    case $1 in
    rank) kill -KILL "$(newcomers | head -n 1)" ;;
    job)
        # shellcheck disable=SC2046 # several
        kill -KILL "$job_pid" $(newcomers)
        ;;
    parents)
        holders+=$'\n'$(newcomers | grep -vxF "$(pgrep -P "$job_pid")") # the children end with the holder
        # shellcheck disable=SC2046 # several
        kill -KILL "$job_pid" $(pgrep -P "$job_pid")
        ;;
    esac
    wait "$job_pid" 2>/dev/null || true
    until_true no_newcomers
    cat "$out"
}

# WHOM is killed in its barriers, while another process holds the simulated device. The device then has
# all of its groups again, and nothing is left of the job.
killed() {
    local before name=killed-$$ count=6 victim=(many 1000000000)
    limit 120
    if [ "$1" = parents ]; then
        export GBA_TEST_STUCK=fork
        count=10 victim=(stuck 1)
    fi
    before=$(shm_files)
    put_apart
    hold "$name"
    path_options "sim:$name"
    start_victim 4 "${victim[@]}"
    until_true running "$count"
    until_true grep -q 'MPI_COMM_WORLD .*sim: group' "$out"
    kill_victim "$1"
    # All groups except the holder's are free.
    job "${path[@]}" -np 2 -- groups 31 1
    lines 31 'early [0-9]+ .*sim: group'
    let_go
    [ "$(shm_files)" = "$before" ] || fail "left in /dev/shm: $(shm_files)"
}

newcomers() {
    processes | grep -vxF "$holders"
}

no_newcomers() {
    ! newcomers >/dev/null
}

# Sets $stopped to the processes of the test that SIGSTOP has stopped.
one_stopped() {
    local pid
    stopped=''
    for pid in $(processes); do
        ! grep -q '^State:.*T' "/proc/$pid/status" 2>/dev/null || stopped+=" $pid"
    done
    [ -n "$stopped" ]
}

# How many processes of the programs of the tests gba_info --jobs shows.
shown() {
    "$build/gba/tools/gba_info" --jobs | sed -n 's/.*, pid \([0-9]*\), .*/\1/p' | grep -cxFf <(processes)
}

members=3 # of the jobs of stuck

# Run a job in which the last rank is stopped before its sixth barrier, until the stall is reported.
stopped_job() {
    limit 60
    : >"$out"
    job "${path[@]}" --mca coll_gba_barrier_stuck_after 3 "$@" >/dev/null &
    job_pid=$!
    until_true one_stopped
    until_true grep -q 'barrier 6 .*stalled for' "$out"
    "$build/gba/tools/gba_info" --jobs | grep -qE 'rank 1, user [0-9]+, pid [0-9]+, stuck: (waits in|has begun nonblocking) barrier 6 of ' ||
        fail "gba_info --jobs does not show rank 1"
    [ -n "${HOSTS-}" ] || [ "$(shown)" -eq "$members" ] || fail "gba_info --jobs shows $(shown) processes"
    one_stopped
    # shellcheck disable=SC2086 # several
    kill -CONT $stopped
    wait "$job_pid"
    cat "$out"
    lines 1 '^stuck: right$'
    lines 0 '^FAIL'
}

# MOST PATTERN: 1 to so many processes report with it, each once at a time: the report comes again, after longer times.
reported_by() {
    local processes
    grep -E "$2" "$out" | sed -E 's/^\[([^]]*)\].* stalled for ([0-9]+) s.*/\1 \2/' | sort >"$work/reports"
    [ -z "$(uniq -d "$work/reports")" ] || fail "reported twice: $2"
    processes=$(cut -d ' ' -f 1 "$work/reports" | sort -u | wc -l)
    case $processes in
    1 | "$1") ;;
    *) fail "$processes processes report: $2" ;;
    esac
}

# NAME PATH [WHERE]: one rank reports barrier 6 of that communicator. WHERE: a pattern of what the missing rank does.
stall_reported() {
    reported_by 1 "$1 .*barrier 6 \\($2\\) stalled for [0-9]+ s: $((members - 1)) of $members members have arrived; missing: rank $((members - 1)) on $(hostname)\$"
    reported_by 1 'barrier 6 .*stalled for'
    [ $# -lt 3 ] || grep -qE "$1 .*: rank $((members - 1)) on $(hostname) \\(pid [0-9]+\\): $3" "$out" ||
        fail "the last rank: not \"$3\""
}

# HOW PATH NAME [OPTION...]: the missing rank is reported once, and the job continues when that rank does. HOW: of `stuck`.
# A stopped process reports no stall, so the next one does.
stalled_stopped() {
    local how=$1 name=$3
    path_options "$2"
    shift 3
    stopped_job "$@" -np "$members" -- stuck "$how"
    stall_reported MPI_COMM_WORLD "$name" 'is stopped, waits in no barrier'
    lines 1 'barrier 6 has ended after [0-9]+ s$'
}

# GBA_TEST_STUCK COMMAND...: with that setting of `stuck`.
stalled_with() {
    export GBA_TEST_STUCK=$1
    "${@:2}"
}

# HOW AGREE_AFTER NAME [WHERE [PATH]]: barriers before the ranks agree on a path, and the one that agrees; or, on the
# fallback, those that are queued behind a nonblocking one, which has agreed.
stalled_unagreed() {
    path_options "${5:-none}"
    stopped_job --mca coll_gba_barrier_agree_after "$2" -np "$members" -- stuck "$1" 5 dup
    stall_reported 'DUP FROM 0' "$3" "is stopped, ${4:-waits in no barrier}"
    lines 1 "barrier 6 has ended after [0-9]+ s\$"
}

# HOW AGREE_AFTER PATH NAME WHERE: the stall is reported, and after abort_after it ends the job. HOW: of `stuck`.
stalled_aborted() {
    limit 60
    path_options "$3"
    fails job "${path[@]}" --mca coll_gba_barrier_agree_after "$2" --mca coll_gba_barrier_stuck_after 2 \
        --mca coll_gba_barrier_abort_after 4 -np "$members" -- stuck "$1" 5 dup
    stall_reported 'DUP FROM 0' "$4" "$5"
    grep -m 1 -A 100 'barrier 6 .*stalled for' "$out" | grep -q 'stalled for 4 s (abort_after)' || fail "no abort after the report"
    until_true running 0
}

# All ranks have arrived, and the one that passes on what others wait for is stopped. The second report says it.
stalled_inside() {
    limit 60
    path_options none
    fails job "${path[@]}" --mca coll_gba_barrier_sw_algorithm dissemination --mca coll_gba_barrier_stuck_after 2 \
        --mca coll_gba_barrier_abort_after 8 -np "$members" -- stuck 7
    reported_by 1 'barrier 6 \(software\) stalled for [0-9]+ s: 3 of 3 members have arrived; no member is missing, but one does not go on$'
    grep -qE 'rank 0 on .*: is stopped, waits in barrier 6 of ' "$out" || fail "rank 0 is not named"
    until_true running 0
}

# AGREE_AFTER PATH NAME: the last rank waits in another communicator, and both are reported.
stalled_crossed() {
    stalled_aborted 5 "$@" 'waits in barrier 1 of MPI_COMM_WORLD .* for [0-9]+ s'
    grep -qE 'MPI_COMM_WORLD .*: ranks? 0.*waits in barrier 6 of .*DUP FROM 0' "$out" || fail "the other stall is not reported"
    lines 0 'stalled for 2 s.*no member that this process sees is missing'
}

# AGREE_AFTER PATH NAME: a second thread of the last rank is in barriers of another communicator, of higher numbers.
stalled_threads() {
    stalled_aborted 6 "$@" 'waits in (no barrier; it has waited last in )?barrier [0-9]+ of MPI_COMM_WORLD'
}

# PATH NAME: no rank can open a file, so no report says where the missing rank is.
stalled_files() {
    path_options "$1"
    stalled_with files stopped_job -np "$members" -- stuck 1
    lines 0 'cannot|open files'
    [ $# -lt 2 ] || stall_reported MPI_COMM_WORLD "$2"
}

# Only the status pages say who has arrived.
stalled_files_fallback() {
    stalled_files fallback
    reported_by 2 'barrier 6 \(fallback\) stalled for [0-9]+ s: 1 of 3 members have arrived \(2 not visible to this process\)'
}

# Many ranks: a line for each place, and a time that a user can wait for.
stalled_many() {
    local members=40
    stalled_crossed 100 none fallback
    reported_by 1 'MPI_COMM_WORLD .*barrier 1 .*stalled for'
    [ "$(grep -c 'MPI_COMM_WORLD.*: rank .* and 35 more: .*waits in barrier 6 of ' "$out")" -eq "$(wc -l <"$work/reports")" ] ||
        fail "not a line for each place"
    [ "$(cut -d ' ' -f 2 "$work/reports" | sort -n | head -n 1)" -lt "$(limit_of 10)" ] || fail "the report comes late"
}

# Open MPI's own barrier of an intercommunicator, with the ranks of the job. Its name has a newline.
stalled_inter() {
    path_options none
    stopped_job -np "$members" -- stuck 1 5 inter
    stall_reported 'both[?]groups' fallback 'is stopped, waits in no barrier'
    lines 1 "both[?]groups .*barrier 6 has ended after [0-9]+ s\$"
}

# PATH NAME: the same for a dead rank, in a job that does not end with it.
stalled_dead() {
    local before holders='' apart job_pid
    limit 60
    before=$(shm_files)
    put_apart
    path_options "$1"
    path+=(--mca coll_gba_barrier_stuck_after 3 --mca orte_enable_recovery 1)
    : >"$out"
    start_victim 3 stuck 2
    until_true grep -q 'barrier 6 .*stalled for' "$out"
    kill_victim job
    stall_reported MPI_COMM_WORLD "$2"
    [ "$(shm_files)" = "$before" ] || fail "left in /dev/shm: $(shm_files)"
}

all_stalled() {
    test_alone stalled-stopped-sim stalled_stopped 1 sim sim
    test_alone stalled-forked-sim stalled_with fork stalled_stopped 1 sim sim
    test_alone stalled-forked-fallback stalled_with fork stalled_unagreed 1 100 fallback
    test_alone stalled-files-sim stalled_files sim sim
    test_alone stalled-files-fallback stalled_files_fallback
    test_alone stalled-stopped-none stalled_stopped 1 none software
    test_alone stalled-stopped-tree stalled_stopped 1 none software --mca coll_gba_barrier_sw_algorithm tree
    test_alone stalled-reporter-sim stalled_stopped 3 sim sim
    test_alone stalled-reporter-fallback stalled_unagreed 3 100 fallback
    test_alone stalled-unagreed stalled_unagreed 1 100 fallback
    test_alone stalled-agreement stalled_unagreed 1 5 agreement
    test_alone stalled-begun stalled_unagreed 4 5 agreement \
        'has begun nonblocking barrier 6 of .*DUP FROM 0.* [0-9]+ s ago, without progress'
    test_alone stalled-inter stalled_inter
    test_alone stalled-queued stalled_with queued stalled_unagreed 1 4 fallback 'waits in no barrier' fallback
    test_alone stalled-inside stalled_inside
    test_alone stalled-stopped-node stalled_stopped 1 sim sim --mca coll_gba_barrier_hierarchy node
    # The device dies in the fifth barrier, so that only notifications complete the sixth; or in the
    # sixth.
    test_alone stalled-stopped-lost stalled_stopped 1 'sim?die_after=4' 'sim, failed'
    test_alone stalled-stopped-dying stalled_stopped 1 'sim?die_after=5' 'sim(, failed)?'
    test_alone stalled-aborted-sim stalled_aborted 1 1 sim sim 'is stopped, waits in no barrier'
    test_alone stalled-aborted-fallback stalled_aborted 1 100 none fallback 'is stopped, waits in no barrier'
    test_alone stalled-crossed-sim stalled_crossed 1 sim sim
    test_alone stalled-crossed-none stalled_crossed 1 none software
    test_alone stalled-crossed-fallback stalled_crossed 100 none fallback
    test_alone stalled-threads-sim stalled_threads 1 sim sim
    test_alone stalled-threads-fallback stalled_threads 100 none fallback
    test_alone stalled-many stalled_many
    test_alone stalled-dead-sim stalled_dead sim sim
    test_alone stalled-dead-none stalled_dead none software
    test_alone stalled-dead-lost stalled_dead 'sim?die_after=4' 'sim, failed'
}
