# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Time limits of the tests, and when one is run again. Source it with $top set.
#
# A limit in a test is the time on a quiet machine. $GBA_TEST_FACTOR, which is measured once, at the start,
# multiplies all of them: those of the scripts (limit_of) and those of the test programs (tests/limit.h).
# shellcheck disable=SC2154 # set by the test

# shellcheck source=contrib/launcher.sh
. "$top/contrib/launcher.sh"

# Set and export $GBA_TEST_FACTOR, unless it is set: 1 on a quiet machine; the processes that run and
# the load of the last minute count.
measure_load() {
    [ -z "${GBA_TEST_FACTOR-}" ] || return 0
    GBA_TEST_FACTOR=$(awk -v cores="$(processors)" '{
        split($4, running, "/")
        load = running[1] - 1 > $1 ? running[1] - 1 : $1
        print 1 + int(load / cores)
    }' /proc/loadavg 2>/dev/null || echo 1)
    export GBA_TEST_FACTOR
}

# SECONDS: the limit on this machine.
limit_of() {
    echo $(($1 * ${GBA_TEST_FACTOR:-1}))
}

# LOG: it proves a fault that no lateness explains: an early exit, a barrier that does not end although all
# have arrived, a crash, or the report of a sanitizer or of valgrind. Such a test is not run again.
proves_fault() {
    grep -aqE -e 'left round|left a barrier early|left too early|was left before all|left round [0-9]+ before' \
        -e 'all ranks have arrived' \
        -e 'Segmentation fault|Bus error|Illegal instruction|[Ss]ignal:? [(]?(4|6|7|8|11)\b|stack smashing|Assertion .* failed' \
        -e 'ERROR: [A-Za-z]*Sanitizer|WARNING: ThreadSanitizer|runtime error:|ERROR SUMMARY: [1-9]|definitely lost: [1-9]' \
        -e 'exit status: (132|134|135|136|139)[)]' "$1"
}
