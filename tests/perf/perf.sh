# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of gba_perf share. Source it with $top set; $1 is the build.
# shellcheck disable=SC2016,SC2034,SC2154 # variables of Perl; set for the tests; set by them
build=$(cd "${1:?usage: tests/perf/run BUILD}" && pwd -P)
# shellcheck source=contrib/lib.sh
. "$top/contrib/lib.sh"
# shellcheck source=tests/load.sh
. "$top/tests/load.sh"
# shellcheck source=tests/golden.sh
. "$top/tests/golden.sh"
prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
perf=$prefix/bin/gba_perf
report=$(find "$prefix" -name gba_perf_report -type f | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
setup_mpirun mpirun
eval "$("$prefix/bin/gba-env")"
oshmem=false
! [ -x "${report%_report}_shmem" ] || oshmem=true

# COMMAND...: succeeds, and prints nothing on stderr but a line for each run.
quietly() {
    "$@" >"$work/out" 2>"$work/err" && ! grep -qv '^run [0-9]* of [0-9]*: ' "$work/err" && return 0
    tail -n 20 "$work/out" "$work/err"
    return 1
}

# PERL: an expression about the JSON value $j in $work/out. The function cell(RANKS, CALL, SETTING) is the
# result that has these. Perl, which automake needs, has a parser.
json_is() {
    perl -MJSON::PP -0777 -e '
        our $j = JSON::PP->new->decode(<STDIN>);
        sub cell { my @c = grep { "$_->{ranks} $_->{call} $_->{setting}" eq "@_" } @{$j->{results}};
            die "@_: " . @c . " results\n" unless @c == 1; $c[0] }
        my $good = eval $ARGV[0]; die $@ if $@; exit($good ? 0 : 1)' "$1" <"$work/out" && return 0
    echo "false: $1"
    return 1
}

# RECORDS TEXT...: the picture of these records has the texts.
svg_has() {
    local text
    quietly "$perf" --from "$1" --plot "$work/plot.svg" || return 1
    tr -d '\n' <"$work/plot.svg" | grep -o '<text.*</text>' | sed 's/<[^>]*>/\n/g' >"$work/texts"
    shift
    for text in "$@"; do grep -qF -e "$text" "$work/texts" || { echo "no text: $text"; return 1; }; done
}
