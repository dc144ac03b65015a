# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The runs of a program of the user. A library that is preloaded into it (recorder.h) times its barriers.
# shellcheck disable=SC2154 # set in options.sh, runs.sh and gba_perf

# Check the options that came before the program.
check_program() {
    local option
    for option in --call --batches --batch-us --samples --warmup --pin --imbalance --late --calibrate --device \
        --from --csv; do
        case $given in
        *" $option "*) status=2 die "$option is not allowed with a program" ;;
        esac
    done
    case $np in
    *,*) refuse --np "$np" 'one number with a program' ;;
    esac
    [ "$pairs" -ge 3 ] || refuse --pairs "$pairs" 'whole numbers from 3 to 1000 with a program'
    [ "${#program[@]}" -gt 0 ] || refuse -- '' 'a program'
    command -v "${program[0]}" >/dev/null || refuse -- "${program[0]}" 'a program that can be executed'
    case $given in
    *' --timeout '*) ;;
    *) limit=86400 ;;
    esac
}

# RANKS SETTING: start it.
start_program() {
    local launcher
    local -a options placed
    set_launcher "$1" "$2"
    exec timeout "$limit" "$launcher" -np "$1" "${placed[@]}" "${options[@]}" \
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
# whether it did so with all settings.
run_program() {
    local code=0 began recorded
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
    {
        printf 'run %d %s %d\nbatch program %d000\nended program %d\n' "$1" "$2" "$3" \
            "$((${EPOCHREALTIME/[.,]/} - began))" "$code"
        grep -v '^end$' <<<"$recorded" | name_sites
        [ "$3" -ne 0 ] || path_record "$1" "$2"
    } >>"$work/records"
    [ "$code" -ne 124 ] || die "setting $2: not finished after $limit s (--timeout)"
    [ "$code" -eq 0 ] || tail -n 20 "$work/log" >"$work/failed"
}

# Show the end of the output of a run that failed. Exits if all failed alike, before the end of MPI.
check_failed() {
    local ends
    [ -e "$work/failed" ] || return 0
    cat "$work/failed" >&2
    ends=$(sed -n 's/^ended program //p' "$work/records" | sort -u)
    grep -q '^batch mpi ' "$work/records" || [ "$(wc -l <<<"$ends")" -gt 1 ] ||
        die "${program[0]}: failed, exit status $ends"
}
