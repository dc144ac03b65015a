# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases as rows of tables, for tests/mpi/run and tests/shmem/run, which source this file after runner.sh:
#
#   rows <<'END'
#   NAME | PROCESSES | OPTION... | PROGRAM [ARGUMENT...] | EXPECTATION...
#     | EXPECTATION...
#   + | PROCESSES | ...
#   END
#
# An indented line continues a row, and + is another job of the same case. @ stands for each number of PROCESSES;
# % in an option for a number of the job's own, for the names of simulated devices.
#
# OPTION: a value of device_path, or "default": that is not set, or "fallback": no device and no software barrier.
#   NAME=VALUE a parameter of the component; .NAME=VALUE another MCA parameter; VARIABLE[=VALUE] of the environment;
#   --NAME[=VALUE] an option of mpirun; hosts=N as if on N hosts; devices=OPTIONS,... a simulated device for each of
#   them in turn, or - without options; preload=NAME; rank=N:VARIABLE[=VALUE] for one process, which lacks the
#   variable if there is no value; quiet: not verbose; select=LIST, free: another selection of components, or none;
#   tcp: no shared memory between ranks; cluster=HOST:COUNT,...: on two hosts, which are namespaces;
#   switch=unix|tcp[+OPTION...]: on a gba-switchd; needs=ucx|5: else the case is skipped; without=NAME: the
#   default of a parameter; limit=SECONDS; alone: beside
#   no other case.
# WORK in the PROGRAM is the directory of the case. On several hosts (tests/mpi/hosts.sh) PROCESSES are those of each
# host, with points between them, kind=KIND is a software barrier, switch-hosts a gba-switchd, and RANKS in an
# EXPECTATION the sum.
# EXPECTATION: words, of which KEY=N, KEY>N, KEY<=N and so on are of the totals, with _ for a blank; "took" is all that
#   the path implies for them; "fails" the exit status. N/REGEX/: so many lines have it (none: one line); N+/REGEX/:
#   so many or more; only/REGEX/: one line of the component, and no other. ! COMMAND...: it is true. No line has FAIL,
#   unless the job has to fail.
# shellcheck disable=SC2154,SC2034 # variables of the runners, read and set

rows() {
    local line text=
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        ' '*) text+=$line ;;
        '+'*) text+=$'\n'$line ;;
        *)
            row "$text"
            text=$line
            ;;
        esac
    done
    row "$text"
}

# ROW: its cases.
row() {
    local name processes options rest count start=test_case
    [ -n "$1" ] || return 0
    IFS='|' read -r name processes options _ <<<"$1"
    [[ " $options " != *' alone '* ]] || start=test_alone
    read -r name <<<"$name"
    rest=${1#*|*|}
    for count in $processes; do
        "$start" "${name//@/$count}" row_jobs "$name | $count |${rest//@/$count}"
    done
}

row_jobs() {
    local line
    while IFS= read -r line <&3; do
        wrapper=()
        row_job "$line"
    done 3<<<"$1"
}

row_job() {
    local field fields words options=() preload='' took=default verbose=1
    IFS=$'\x1f' read -r -a fields <<<"${1// | /$'\x1f'}"
    limit 120
    selection=(--mca "$framework" "$component")
    read -r field <<<"${fields[1]}"
    row_processes "$field"
    read -r -a words <<<"${fields[2]}"
    for field in "${words[@]}"; do
        row_option "$field"
    done
    [ -z "$preload" ] || options+=(-x "LD_PRELOAD=$preload")
    [ -z "$verbose" ] || options+=(--mca "${prefix}_verbose" 1)
    field=$work
    [ -z "${HOSTS-}" ] || field=$(mktemp -d /run/work.XXXXXX)
    read -r -a words <<<"${fields[3]//WORK/$field}"
    if [[ " ${fields[*]:4} " == *' fails '* ]]; then
        fails job "${options[@]}" -- "${words[@]}"
    else
        job "${options[@]}" -- "${words[@]}"
        ! grep -q '^skipped: ' "$out" || skip "$(sed -n 's/^skipped: //p' "$out" | head -n 1)"
        lines 0 '^FAIL'
    fi
    for field in "${fields[@]:4}"; do
        read -r field <<<"$field"
        row_expectation "$field"
    done
}

# COUNT: of processes; or with points between them those on each host of $HOSTS.
row_processes() {
    if [ -z "${HOSTS-}" ]; then
        options+=(-np "$1")
    else
        # shellcheck disable=SC2086 # a list of numbers
        ranks_on ${1//./ }
        verbose=
    fi
}

row_option() {
    local value=${1#*=} device name words
    value=${value//%/$BASHPID}
    case $1 in
    - | alone) ;;
    default | fallback | none | sim* | switch:* | /*) row_path "$1" ;;
    quiet) verbose= ;;
    free) selection=("${selection[@]:3}") ;;
    tcp) options+=(--mca btl 'tcp,self') ;;
    select=*) selection=(--mca "$framework" "$value") ;;
    limit=*) limit "$value" ;;
    rank=*) only_rank "${value%%:*}" "${value#*:}" ;;
    hosts=*)
        options+=(-x "GBA_TEST_HOSTS=$value")
        row_option preload=hosts_preload
        ;;
    devices=*)
        words=()
        for device in ${value//,/ }; do
            words+=("sim:row-$BASHPID-${#words[@]}${device#-}")
        done
        options+=(-x "GBA_TEST_DEVICES=${words[*]}")
        ;;
    kind=*) row_kind "$value" ;;
    switch-hosts) switch_for_hosts ;;
    needs=*) row_needs "$value" ;;
    without=*) unset "OMPI_MCA_${prefix}_$value" ;;
    cluster=*)
        "$top/tests/cluster" 2 true || [ $? -ne 77 ] || skip 'this system does not permit namespaces'
        around=("$top/tests/cluster" 2)
        options+=(--host "$value" --bind-to none -x GBA_TEST_SECONDS)
        ;;
    switch=*)
        # shellcheck disable=SC2086 # words
        IFS=+ read -r name device <<<"${1#*=}" && switch_start 127.0.0.1 ${device//+/ }
        row_path "${!name}"
        options+=(-x GBA_SWITCH_KEY_FILE)
        ;;
    preload=*)
        name=$programs
        [ -f "$name/.libs/$value.so" ] || name=$build/tests/mpi
        [ -f "$name/.libs/$value.so" ] || fail "there is no $value.so"
        preload+=${preload:+:}$name/.libs/$value.so
        ;;
    .*)
        name=${1#.}
        options+=(--mca "${name%%=*}" "$value")
        ;;
    --*=*) options+=("${1%%=*}" "$value") ;;
    --*) options+=("$1") ;;
    [A-Z]*=*) options+=(-x "${1%%=*}=$value") ;;
    [A-Z]*) options+=(-x "$1") ;;
    *=*) options+=(--mca "${prefix}_${1%%=*}" "$value") ;;
    *) fail "unknown option $1" ;;
    esac
}

row_path() {
    took=$1
    case $1 in
    default) ;;
    fallback) options+=(--mca "${prefix}_device_path" none --mca "${prefix}_sw_enable" 0) ;;
    *) options+=(--mca "${prefix}_device_path" "${1//%/$BASHPID}") ;;
    esac
}

# PATH: sets $path to the options for it, for a job that is no row.
path_options() {
    local options=(--mca "${prefix}_verbose" 1) took
    row_path "$1"
    path=("${options[@]}")
}

# FIELD
row_expectation() {
    local field=${1//KIND/${kind_text-}} text operator words
    field=${field//RANKS/${ranks-}}
    case $field in
    '! '*)
        read -r -a words <<<"${field#! }"
        "${words[@]}"
        ;;
    */)
        text=${field#*/}
        text=${text%/}
        case ${field%%/*} in
        only) one_line "$text" ;;
        *+) [ "$(grep -acE "$text" "$out")" -ge "${field%%+*}" ] || fail "not ${field%%+*} lines with \"$text\"" ;;
        '') lines 1 "$text" ;;
        *) lines "${field%%/*}" "$text" ;;
        esac
        ;;
    *)
        for text in $field; do
            case $text in
            fails) ;;
            took) took "$took" ;;
            *)
                case $text in
                *'<='*) operator=-le ;;
                *'>='*) operator=-ge ;;
                *'>'*) operator=-gt ;;
                *'<'*) operator=-lt ;;
                *) operator=-eq ;;
                esac
                total_is "${text%%[<>=]*}" "$operator" "${text##*[<>=]}"
                ;;
            esac
        done
        ;;
    esac
}

# [OPTION...] -- PROGRAM [ARGUMENT...]: run it under the selection of components; the output is $out too.
job() {
    local options=() program status=0
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    program=$2
    shift 2
    echo "+ $launcher ${selection[*]} ${options[*]} $program $*"
    limited $((${GBA_TEST_SECONDS:-60} + 20)) "${around[@]}" "$launcher" -x GBA_TEST_FACTOR "${selection[@]}" \
        "${options[@]}" "${wrapper[@]}" "$programs/$program" "$@" >"$out" 2>&1 </dev/null || status=$?
    cat "$out"
    echo "+ status $status"
    return "$status"
}
wrapper=() # a command in front of the program
around=()  # and one in front of the launcher

# SECONDS: for the programs' watchdog in the rest of the case, as if the case ran alone; the launcher gets a little
# more.
limit() {
    export GBA_TEST_SECONDS=$(($1 * workers))
}

# RANK NAME=VALUE: that rank (a pattern of the shell) has this setting. NAME alone: the rank lacks that setting.
only_rank() {
    local act=export
    [[ $2 == *=* ]] || act='unset'
    # shellcheck disable=SC2016 # expanded on each rank
    wrapper=(sh -c 'case ${OMPI_COMM_WORLD_RANK-$PMIX_RANK} in '"$1) $act '$2' ;; esac"'; exec "$@"' sh)
}

# KEY: the number after it in the first line of totals, of the first process: "sim", "fallback", "rounds", "errors".
total() {
    sed -nE "s/.*totals of (rank|PE) 0:.*[ ,]${1//_/ } ([0-9]+).*/\2/p" "$out" | head -n 1
}

# KEY[+KEY...] OPERATOR NUMBER, such as: total_is sim -gt 0
total_is() {
    local key value sum=0
    for key in ${1//+/ }; do
        value=$(total "$key")
        [ -n "$value" ] || fail "no total \"$key\""
        sum=$((sum + value))
    done
    test "$sum" "$2" "$3" || fail "total \"$1\" is \"$value\", not $2 $3"
}

# KINDS PROCESSES ROUNDS: sets $death to options of the simulator, with which the device dies at a random point of its
# first ROUNDS rounds: before or between arrivals, between rounds, between releases, and with releases in transit; and
# with 5 KINDS in an agreement, or as a communicator is freed.
random_death() {
    local release="die_release=$((1 + RANDOM % $2))"
    case $((RANDOM % $1)) in
    0) death="die_arrival=$((1 + RANDOM % ($2 * $3)))" ;;
    1) death="die_after=$((1 + RANDOM % $3))" ;;
    2) death="die_after=$((RANDOM % $3))&$release" ;;
    3) death="die_after=$((RANDOM % $3))&$release&latency=200us&jitter=2ms" ;;
    4) death="die_call=$((1 + RANDOM % (3 * $2 + 2)))" ;;
    esac
    death="$death&seed=$RANDOM"
}

# PATH: checks the totals against it.
took() {
    case $1 in
    kind) took_kind ;;
    sim*) total_is sim -gt 0 ;;
    switch*)
        total_is switch -gt 0
        total_is sim -eq 0
        ;;
    *)
        total_is sim -eq 0
        total_is device -eq 0
        total_is switch -eq 0
        ;;
    esac
    case $1 in
    none | default) total_is software -gt 0 ;;
    fallback)
        total_is software -eq 0
        total_is fallback -gt 0
        ;;
    esac
}

# NAME VALUE ALLOWED: a value that is none, in a file of parameters.
malformed_file() {
    echo "${prefix}_$1 = $2" >"$work/params"
    export OMPI_MCA_mca_base_param_files=$work/params
    row_job "+ | 3 | quiet sim | early_exit 20 | only/$1=$2 is invalid; allowed: $3.*; the component is disabled/"
}

# REASON: the user got one line with this reason, and no other line.
one_line() {
    lines 1 "$who:"
    lines 1 "$who: .*($1)"
    lines 0 '^gba: '
}
