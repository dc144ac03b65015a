# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases with every memory access checked. run sources this file, after cases.sh, for tests/mpi/sanitize.
# The counts are small, because the checks are slow.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# sim | lost | none | v1 | v2 | v3: sets $watched to the options of a row for it. Each lost message costs retry_after,
# and many are lost here.
watched_path() {
    case $1 in
    lost) watched='sim?lose_arrival=17&lose_release=19 retry_after=1' ;;
    v?) watched="none sw_algorithm=$1" ;;
    *) watched=$1 ;;
    esac
}

# Prints memcheck's errors (XML) that have a frame in one of our objects, one line each. All their
# stacks count: the access, the allocation, and the free.
errors_of_ours() {
    awk '
        /<error>/ { ours = 0; kind = frames = "" }
        /<kind>/ { kind = $0 }
        # The file name, not its directories.
        /<obj>/ && /gba[^\/]*<\/obj>/ { ours = 1 }
        /<fn>/ { frames = frames " " $0 }
        /<\/error>/ && ours {
            line = kind ":" frames
            gsub(/<[^>]*>/, "", line)
            gsub(/ +/, " ", line)
            print line
        }' "$@"
}

# PATH PROGRAM [ARGUMENT...]: two ranks under valgrind's memcheck. There are no suppressions, because a
# suppression of PMIx's errors could hide ours. All errors are read, and only ours count.
# keep-debuginfo: an address of a library that was closed is not taken for one of the library that is there now.
valgrind_right() {
    local watched status found
    watched_path "$1"
    shift
    wrapper=(valgrind --error-limit=no --num-callers=40 --leak-check=no --keep-debuginfo=yes --xml=yes
        --xml-file="$work/valgrind.%p.xml")
    # In a shell of its own: the reports of a job that failed say why.
    set +e
    (set -e && row_job "+ | 2 | $watched limit=300 | $* | took")
    status=$?
    set -e
    found=$(errors_of_ours "$work"/valgrind.*.xml)
    # Both ranks were checked to their end.
    [ "$(grep -l '</valgrindoutput>' "$work"/valgrind.*.xml | wc -l)" -eq 2 ] || fail "not two reports"
    rm -f "$work"/valgrind.*.xml
    if [ -n "$found" ]; then
        echo "$found"
        fail "valgrind: $(echo "$found" | head -n 1)"
    fi
    [ "$status" -eq 0 ] || fail "status $status"
}

# MODE PATH: what one more communicator costs, in instructions and in system calls, while 100 and
# while 3,000 live: equal within 20 percent; or while so many agree at the same time: within 50, because rank 0, which is
# slowed down, then waits with all of them in progress. The least of all samples counts, the one with the least waiting. Calls that wait are left out; valgrind prints a second line at the end of a call that may
# block.
living_equal() {
    local mode=$1
    limit 900
    path_options "$2"
    cat >"$work/counted" <<'END'
#!/bin/bash
[ "${OMPI_COMM_WORLD_RANK-$PMIX_RANK}" = 0 ] || exec "$@"
exec valgrind -q --tool=callgrind --trace-syscalls=yes --log-file="$COUNTED.log" --callgrind-out-file="$COUNTED" \
    --collect-atstart=no --toggle-collect=few --dump-after=few --toggle-collect=many --dump-after=many "$@"
END
    chmod +x "$work/counted"
    wrapper=("$work/counted")
    job -x COUNTED="$work/counts" "${path[@]}" --mca coll_gba_barrier_agree_after 0 -np 2 -- living "$mode"
    took "$2"
    awk -v mode="$mode" '
        function least(what, name, value) {
            if (mode == "at_once") value /= name == "few" ? 100 : 3000
            if (!((what, name) in found) || value < found[what, name]) found[what, name] = value
        }
        /^desc: Trigger: --dump-after=/ { name = $3; sub(/.*=/, "", name) }
        /^totals: / && name != "" { least("instructions", name, $2); name = "" }
        /sys_getpriority/ {
            inside = !inside
            if (!inside) least("system calls", / 0, 0 /  ? "few" : "many", calls)
            calls = 0
            next
        }
        / \.\.\. \[async\]/ { next }
        /^SYSCALL/ && inside && !/sched_yield|sys_(clock_gettime|epoll_wait|poll|futex|read|recv[a-z]*) / { calls++ }
        END {
            for (i = split("instructions,system calls", names, ","); i > 0; i--) {
                few = found[names[i], "few"]; many = found[names[i], "many"]
                printf "%s: %d besides 100, %d besides 3000\n", names[i], few, many
                bad = bad || few == "" || many == "" || many > (mode == "at_once" ? 1.5 : 1.2) * few
            }
            exit bad
        }' "$work/counts".* || fail "the cost depends on the number of communicators"
    rm -f "$work/counts".*
}

living_switch() {
    switch_start 127.0.0.1
    living_equal agreed "$unix"
}

# Plugin, library and program are built with AddressSanitizer and UndefinedBehaviorSanitizer, which end a process at the
# first finding. Open MPI's own leaks are ignored.
all_asan() {
    local device watched
    export ASAN_OPTIONS=detect_leaks=0
    for device in sim lost none v1 v2 v3; do
        watched_path "$device"
        rows <<END
asan-early_exit-4-$device | 4 | $watched | early_exit 60 | took
asan-kinds-3-$device | 3 | $watched | kinds | took
asan-outstanding-3-$device | 3 | $watched | ibarrier 8 | took
asan-ibarrier-3-$device-1 | 3 | $watched | ibarrier 1 | took
asan-ibarrier-4-$device-5 | 4 | $watched | ibarrier 5 | took
asan-threads-3-$device | 3 | $watched | threads 3 | took
END
    done
    rows <<'END'
asan-nonblocking-3-sim | 3 | sim | nonblocking 1 4 | took
asan-nonblocking-3-none | 3 | none | nonblocking 1 1 | took
asan-scarce-3 | 3 | sim | scarce moves 60 32 1 | took
END
}

all_valgrind() {
    test_case valgrind-kinds-sim valgrind_right sim kinds
    test_case valgrind-early_exit-lost valgrind_right lost early_exit 60
    test_case valgrind-ibarrier-sim-5 valgrind_right sim ibarrier 5
    test_case valgrind-nonblocking-none valgrind_right none nonblocking 1 4
    test_case valgrind-kinds-none valgrind_right none kinds
    test_case valgrind-early_exit-v1 valgrind_right v1 early_exit 60
    test_case valgrind-early_exit-v2 valgrind_right v2 early_exit 60
    test_case valgrind-early_exit-v3 valgrind_right v3 early_exit 60
    test_case valgrind-living-none living_equal agreed none
    test_case valgrind-living-sim living_equal fresh sim
    test_case valgrind-living-scarce living_equal agreed sim
    test_case valgrind-living-switch living_switch
    test_case valgrind-at-once-none living_equal at_once none
    test_case valgrind-at-once-scarce living_equal at_once sim
}
