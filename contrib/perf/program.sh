# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The runs of a program of the user. A library that is preloaded into it (recorder.h) times its barriers.
# shellcheck disable=SC2154 # set in options.sh, runs.sh and gba_perf

# Check the options that came before the program.
check_program() {
    local option
    for option in --call --batches --batch-us --warmup --imbalance --calibrate --device --from; do
        case $given in
        *" $option "*) status=2 die "$option is not allowed with a program" ;;
        esac
    done
    case $np in
    *,*) refuse --np "$np" 'one number with a program' ;;
    esac
    [ "$pairs" -ge 3 ] || refuse --pairs "$pairs" 'whole numbers from 3 to 1000 with a program'
    [ "${#program[@]}" -gt 0 ] || refuse -- '' 'a program'
    type -P "${program[0]}" >/dev/null || refuse_program
    case $given in
    *' --timeout '*) ;;
    *) limit=86400 limit_by_runs=true ;;
    esac
}

# The program cannot be started: say why, and how it can.
refuse_program() {
    local interpreter
    case $(sed -n '1s/^#!//p; 1q' -- "${program[0]}" 2>/dev/null | tr -d '\0')+${program[0]} in
    *python*+* | +*.py) interpreter=python3 ;;
    *bash*+*) interpreter=bash ;;
    *sh+* | +*.sh) interpreter='sh' ;;
    +*.jl) interpreter=julia ;;
    +*.R) interpreter=Rscript ;;
    *) interpreter= ;;
    esac
    if [ -d "${program[0]}" ]; then
        refuse -- "${program[0]}" 'a program; this is a directory'
    elif [ -x "${program[0]}" ]; then
        refuse -- "${program[0]}" "a program in \$PATH, or with a directory: ./${program[0]}"
    elif [ -e "${program[0]}" ]; then
        refuse -- "${program[0]}" "a program that can be executed: chmod +x ${program[0]@Q}${interpreter:+, or start it with $interpreter: gba_perf -- $interpreter ${program[0]@Q}}"
    fi
    refuse -- "${program[0]}" 'a program that exists'
}

# RANKS SETTING: start it.
start_program() {
    local launcher
    local -a options placed
    set_launcher "$1" "$2"
    exec "${limited[@]}" "$limit" "$launcher" -np "$1" "${placed[@]}" "${options[@]}" \
        -x "LD_PRELOAD=$programs/gba_perf_recorder.so${LD_PRELOAD:+:$LD_PRELOAD}" \
        -x "GBA_PERF_RECORDS=$work/recorded" "${program[@]}"
}

# Add source and line to the call sites of records, where the program has them.
name_sites() {
    local line at
    while read -r line; do
        case $line in
        *+0x*) at=$(addr2line -e "$(sed 's/^\([^ ]* \)\{12\}//; s/+0x[0-9a-f]*$//' <<<"$line")" "${line##*+}" 2>/dev/null) || at='?' ;;
        *) at='?' ;;
        esac
        case $at in
        *'?'*) echo "$line" ;;
        *) at=${at##*/} && echo "$line ${at%% (*}" ;;
        esac
    done
}

# RANKS SETTING PAIR: one run, and its records. A program may end with an error; only a later report says
# whether it did so with all settings. Returns 1 if it did not end.
longest=0 # seconds of a run
run_program() {
    local code=0 began recorded seconds
    : >"$work/recorded"
    began=${EPOCHREALTIME/[.,]/}
    start_job start_program "$1" "$2" || code=$?
    recorded=$({ cat "$work/recorded" && sed -n 's/^.*gba_perf_record: //p' "$work/log"; } |
        grep -E '^((batch|clock|barriers) |end$)') || true
    case $recorded in
    '' | *end) ;;
    *)
        echo "gba_perf: setting $2, run $3: the record of the barriers was cut short; the report leaves it out" >&2
        recorded=
        ;;
    esac
    began=$((${EPOCHREALTIME/[.,]/} - began))
    {
        printf 'run %d %s %d\nbatch program %d000\nended program %d\n' "$1" "$2" "$3" "$began" "$code"
        grep -v '^end$' <<<"$recorded" | name_sites
        [ "$3" -ne 0 ] || path_record "$1" "$2"
    } >>"$work/records"
    [ "$code" -eq 0 ] || tail -n 20 "$work/log" >"$work/failed"
    seconds=$((began / 1000000 + 1))
    case $code in
    124 | 137) # of timeout
        [ "$seconds" -le "$limit" ] || {
            echo "gba_perf: setting $2: not finished after $limit s; the longest run before took $longest s. It hangs, or needs --timeout" \
                >>"$work/failed"
            return 1
        }
        ;;
    esac
    [ "$seconds" -le "$longest" ] || longest=$seconds
    # A program that hangs with one setting is found after minutes.
    ! $limit_by_runs || limit=$((60 + 10 * longest))
}
