# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The runs of gba_perf. contrib/perf/records.c of the sources explains the records.
# shellcheck disable=SC2154 # set in options.sh and gba_perf

# --- Whether the machine is too busy to measure

runnable=0 # processes besides this script, summed over all samples
looks=0
# Between two runs this script has no other process, so every other runnable process is other work.
look_for_others() {
    local running
    read -r _ _ _ running _ </proc/loadavg || return 0
    runnable=$((runnable + ${running%%/*} - 1))
    looks=$((looks + 1))
}

# Time of all CPUs, and the time that the hypervisor gave to other machines, in ticks.
cpu_ticks() {
    awk '$1 == "cpu" { for (i = 2; i <= 9; i++) sum += $i; print sum, $9 + 0 }' /proc/stat
}

# BEFORE (cpu_ticks): a record for each reason for which the figures are meaningless. gba_perf_report adds
# another reason: equal runs that differ.
busy_records() {
    awk -v runnable="$runnable" -v looks="$looks" -v cores="$cores" 'BEGIN {
        mean = looks > 0 ? runnable / looks : 0
        if (mean > 0.5 && mean > cores / 8)
            printf "busy runnable %.1f other processes were runnable on %d cores\n", mean, cores }'
    echo "$1 $(cpu_ticks)" | awk '$3 > $1 && ($4 - $2) / ($3 - $1) > 0.05 {
        printf "busy stolen the hypervisor gave %.0f%% of the CPU time to others\n",
            100 * ($4 - $2) / ($3 - $1) }'
}

# --- The machine and the settings

# The ranks without --np. A calibration needs barriers of 4 and 8 ranks that have cores of their own.
default_np() {
    cores=$(usable_cores)
    if [ -z "$calibrate" ] || [ -n "$launch" ] || [ "$cores" -lt 4 ]; then echo 2; else echo $((cores < 8 ? 4 : 8)); fi
}

# ARGUMENT...: the notes about the measurement.
describe() {
    local name
    cores=$(usable_cores)
    printf 'command line gba_perf'
    for name in "$@"; do
        case $name in
        '' | *[!A-Za-z0-9_.,:/=^+-]*) printf ' %s' "${name@Q}" ;;
        *) printf ' %s' "$name" ;;
        esac
    done
    printf '\nmachine date %s\n' "$(date +%F)"
    printf 'machine software %s, %s\n' "$("$mpirun" --version 2>/dev/null | head -n 1)" "$(uname -sr)"
    printf 'machine processor %d cores: %s\n' "$cores" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
    printf 'machine load %s when the first run began; %d runs of each setting\n' \
        "$(cut -d ' ' -f 1 /proc/loadavg)" "$pairs"
    [ "$imbalance" -eq 0 ] || printf 'machine imbalance a rank enters each barrier %d ns late; the figures include it\n' \
        "$imbalance"
    for name in "${names[@]}"; do printf 'setting %s %s\n' "$name" "${settings[$name]:- }"; done
    printf 'base %s\n' "$base"
}

# N WORD...: the same words, with the first N moved to the end, so that no setting is always first.
rotate() {
    local n=$1
    shift
    n=$((n % $#))
    echo "${@:n+1}" "${@:1:n}"
}

# --- One run

# A second signal would end mpirun before it has ended the ranks, so only `timeout` gets one, which passes it on.
limited=(timeout --foreground -k 10)
job=
watch=() # a command that runs beside each job
stop_job() {
    [ -z "$job" ] || { kill -TERM "$job" 2>/dev/null && wait "$job"; } || true
    job=
}

terminal=false
[ ! -t 2 ] || terminal=true
# TEXT: show the progress on stderr: on a terminal it replaces the previous line; "" ends it.
progress() {
    if $terminal; then printf '\r\033[K%s' "$*" >&2; elif [ -n "$*" ]; then echo "$*" >&2; fi
}

# RANKS: set the launcher's options for the placement, in the array `placed`, and the environment.
place() {
    unset OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy PRTE_MCA_mapby
    if [ -n "$launch" ]; then
        read -ra placed <<<"$launch"
        allow_oversubscription "$mpirun"
    elif [ "$1" -le "$cores" ]; then
        placed=(--bind-to core)
    else
        placed=(--bind-to none --mca mpi_yield_when_idle 1)
        allow_oversubscription "$mpirun"
    fi
}

# RANKS SETTING: set launcher, placed and options, and the environment.
set_launcher() {
    place "$1"
    read -ra options <<<"${settings[$2]}"
    launcher=$mpirun
    if $shmem; then
        launcher=$oshrun
        # Open MPI 4.1.4 without the plugin crashes in shmem_finalize with these hooks. Barriers do not use
        # them.
        export OMPI_MCA_opal_common_ucx_opal_mem_hooks=${OMPI_MCA_opal_common_ucx_opal_mem_hooks-0}
    fi
    case $calls in
    *dup*) ;; # the plugin would print a line for each communicator
    *)
        export OMPI_MCA_coll_gba_barrier_verbose=${OMPI_MCA_coll_gba_barrier_verbose-1}
        export OMPI_MCA_scoll_gba_verbose=${OMPI_MCA_scoll_gba_verbose-1}
        ;;
    esac
}

# RANKS SETTING: start a measuring program. Exits with its status.
start() {
    local launcher measuring=$programs/gba_perf_mpi
    local -a options placed
    set_launcher "$1" "$2"
    ! $shmem || measuring=$programs/gba_perf_shmem
    exec "${limited[@]}" "$limit" "$launcher" -np "$1" "${placed[@]}" "${options[@]}" "$measuring" \
        --calls "$calls" --batches "$batches" --batch-us "$batch_us" --warmup "$warmup" --imbalance "$imbalance"
}

# COMMAND...: run it; its output goes to $work/out and $work/log. Returns its status.
start_job() {
    local code=0 watcher=
    look_for_others
    # In a process group of its own, so that an interrupt ends all of it.
    set -m
    ("$@") >"$work/out" 2>"$work/log" </dev/null &
    job=$!
    set +m
    [ "${#watch[@]}" -eq 0 ] || { "${watch[@]}" & watcher=$!; }
    wait "$job" || code=$?
    [ -z "$watcher" ] || { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
    job=
    return "$code"
}

# WHAT HINT COMMAND...: run a measuring program. Ends with WHAT if it fails.
run_job() {
    local what=$1 hint=$2 code=0
    shift 2
    start_job "$@" || code=$?
    [ "$code" -ne 0 ] || ! grep -qx end "$work/out" || return 0
    progress ''
    tail -n 20 "$work/log" >&2
    [ "$code" -ne 124 ] || die "$what: not finished after $limit s (--timeout)"
    die "$what failed, exit status $code$hint"
}

# RANKS: the number of hosts on which so many ranks must be, by the slots that --launch names; 0: it names none.
hosts_asked() {
    sed -nE 's/(^|.* )(--?host|-H)[ =]([^ ]+).*/\3/p' <<<"$launch" | tr , '\n' |
        awk -F: '$1 != "" { slots[$1] += NF > 1 ? $2 : 1 } END { for (host in slots) print slots[host] }' |
        sort -rn | awk -v ranks="$1" 'sum < ranks { sum += $1; hosts++ } END { print hosts + 0 }'
}

# RANKS: the ranks were on the hosts that were asked for. A setting in the environment can override --launch.
check_hosts() {
    local asked hosts
    asked=$(hosts_asked "$1")
    hosts=$(awk '$1 == "job" { print $3 }' "$work/out")
    [ "$hosts" -ge "$asked" ] ||
        die "--launch '$launch': $1 ranks were on $hosts hosts, not on $asked or more. Look for OMPI_MCA_plm and other OMPI_MCA_* in the environment"
}

# RANKS SETTING PAIR: one run, and its records.
run() {
    run_job "setting $2 with $1 ranks" ": ${settings[$2]}" start "$1" "$2"
    check_hosts "$1"
    printf 'run %d %s %d\n' "$1" "$2" "$3" >>"$work/records"
    # Other programs of the job can have printed other lines.
    grep -E '^(perf|job|batch|floor|missing) ' "$work/out" >>"$work/records"
    [ "$3" -ne 0 ] || path_record "$1" "$2" >>"$work/records"
}

# RANKS SETTING: the path that the barriers of all ranks took, as the plugin reported it.
path_record() {
    local path
    path=$(sed -nE 's/.*gba[a-z_]*: (MPI_COMM_WORLD|[^:]*all PEs[^:]*|[^:]*\(id 0[^:]*) ?(\(id [^)]*\))?: //p' "$work/log" | head -n 1)
    [ -z "$path" ] || printf 'path %s/%d %s, %d ranks: %s\n' "$2" "$1" "$2" "$1" "$path"
}

# N TOTAL: how long the runs from the N-th on take, if they take as long as those before.
time_left() {
    [ "$1" -le 1 ] || printf ', about %d s left' "$((SECONDS * ($2 - $1 + 1) / ($1 - 1)))"
}

measure_all() {
    local pair count name number=0 run=run first=0
    local -a counts
    IFS=, read -ra counts <<<"$np"
    cores=$(usable_cores)
    total=$((pairs * ${#counts[@]} * ${#names[@]}))
    before=$(cpu_ticks)
    if [ "${#program[@]}" -gt 0 ]; then
        run=run_program
        # The base is the first one: it is known not to hang.
        first=$((${#names[@]} - 1))
    fi
    for count in "${counts[@]}"; do
        for ((pair = 0; pair < pairs; pair++)); do
            for name in $(rotate "$((first + pair))" "${names[@]}"); do
                number=$((number + 1))
                progress "run $number of $total: $((10#$count)) ranks, setting $name, $SECONDS s$(time_left "$number" "$total")"
                "$run" "$((10#$count))" "$name" "$pair" || break 3
                finished=$number
            done
        done
    done
    progress ''
    busy_records "$before" >>"$work/records"
    finished=0 # an interrupt has nothing to report
}

# An interrupt: report what has been measured.
finished=0 # runs
interrupted() {
    trap '' INT TERM HUP
    stop_job
    progress ''
    [ "$finished" -gt 0 ] || exit 130
    echo "gba_perf: interrupted; the report has the $finished of $total runs before" >&2
    echo "machine interrupted after $finished of $total runs" >>"$work/records"
    busy_records "$before" >>"$work/records"
    (finish) || true
    exit 130
}

# --- The description of this cluster

# Each rank chooses its processors itself, so mpirun binds none.
calibrate() {
    local before count=$((10#${np%%,*}))
    local -a placed options=()
    cores=$(usable_cores)
    before=$(cpu_ticks)
    if [ -n "$launch" ]; then place "$count"; else placed=(--bind-to none --mca mpi_yield_when_idle 0); fi
    allow_oversubscription "$mpirun"
    [ "$device" = none ] || options=(--device "$device")
    run_job --calibrate '' exec "${limited[@]}" "$limit" "$mpirun" -np "$count" "${placed[@]}" "$programs/gba_perf_mpi" \
        --calibrate "${options[@]}" --batches "$batches"
    look_for_others
    {
        echo "# A description of this cluster, see gba_predict(1). Times are in ns. A key that is absent was not measured."
        busy_records "$before" | sed 's/^busy/# THIS MACHINE IS TOO BUSY TO MEASURE:/'
        echo "source = measured on $(hostname), $(date +%F), by gba_perf --calibrate"
        sed -n 's/^cluster //p' "$work/out"
    } >"$calibrate" || die "--calibrate $calibrate: cannot be written"
}

# --- The report

# Save, report and draw the records.
finish() {
    [ -z "$save" ] || cp -- "$work/records" "$save" || die "--save $save: cannot be written"
    [ ! -e "$work/failed" ] || cat "$work/failed" >&2
    report "$format"
    [ -z "$plot" ] || draw
}

report() { # FORMAT
    "$programs/gba_perf_report" "$1" <"$work/records"
}

# The data and the texts of plot.gp, each in a file, so gnuplot reads no text as a command.
draw() {
    local to=$work/plot
    mkdir "$to"
    report plot >"$to/data"
    report table >"$to/table"
    [ -s "$to/data" ] || die "--plot $plot: the records have no measurement"
    awk '$1 == "batch" { print $2; exit }' "$work/records" >"$to/call"
    sed -n 's/^setting \([^ ]*\) .*/\1/p' "$work/records" >"$to/settings"
    sed -n 's/^machine \([^ ]*\) /\1: /p' "$work/records" >"$to/caption"
    sed -n '/^THIS MACHINE/,$p' "$to/table" >"$to/busy"
    sed -n 's/[.] \([A-Z]\)/.\n\1/g; s/^Verdict: //p' "$to/table" >"$to/verdict"
    (cd "$to" && gnuplot "$data/plot.gp") >"$work/plot.svg" 2>"$work/log" ||
        { cat "$work/log" >&2; die "--plot $plot: gnuplot failed"; }
    cp -- "$work/plot.svg" "$plot" || die "--plot $plot: cannot be written"
}
