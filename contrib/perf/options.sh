# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The options of gba_perf. An invalid option prints one line: the option, the value, the allowed values.
# shellcheck disable=SC2034 # used in runs.sh

mpi_calls='barrier ibarrier persistent dup dup_barrier served'
shmem_calls='barrier_all sync_all sync quiet served'

np=2
np_given=false
calls=
shmem=false
names=()
declare -A settings=()
pairs=5
batches=31
batch_us=2000
warmup=1000
imbalance=0
launch=
limit=300
stuck=0
limit_by_runs=false
format=table
plot=
save=
from=
calibrate=
program=()
given=' '
device=none
[ ! -e /dev/gba0 ] || device=/dev/gba0

# OPTION VALUE ALLOWED
refuse() {
    status=2 die "$1 ${2:-''} is invalid; allowed: $3"
}

# VARIABLE OPTION VALUE MIN MAX [NANOSECONDS]: set a variable to a number; with the nanoseconds of its unit, to
# a time.
set_number() {
    local number
    # shellcheck disable=SC2154 # set by gba_perf
    number=$("$programs/gba_perf_report" number "${@:2}") || exit 2
    printf -v "$1" %s "$number"
}

# NAME OPTIONS
add_setting() {
    case $1 in
    '' | *[!A-Za-z0-9_.-]* | ????????????????????????????????*)
        refuse --set "$1=$2" 'NAME=OPTIONS, where NAME is 1 to 31 letters, digits, "_", "." and "-"'
        ;;
    esac
    [ -z "${settings[$1]+set}" ] || refuse --set "$1=$2" "each name once; there is a setting $1"
    case $2 in
    *$'\n'*) refuse --set "$1=$2" 'options on one line' ;;
    esac
    names+=("$1")
    settings[$1]=$2
}

add_paths() {
    local coll='--mca coll gba_barrier --mca coll_gba_barrier_device_path' kind prefix=coll_gba_barrier
    local device=sim
    ! $shmem || coll='--mca scoll gba --mca scoll_gba_device_path' prefix=scoll_gba
    [ ! -e /dev/gba0 ] || device=/dev/gba0
    add_setting device "$coll $device"
    for kind in dissemination radix central tree; do
        add_setting "$kind" "$coll none --mca ${prefix}_sw_algorithm $kind"
    done
    add_stock
}

add_stock() {
    if $shmem; then add_setting stock '--mca scoll ^gba --mca coll ^gba_barrier'; else add_setting stock '--mca coll ^gba_barrier'; fi
}

add_plugin() {
    if $shmem; then add_setting plugin '--mca scoll gba'; else add_setting plugin '--mca coll gba_barrier'; fi
}

check_lists() {
    local known=$mpi_calls word numbers=' '
    local -a list
    ! $shmem || known=$shmem_calls
    [ -n "$calls" ] || calls=${known%% *}
    IFS=, read -ra list <<<"$calls"
    for word in "${list[@]-}"; do
        case " $known " in
        *" ${word:-none} "*) ;;
        *) refuse --call "$calls" "${known// /, }, separated by commas$(other_calls)" ;;
        esac
    done
    IFS=, read -ra list <<<"$np"
    [ "${#list[@]}" -gt 0 ] || refuse --np "$np" '2 to 100000, several with commas'
    for word in "${list[@]}"; do
        set_number word --np "$word" 2 100000
        case $numbers in
        *" $word "*) refuse --np "$np" 'each number once' ;;
        esac
        numbers+="$word "
    done
}

other_calls() {
    if $shmem; then echo " (without --shmem: ${mpi_calls// /, })"; else echo " (with --shmem: ${shmem_calls// /, })"; fi
}

check_output() {
    case $plot in
    '' | *.svg) ;;
    *) refuse --plot "$plot" 'a name that ends in .svg' ;;
    esac
    [ -z "$plot" ] || command -v gnuplot >/dev/null 2>&1 ||
        die "--plot $plot: gnuplot is not installed (Debian: apt-get install gnuplot-nox)"
    [ -z "$plot" ] || [ -d "$(dirname -- "$plot")" ] || refuse --plot "$plot" 'a file in a directory that exists'
    [ -z "$calibrate" ] || [ -d "$(dirname -- "$calibrate")" ] ||
        refuse --calibrate "$calibrate" 'a file in a directory that exists'
    [ -z "$calibrate" ] || ! $shmem || refuse --calibrate "$calibrate" 'without --shmem'
    [ -z "$save" ] || [ -d "$(dirname -- "$save")" ] || refuse --save "$save" 'a file in a directory that exists'
    [ -z "$from" ] || [ -r "$from" ] || refuse --from "$from" 'a file that can be read'
    [ -z "$from" ] || head -n 1 -- "$from" | grep -q '^command line gba_perf' || status=2 die "--from $from: not a file of --save"
}

options_read() {
    local paths=false option value
    while [ $# -gt 0 ]; do
        option=$1
        value=${2-}
        given+="$option "
        case $option in
        --)
            shift
            program=("$@")
            check_program
            break
            ;;
        --shmem) shmem=true ;;
        --paths) paths=true ;;
        --json) format=json ;;
        --np | --pairs | --batches | --batch-us | --warmup | --imbalance | --timeout | --stuck-after)
            [ $# -lt 2 ] || shift # else the value is empty, and refused
            ;;
        --call | --a | --b | --set | --launch | --plot | --save | --from | --calibrate | --device)
            [ $# -ge 2 ] || status=2 die "$option needs a value; see gba_perf --help"
            shift
            ;;
        *) status=2 die "$option: unknown option; see gba_perf --help" ;;
        esac
        case $option in
        --np) np=$value np_given=true ;;
        --call) calls=$value ;;
        --a | --b) add_setting "${option#--}" "$value" ;;
        --set)
            case $value in
            *=*) add_setting "${value%%=*}" "${value#*=}" ;;
            *) refuse --set "$value" 'NAME=OPTIONS' ;;
            esac
            ;;
        --pairs) set_number pairs "$option" "$value" 1 1000 ;;
        --batches) set_number batches "$option" "$value" 1 1001 ;;
        --batch-us) set_number batch_us "$option" "$value" 10 1000000 1000 ;;
        --warmup) set_number warmup "$option" "$value" 1 1000000 ;;
        --imbalance) set_number imbalance "$option" "$value" 0 1000000000 1 ;;
        --launch) launch=$value ;;
        --timeout) set_number limit "$option" "$value" 1 86400 1000000000 ;;
        --stuck-after) set_number stuck "$option" "$value" 1 86400 1000000000 ;;
        --plot) plot=$value ;;
        --save) save=$value ;;
        --from) from=$value ;;
        --calibrate) calibrate=$value ;;
        --device) device=$value ;;
        esac
        shift
    done
    ! $paths || add_paths
    $np_given || np=$(default_np)
    case ${names[*]} in
    '') add_plugin && add_stock ;;
    a) add_stock ;; # alone it is compared with Open MPI without the plugin
    b) add_plugin && names=(plugin b) ;; # the plugin is compared with it
    esac
    [ "$stuck" -eq 0 ] || [ "${#program[@]}" -gt 0 ] || status=2 die '--stuck-after is allowed only with a program'
    check_lists
    base=${names[-1]}
    check_output
}
