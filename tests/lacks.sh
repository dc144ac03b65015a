# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# For cases in which one process lacks a resource: each call of the plugin and of libgba for memory, a
# mapping, a file or a descriptor fails in turn (tests/mpi/lack_preload.c). All processes take the same
# barrier, or the job ends with one line that says why. Source it after runner.sh.
# shellcheck disable=SC2154 # variables of the two that source it

lack_most=300 # calls

# STATUS: the job has ended, and says why, once.
lack_ended() {
    [ "$1" -ne 124 ] && [ "$1" -ne 137 ] || fail "call $call: a hang"
    lines 0 '^FAIL'
    lines 0 '[Ss]egmentation fault|signal [0-9]+ \(|Abort(ed)? \(|double free|corrupted'
    lines 1 'coll gba(_barrier)?: .*(out of memory|cannot )'
}

# COMMAND...: a job for each call, until none is left to fail. COMMAND passes GBA_TEST_LACK_CALL on.
lack_jobs() {
    local call status
    limit 60
    for ((call = 1; call < lack_most; call++)); do
        status=0
        GBA_TEST_LACK_CALL=$call "$@" || status=$?
        [ "$status" -eq 0 ] || lack_ended "$status"
        grep -q '^lack_preload: call' "$out" || return 0
    done
    fail 'too many calls'
}

# PROCESS HOSTS DEVICE, for lack_jobs: from the start of the process on, it lacks each resource.
lack_once() {
    # shellcheck disable=SC2034 # set by row_option
    local options=() preload='' took
    row_path "$3"
    row_option preload=lack_preload
    row_option "hosts=$2"
    job -np 3 "${options[@]}" -x GBA_TEST_LACK_RANK="$1" -x GBA_TEST_LACK_CALL -x "LD_PRELOAD=$preload" -- early_exit 8
}
