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

# FILE OFFSET: print source and line, such as s.c:10, where the file has them. Returns 1 if it has not.
source_line() {
    local at
    at=$(addr2line -e "$1" "$2" 2>/dev/null) || return 1
    at=${at##*/}
    case $at in *'?'*) return 1 ;; esac
    echo "${at%% (*}"
}

# Add source and line to the call sites of records, where the program has them.
name_sites() {
    local line at
    while read -r line; do
        case $line in
        *+0x*) at=$(source_line "$(sed 's/^\([^ ]* \)\{12\}//; s/+0x[0-9a-f]*$//' <<<"$line")" "${line##*+}") || at= ;;
        *) at= ;;
        esac
        echo "$line${at:+ $at}"
    done
}

# Print where the ranks of the run are that this host has: RANK, PID and text, separated by tabs. A process of
# another user is none of them, whatever its environment says.
where_ranks() {
    local line pid rank
    "$tools/gba_info" --jobs 2>/dev/null | while read -r line; do
        rank=${line#*, rank } pid=${line#*, pid }
        rank=${rank%%,*} pid=${pid%%,*}
        [ -O "/proc/$pid" ] && grep -qzxF "GBA_PERF_RECORDS=$work/recorded" "/proc/$pid/environ" 2>/dev/null || continue
        printf '%s\t%s\t%s\n' "$rank" "$pid" "${line#*, pid *: }"
    done | sort -n
}

# Add source and line to the call sites in lines of where_ranks.
name_places() {
    local rank pid text site file at
    while IFS=$'\t' read -r rank pid text; do
        while read -r site; do
            file=$(awk -v end="${site%+*}" 'substr($6, length($6) - length(end) + 1) == end { print $6; exit }' "/proc/$pid/maps" 2>/dev/null) || true
            ! at=$(source_line "$file" "${site##*+}") || text=${text//"$site"/$at}
        done < <(grep -oE '[^ ]+\+0x[0-9a-f]+' <<<"$text")
        printf '%s\t%s\t%s\n' "$rank" "$pid" "$text"
    done
}

# Print the longest time that a rank has been in one barrier or call, in lines of where_ranks; 0: in none. The time ends
# the words of a place, unless the name of a communicator has such words.
longest_wait() {
    { echo 0 && sed 's/, without progress for [0-9]* s$//' | grep -oE ' for [0-9]+ s(, and |$)' | tr -dc '0-9\n'; } | sort -rn | head -n 1
}

# RANKS SETTING: while the job runs, look each second whether a rank has been in one barrier or call for too
# long. If so, report where all ranks are, a line for each place, and end the job.
watch_job() {
    local seconds seen others
    while sleep 1 && kill -0 "$job" 2>/dev/null; do
        where_ranks >"$work/where"
        seconds=$(longest_wait <"$work/where")
        [ "$seconds" -ge "$stuck" ] || continue
        seen=$(wc -l <"$work/where") others=
        [ "$seen" -ge "$1" ] || others='; the others have not come to MPI_Init, have ended, or are on hosts where gba_info --jobs shows them'
        {
            echo "gba_perf: setting $2: ended, because a rank has waited in a barrier or another call for $seconds s (--stuck-after). $seen of $1 ranks are on this host$others"
            name_places <"$work/where" | awk -F '\t' '{ place = $3; gsub(/ for [0-9]+ s/, "", place) }
                !(place in count) { text[places++] = $3; key[places - 1] = place }
                ++count[place] <= 4 { names[place] = names[place] (count[place] > 1 ? ", " : "") "rank " $1 " (pid " $2 ")" }
                END { for (i = 0; i < places; i++) { n = count[key[i]]
                    print "gba_perf: " names[key[i]] (n > 4 ? " and " n - 4 " more" : "") ": " text[i] } }'
        } >"$work/stuck"
        kill -TERM "$job"
        return
    done
}

# RANKS SETTING PAIR: one run, and its records. A program may end with an error; only a later report says
# whether it did so with all settings. Returns 1 if it did not end.
longest=0 # seconds of a run
run_program() {
    local code=0 began recorded seconds
    : >"$work/recorded"
    began=${EPOCHREALTIME/[.,]/}
    # shellcheck disable=SC2034 # used in runs.sh
    [ "$stuck" -eq 0 ] || watch=(watch_job "$1" "$2")
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
    [ ! -s "$work/stuck" ] || { cat "$work/stuck" >>"$work/failed" && return 1; }
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
