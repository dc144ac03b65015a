# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What a tool prints, and its exit status. Source it with $top set to the sources and $work to a directory.
#
# tests/golden/TOOL has a row for each run, and further lines that the tool prints behind a bar:
#
#   STATUS|SETTINGS|ARGUMENTS|LINES|what the tool prints
#
# SETTINGS: words VARIABLE=VALUE of the environment, or NAME=VALUE for a parameter of coll/gba_barrier, or of scoll/gba
# with the prefix scoll_. The shell evaluates SETTINGS and ARGUMENTS, where ~ is $work and % is $name.
# LINES: beginnings of lines of standard output, with commas between them; "-": all lines, those of a help text up to
# "usage:"; "!": none. Lines of standard error have "error: " in front.
# $varying: expressions of sed -E for what differs between machines. The version is VERSION, several blanks are one.
# shellcheck disable=SC2154,SC2119,SC2120 # set by the tests; no arguments of golden_row

# TOOL PROGRAM: the program prints what tests/golden/TOOL has. $GBA_GOLDEN: write that file again.
golden() {
    program=$2
    while IFS='|' read -r status settings arguments lines _; do
        [ -z "$status" ] || golden_row
    done <"$top/tests/golden/$1" >"$work/golden"
    [ -z "${GBA_GOLDEN-}" ] || cp "$work/golden" "$top/tests/golden/$1"
    diff -U 3 "$top/tests/golden/$1" "$work/golden"
}

golden_row() {
    status=0
    (
        set -f
        eval "set -- $(golden_words "$settings")"
        for setting in "$@"; do
            case $setting in
            [A-Z]*) ;;
            scoll_*) setting=OMPI_MCA_$setting ;;
            *) setting=OMPI_MCA_coll_gba_barrier_$setting ;;
            esac
            export "${setting?}"
        done
        eval "set -- $(golden_words "$arguments")"
        exec timeout "$((60 * ${GBA_TEST_FACTOR:-1}))" "$program" "$@"
    ) >"$work/out" 2>"$work/err" </dev/null || status=$?
    printf '%s|%s|%s|%s|%s\n' "$status" "$settings" "$arguments" "$lines" "$(golden_printed)"
}

golden_words() {
    printf '%s\n' "$1" | sed "s#%#${name-%}#g; s#~#$work#g"
}

golden_printed() {
    {
        sed 's/^/error: /' "$work/err"
        case $lines in
        -) sed '/^[Uu]sage:/q' "$work/out" ;;
        *) grep -E "^($(printf '%s\n' "$lines" | tr , '|'))(  |:)" "$work/out" ;;
        esac
    } | sed -E "${varying-}; s#${name-%}#%#g; s#$work#~#g; s/^([a-z_-]+) [0-9]+(\.[0-9]+){2}\$/\1 VERSION/; s/  +/ /g; 1!s/^/|/"
}

# STATUS PATTERN COMMAND...: the command ends with that status, and prints a line with the pattern; '': it may print none.
ends() {
    ends_wanted=$1
    ends_pattern=$2
    shift 2
    ends_status=0
    "$@" >"$work/ends.out" 2>"$work/ends.err" </dev/null || ends_status=$?
    [ "$ends_status" -eq "$ends_wanted" ] && echo | grep -qE -e "$ends_pattern" "$work/ends.out" "$work/ends.err" - && return
    echo "exit status $ends_status"
    cat "$work/ends.out" "$work/ends.err"
    return 1
}

# STATUS COMMAND...: on a full disk, and with standard output closed, the command ends with that status and one line that
# says so.
loses() {
    loses_wanted=$1
    shift
    for loses_how in '>/dev/full' '>&-'; do
        loses_status=0
        eval '"$@" 2>"$work/lost.err" </dev/null' "$loses_how" || loses_status=$?
        [ "$loses_status" -eq "$loses_wanted" ] && grep -q ': output lost: ' "$work/lost.err" && continue
        echo "$loses_how: exit status $loses_status: $(cat "$work/lost.err")"
        return 1
    done
}
