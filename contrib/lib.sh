# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What contrib/demo and contrib/check share: packages, the build, mpirun. Source it with $top set to
# the top of the checkout and $log_dir to a directory.
# shellcheck disable=SC2154 # these two, and $work of quietly

# shellcheck source=contrib/launcher.sh
. "$top/contrib/launcher.sh"

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# WHAT COMMAND...: run a command that takes long. contrib/demo replaces this function to show progress.
run_phase() {
    shift
    "$@" 2>&1 </dev/null | tee "$log_dir/packages.log" | packages_progress
    # The last line reports success: a shell without pipefail has no other status of the command.
    tail -n 1 "$log_dir/packages.log" | grep -qx 'packages: installed'
}

# Of the output of apt-get: each package that is fetched or installed; on a terminal all in one line.
packages_progress() {
    progress_end='\n'
    [ ! -t 1 ] || progress_end='\r'
    awk -v end="$progress_end" '
        / newly installed, / { print "  " $0; total = $3 * 2; fflush() }
        /^Get:/ || /^Setting up / {
            line = sprintf("  %d of %d: %s", ++done, total, $1 == "Setting" ? $1 " " $2 " " $3 : "Get " $5)
            if (end == "\r") printf "%-78.78s\r", line
            else if (done % 20 == 0) print line
            fflush()
        }
        END { if (end == "\r") printf "%78s\r", "" }'
}

# COMMAND...: a call of apt-get. While another process holds a lock of apt, such as an upgrade in the background,
# the call is repeated, for ten minutes at most.
wait_for_apt() {
    apt_tries=120
    until "$@" 2>"$log_dir/apt.errors"; do
        cat "$log_dir/apt.errors"
        grep -q '^E: Could not get lock' "$log_dir/apt.errors" && [ "$apt_tries" -gt 0 ] || return 1
        apt_tries=$((apt_tries - 1))
        sleep "${apt_pause:-5}"
    done
}

# SUDO PACKAGE...: SUDO is "sudo" or "".
install_packages() {
    install_sudo=$1
    shift
    # shellcheck disable=SC2086 # a word, or none
    wait_for_apt $install_sudo env LC_ALL=C apt-get -q update &&
        wait_for_apt $install_sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
            apt-get -q -y --no-install-recommends install "$@" &&
        echo 'packages: installed'
}

# WHO...: install the Debian packages of contrib/packages that these (demo, steps of contrib/check) need and
# that are missing. On another system print the packages and continue: configure detects what is missing.
need_packages() {
    need_list=$(awk -v who="demo $*" '
        BEGIN { split(who, names, " "); for (i in names) wanted[names[i]] }
        /^#/ { next }
        { split($2, needs, ","); for (i in needs) if (needs[i] in wanted) { print $1; next } }' \
        "$top/contrib/packages")
    if ! command -v dpkg-query >/dev/null 2>&1; then
        say "This system is not Debian. Install the equivalents of these packages:" "$(echo "$need_list" | tr '\n' ' ')"
        return 0
    fi
    need_missing=
    for need_package in $need_list; do
        # A name of each release, between bars: one of them is enough.
        need_names=$(echo "$need_package" | tr '|' ' ')
        # shellcheck disable=SC2016,SC2086 # the format is dpkg-query's; words
        case $(dpkg-query -W -f '${Status}\n' $need_names 2>/dev/null) in
        *'ok installed'*) continue ;;
        esac
        for need_name in $need_names; do
            need_package=$need_name
            ! apt-cache show "$need_name" >/dev/null 2>&1 || break
        done
        need_missing="$need_missing $need_package"
    done
    # shellcheck disable=SC2086 # a list of words
    install_missing $need_missing
}

# PACKAGE...: install these Debian packages, as root or by sudo.
install_missing() {
    [ $# -gt 0 ] || return 0
    need_sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            die "there is no sudo. Ask an administrator to run: apt-get install $*"
        need_sudo=sudo
    fi
    if [ -n "$need_sudo" ] && ! sudo true; then
        die "sudo was refused. Ask an administrator to run: apt-get install $*"
    fi
    say "Installing Debian packages: $*"
    if ! run_phase "Packages" install_packages "$need_sudo" "$@"; then
        tail -n 20 "$log_dir/packages.log" >&2
        die "the packages could not be installed: $*; see $log_dir/packages.log"
    fi
}

# A space or a quote in the path is more than autotools can take; a colon more than search paths. The
# build is in the checkout, so that must be writable.
check_top() {
    case $top in
    *[!A-Za-z0-9_./+@,=~-]*)
        die "the checkout is in '$top'; the build needs a path of letters, digits and _./+@,=~- only"
        ;;
    esac
    mkdir -p "$top/build" 2>/dev/null && [ -w "$top/build" ] && [ -w "$top" ] ||
        die "cannot write to $top, and the build needs to; copy the checkout to a place of your own"
}

# DIR PREFIX [OPTION...]: configure in DIR, unless that is done for this checkout and prefix.
configure_tree() {
    configure_dir=$1
    configure_prefix=$2
    shift 2
    if [ ! -x "$top/configure" ] || [ ! -f "$top/Makefile.in" ] ||
        [ ! -f "$top/contrib/aux/ltmain.sh" ]; then
        (cd "$top" && autoreconf -i) || return 1
    fi
    # The build contains its own path, so a checkout that was moved or copied is configured again.
    configure_stamp="$top $configure_prefix $*"
    if [ -f "$configure_dir/config.status" ] &&
        [ "$(cat "$configure_dir/.configured" 2>/dev/null)" = "$configure_stamp" ]; then
        return 0
    fi
    mkdir -p "$configure_dir"
    if [ -f "$configure_dir/Makefile" ] && [ -f "$configure_dir/.configured" ]; then
        (cd "$configure_dir" && make -s distclean) || true
    fi
    (cd "$configure_dir" && "$top/configure" --prefix="$configure_prefix" "$@") || return 1
    printf '%s\n' "$configure_stamp" >"$configure_dir/.configured"
}

# DIR: configure in DIR a build with every access to memory and every shift and overflow watched.
configure_asan() {
    configure_tree "$1" "$1/root" \
        CFLAGS='-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'
}

# MPIRUN: settings for it. Open MPI runs as root only with two variables, and more ranks than cores only
# with a third.
setup_mpirun() {
    if [ "$(id -u)" -eq 0 ]; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    allow_oversubscription "$1"
}

# BUILD: what "make check" runs there.
all_tests() {
    # shellcheck disable=SC2016 # a makefile's variable
    printf 'include Makefile\nlist:\n\t@echo $(TESTS)\n' | make -s -C "$1" -f - list
}

# BUILD: the same without the unit tests that take longest: searches, many clients, and
# ThreadSanitizer. These depend on nothing but the code of libgba and the compiler.
short_tests() {
    for short_test in $(all_tests "$1"); do
        case ${short_test##*/} in
        test_domains | test_algo | test_hierarchy | test_failover | test_watchdog) ;;
        test_software | test_domains_failover | test_sim | test_sim_alloc | test_load | test_absence) ;;
        test_algo_tsan | test_failover_tsan) ;;
        *) echo "$short_test" ;;
        esac
    done
}

# LOG: the lines of a step's log that its result does not show: what failed once only, and what was left out and why.
notable() {
    sed -nE '/^(unstable: |tested: |left out: two hosts|searches skipped: |skipped: |skipped (packages|driver|gpu|bookworm|trixie|sid): |[a-z0-9_-]+: (.*[ :])?skipped[:,])/p' "$1"
}

# Whole seconds, for durations.
now() {
    date +%s
}

# COMMAND...: run it; its output is in $work/log, and the end of that is shown if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || {
        tail -n 30 "$work/log"
        return 1
    }
}

# Tests in a script: test_that WHAT COMMAND... for each, test_summary at the end.
tests_passed=0
tests_failed=0

test_that() {
    test_what=$1
    shift
    if "$@"; then
        tests_passed=$((tests_passed + 1))
        say "ok $test_what"
    else
        tests_failed=$((tests_failed + 1))
        say "FAILED: $test_what"
    fi
}

# LOG STATUS: set $ok and $bad to what a script with that exit status has counted. One that counts nothing is one test,
# and one that failed without a failed test has one.
counts_of() {
    counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1 || true)
    [ -n "$counts" ] || counts="$(($2 == 0)) passed, $(($2 != 0)) failed"
    ok=${counts%% *}
    bad=${counts#* passed, }
    bad=${bad%% *}
    [ "$2" -eq 0 ] || [ "$bad" -ne 0 ] || bad=1
}

# LOG STATUS: show the tests of that script, and count them.
add_tests() {
    grep -avE '^[0-9]+ passed, [0-9]+ failed$' "$1" || true
    counts_of "$1" "$2"
    tests_passed=$((tests_passed + ok))
    tests_failed=$((tests_failed + bad))
}

test_summary() {
    say "$tests_passed passed, $tests_failed failed"
    [ "$tests_failed" -eq 0 ]
}
