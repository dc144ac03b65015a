# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The common part of tests/mpi/run and tests/shmem/run: twice as many cases as there are cores run at a
# time, each in its own directory and process group. Source it with $logs (a directory), $patterns and
# $list set. A case finds its directory in $work and keeps the output of its last job in $out.
#
# A job mostly waits while it starts and ends: one of 2 ranks takes 0.4 s, and its processes 0.2 s of a
# core. Four cases at a time take two thirds of the time of two on two cores. Cases do not depend on
# their timing. Cases that count processes or processor time run by test_alone.
# shellcheck disable=SC2154,SC2034 # variables of the two, read and set

# The cases are about the paths, so the ranks agree on one in the first blocking barrier. Cases about
# the agreement set another value.
export OMPI_MCA_coll_gba_barrier_agree_after=0

# shellcheck source=tests/load.sh
. "$top/tests/load.sh"
measure_load
workers=${GBA_TEST_WORKERS:-$((2 * $(processors)))}
strict=true # a pattern without a case is an error
passed=0
failed=0
case_count=0
case_names=()
case_begins=()
case_commands=() # each quoted, to run it again
declare -A case_numbers=() # of the cases that run, by the process
declare -A pattern_seen=()
again=() # the cases that failed, and are run once more at the end
at_end=false # while these run
runner_dir=$(mktemp -d)
chmod 711 "$runner_dir" # some jobs belong to another user
work=$runner_dir
out=$work/out

cleanup() {
    local pid
    # A case is the leader of a process group of its own, with all that it has started.
    for pid in "${!case_numbers[@]}"; do
        kill -KILL -- "-$pid" 2>/dev/null || true
    done
    rm -rf "$runner_dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# For the cases.

fail() {
    echo "NOT RIGHT: $*"
    return 1
}

# A command that has to fail.
fails() {
    if "$@"; then
        fail "should not have worked: $*"
    fi
}

# STEP: set $patterns to the cases that the table of tests/README.md has for that step of contrib/check.
choose_cases() {
    # Not every Open MPI has them all.
    strict=false
    set -f
    # shellcheck disable=SC2207 # words
    patterns=($(awk -F ' *[|] *' -v step="$1" '$4 == step { gsub("`", "", $3); print $3 }' "$top/tests/README.md"))
    set +f
    [ "${#patterns[@]}" -gt 0 ] || die "tests/README.md has no cases of $1"
}

# NUMBER TEXT: so many lines of the output have the extended regular expression.
lines() {
    local count
    count=$(grep -acE "$2" "$out" || true)
    [ "$count" -eq "$1" ] || fail "$count lines with \"$2\", not $1"
}

# REASON: the case cannot be run here.
skip() {
    echo "$*" >"$work/skipped"
    exit 0
}

# SECONDS COMMAND...: run it so long at most, on a machine without other work. In the foreground: its process group is the case's, so that
# it ends with the case.
limited() {
    echo >>"$work/jobs"
    timeout --foreground -k 5 "$(limit_of "$1")" "${@:2}"
}

# NAME FUNCTION [ARGUMENT...]: a case; it fails when one of its commands does.
test_case() {
    case_wanted "$1" || return 0
    while [ "${#case_numbers[@]}" -ge "$workers" ]; do
        case_ended
    done
    case_started "$@"
}

# NAME...: cases whose functions have their names, with _ for -.
test_cases() {
    local name
    for name in "$@"; do
        test_case "$name" "${name//-/_}"
    done
}

# As test_case, while no other case runs.
test_alone() {
    case_wanted "$1" || return 0
    cases_wait
    case_started "$@"
    cases_wait
}

# After the last case: the counts. False if a case failed.
cases_end() {
    local pattern number
    cases_wait
    ! $list || exit 0
    at_end=true
    for number in "${again[@]}"; do
        eval "case_started ${case_commands[number]}"
        cases_wait
    done
    for pattern in "${patterns[@]}"; do
        [ -z "${pattern_seen[$pattern]-}" ] || continue
        ! $strict || { failed=$((failed + 1)) && echo "FAIL there is no case $pattern"; }
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

case_wanted() {
    local pattern wanted=false
    for pattern in "${patterns[@]-*}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $1 != $pattern ]] || { wanted=true && pattern_seen[$pattern]=1; }
    done
    ! $wanted || ! $list || echo "$1"
    $wanted && ! $list
}

case_started() {
    case_names[++case_count]=$1
    case_commands[case_count]=$(printf '%q ' "$@")
    shift
    case_begins[case_count]=${EPOCHREALTIME/[.,]/}
    work=$runner_dir/$case_count
    out=$work/out
    mkdir "$work"
    : >"$work/jobs"
    # In a group of its own (set -m), so that whatever hangs can be ended with it.
    set -m
    (
        trap 'times >"$work/times"' EXIT
        set -e
        "$@"
    ) >"$work/log" 2>&1 </dev/null &
    set +m
    case_numbers[$!]=$case_count
}

cases_wait() {
    while [ "${#case_numbers[@]}" -gt 0 ]; do
        case_ended
    done
}

# Wait for the next case to end, and print its line.
case_ended() {
    local pid='' status=0 number name directory cost
    wait -n -p pid "${!case_numbers[@]}" || status=$?
    # On a busy machine bash has been seen to set no pid, of a case that ended at once.
    if [ -z "${pid-}" ]; then
        for pid in "${!case_numbers[@]}"; do
            kill -0 "$pid" 2>/dev/null || break
        done
        status=0
        wait "$pid" || status=$?
    fi
    kill -KILL -- "-$pid" 2>/dev/null || true
    number=${case_numbers[$pid]}
    unset "case_numbers[$pid]"
    name=${case_names[number]}
    directory=$runner_dir/$number
    cost=$(case_cost $(((${EPOCHREALTIME/[.,]/} - case_begins[number]) / 1000)) "$directory")
    if [ -f "$directory/skipped" ]; then
        echo "skipped $name: $(cat "$directory/skipped")"
    elif [ "$status" -eq 0 ] && ! $at_end; then
        passed=$((passed + 1))
        echo "ok $name ($cost)"
    elif [ "$status" -eq 0 ]; then
        cp "$directory/log" "$logs/$name.second.log"
        if [ -n "${GBA_TEST_STRICT-}" ]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
        echo "unstable: $name ($cost): $logs/$name.first.log, $logs/$name.second.log"
    elif ! $at_end && { [[ $name == broken-* ]] || ! proves_fault "$directory/log"; }; then
        cp "$directory/log" "$logs/$name.first.log"
        again+=("$number")
        echo "again $name ($cost): it failed, and runs once more at the end: $logs/$name.first.log"
    else
        failed=$((failed + 1))
        cp "$directory/log" "$logs/$name.log"
        echo "FAIL $name ($cost): $logs/$name.log"
        grep -ahE '^(NOT RIGHT|FAIL)' "$directory/log" | head -n 3 | sed 's/^/    /' || true
    fi
    rm -rf "$directory"
}

# MS DIRECTORY: how long the case took, on the clock and of the processors, and how many jobs it started.
case_cost() {
    local user=0m0.0s system=0m0.0s cpu
    { read -r && read -r user system; } 2>/dev/null <"$2/times" || true
    cpu=$(($(milliseconds "$user") + $(milliseconds "$system")))
    printf '%d.%d s, processor %d.%d s, %d jobs' $(($1 / 1000)) $(($1 % 1000 / 100)) \
        $((cpu / 1000)) $((cpu % 1000 / 100)) "$(wc -l <"$2/jobs")"
}

# What `times` prints, such as 1m2.345s.
milliseconds() {
    local seconds=${1#*m}
    seconds=${seconds%s}
    echo $((${1%m*} * 60000 + 10#${seconds/[.,]/}))
}
