# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of the lines that the user reads: each one names its cause, with the parameter and its value,
# and the consequence. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

# LIST: this selection with companions none. Our line precedes Open MPI's own, which does not name the
# parameter.
companions_none() {
    limit 60
    selection=(--mca coll "$1")
    fails job --mca coll_gba_barrier_companions none -np 2 -- early_exit 20
    lines 1 'coll gba_barrier: coll_gba_barrier_companions is "none" and .*libnbc.* not loaded; .*--mca coll gba_barrier,basic,libnbc'
}

# With the selection that the line recommends there is no line, and the job runs.
companions_named() {
    limit 60
    # shellcheck disable=SC2054 # a list of components
    selection=(--mca coll gba_barrier,basic,libnbc)
    job --mca coll_gba_barrier_companions none -np 2 -- early_exit 20
    lines 0 'companions'
}

# `disable` on all ranks is reported at verbose 1, once, and on one rank with its rank.
disable_reported() {
    limit 60
    path_options default
    job "${path[@]}" --mca coll_gba_barrier_disable 1 -np 3 -- early_exit 20
    lines 1 'coll gba_barrier: disable is 1 \(rank 0\); the component is disabled'
    lines 1 'coll gba_barrier:'
    only_rank 2 OMPI_MCA_coll_gba_barrier_disable=1
    job "${path[@]}" -np 3 -- early_exit 20
    lines 1 'coll gba_barrier: disable is 1 \(rank 2\); the component is disabled'
    lines 1 'MPI_COMM_WORLD .*fallback: .*rank 2'
    wrapper=()
    job --mca coll_gba_barrier_disable 1 -np 3 -- early_exit 20
    lines 0 'gba_barrier'
}

# While a job has a named device, gba_info shows that device. A device that gba_info creates is reported
# as new.
info_beside() {
    local info=$build/root/bin/gba_info holder holders apart name=info-$$
    [ -x "$info" ] || info=$(command -v gba_info)
    put_apart
    hold "$name"
    "$info" "sim:$name" | tee "$out"
    lines 1 '^groups free +31 of 32$'
    lines 0 '^note'
    "$info" sim | tee "$out"
    lines 1 '^groups free +32 of 32$'
    lines 1 '^note +new device: each job has its own "sim"; start the job with sim:NAME'
    let_go
    "$info" "sim:$name" | tee "$out"
    lines 1 "^note +new device: no other process has sim:$name open\$"
}

# The totals as JSON, at verbose 0: of rank 0, and of a rank that has repaired a loss.
totals_json() {
    limit 60
    SLURM_JOB_ID=77 job --mca coll_gba_barrier_totals json --mca coll_gba_barrier_device_path none -np 2 -- early_exit 20
    lines 1 'gba_barrier'
    totals_field 0 component 'coll gba_barrier'
    totals_field 0 batch_job slurm:77
    totals_field 0 path software
    totals_field 0 reason 'MPI_COMM_WORLD (id 0, 2 ranks): software: .*there is no device.*'
    totals_field 0 barriers/software '[1-9][0-9]*'
    totals_field 0 barriers/sim 0
    job --mca coll_gba_barrier_totals json --mca coll_gba_barrier_device_path 'sim?lose_arrival=7' -np 2 -- early_exit 60
    lines 2 'gba_barrier'
    totals_field 0 path sim
    totals_field 0 reason ''
    totals_field 1 lost_arrivals '[1-9][0-9]*'
    totals_field 1 devices/0/path 'sim?lose_arrival=7'
    totals_field 1 devices/0/answers 'true'
}

# RANK FIELD PATTERN: the field of the totals of that rank, with its path in the object.
totals_field() {
    local value
    value=$(sed -n 's/.*coll gba_barrier: totals: //p' "$out" | perl -MJSON::PP -e '
        while (<STDIN>) {
            my $value = decode_json($_);
            next if $value->{rank} != $ARGV[0];
            for (split("/", $ARGV[1])) { $value = /^\d+$/ ? $value->[$_] : $value->{$_} }
            print JSON::PP::is_bool($value) ? ($value ? "true" : "false") : $value;
        }' "$1" "$2")
    echo "$value" | grep -qx -- "$3" || fail "rank $1: $2 is \"$value\", not \"$3\""
}

# RANKS: a parameter prevents the software barrier, and the line names the parameter.
sw_enable_named() {
    limit 60
    path_options default
    job "${path[@]}" --mca coll_gba_barrier_sw_enable 0 -np 2 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*fallback: no software barrier: sw_enable is 0 \(rank 0 on [^)]*\); there is no device \(rank 0 on [^)]*\)$'
    only_rank 1 OMPI_MCA_coll_gba_barrier_sw_enable=0
    job "${path[@]}" -np 2 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*fallback: no software barrier: sw_enable is 0 \(rank 1 on [^)]*\); there is no device'
}

# A communicator below min_comm_size: its line gives that reason, and its barriers are counted.
too_few() {
    limit 60
    path_options default
    job "${path[@]}" --mca coll_gba_barrier_min_comm_size 3 -np 2 -- many 50
    lines 1 'MPI_COMM_WORLD .*fallback: fewer ranks than min_comm_size, which is 3$'
    total_is fallback -eq 50
    job "${path[@]}" --mca coll_gba_barrier_min_comm_size 3 -np 3 -- kinds
    lines 1 'MPI_COMM_WORLD .*3 ranks\): software: '
    grep -q '2 ranks): fallback: fewer ranks than min_comm_size, which is 3$' "$out" || fail 'no line for 2 ranks'
    lines 0 'although'
    # The user requested both, so there is no warning.
    job --mca coll_gba_barrier_min_comm_size 3 --mca coll_gba_barrier_device_path sim -np 2 -- early_exit 20
    lines 0 'gba_barrier'
}

# NAME VALUES RANK ASSIGNMENT: the values that differ, and the ranks that have them.
values_named() {
    limit 60
    path_options default
    only_rank "$3" "$4"
    job "${path[@]}" -np 3 -- early_exit 20
    lines 1 "MPI_COMM_WORLD .*fallback: $1 differs: $2"
}

# At most agree_after barriers: the ranks do not agree on a path. This is reported at the end, or when the
# communicator is freed.
never_agreed() {
    limit 60
    path_options sim
    job "${path[@]}" --mca coll_gba_barrier_agree_after 7 -np 3 -- unagreed
    # MPI_COMM_WORLD agrees at once. A communicator without barriers has no line.
    lines 1 'MPI_COMM_WORLD .*3 ranks\): sim: group'
    lines 1 'DUP FROM 0 .*3 ranks\): fallback: the ranks agree on a path after 7 barriers; .*: 7$'
    lines 1 'SPLIT FROM 0 .*3 ranks\): fallback: the ranks agree on a path after 7 barriers; .*: 4$'
    lines 3 'ranks\): '
    total_is fallback -eq 11
    # The 7th one is nonblocking, and one more than those of the split.
    job "${path[@]}" --mca coll_gba_barrier_agree_after 6 -np 3 -- unagreed
    lines 2 'ranks\): sim: group'
    lines 1 'SPLIT FROM 0 .*3 ranks\): fallback: the ranks agree on a path after 6 barriers; .*: 4$'
    total_is fallback -eq 10
    # With agree_after 0, that of the tests, all have a path.
    job --mca coll_gba_barrier_device_path sim -np 3 -- unagreed
    lines 0 'gba_barrier'
}

# AFTER: agree_after. Barriers of both kinds, in random order: all ranks agree at the same one. Three of
# the 9 communicators are halves, each with its own line.
counted_right() {
    limit 120
    path_options none
    job "${path[@]}" --mca coll_gba_barrier_agree_after "$1" -np 4 -- counted $(($1 + 1))
    lines 12 'ranks\): software: '
    total_is fallback -eq "$(sed -n 's|^barriers before the agreements: ||p' "$out")"
}

# The default: MPI_COMM_WORLD has a path from its first barrier on; a copy of it with a few
# barriers has none, and is reported when it is freed.
counted_default() {
    limit 60
    path_options sim
    unset OMPI_MCA_coll_gba_barrier_agree_after
    job "${path[@]}" -np 3 -- unagreed
    lines 1 'MPI_COMM_WORLD .*3 ranks\): sim: group'
    lines 1 'DUP FROM 0 .*3 ranks\): fallback: the ranks agree on a path after 100 barriers; .*: 7$'
    lines 1 'SPLIT FROM 0 .*3 ranks\): fallback: the ranks agree on a path after 100 barriers; .*: 4$'
    job "${path[@]}" -np 3 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*sim: group'
}

# PROGRAM RANKS [ARGUMENT...]: another program, whose communicators agree in the middle of it.
counted_program() {
    limit 120
    path_options sim
    job "${path[@]}" --mca coll_gba_barrier_agree_after 7 -np "$2" -- "$1" "${@:3}"
    lines 0 '^FAIL'
    total_is fallback -gt 0
}

# A missing device is reported once.
no_device_once() {
    limit 60
    path_options default
    job "${path[@]}" -np 2 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*software: .*; there is no device \(rank 0 on [^)]*\)$'
    lines 0 'no device: '
}

# A device that dies in the job: the line has the barrier of the failure, the rank that saw it, the new
# path and its first barrier.
death_named() {
    limit 60
    job --mca coll_gba_barrier_device_path 'sim?die_after=7' -np 2 -- many 30
    one_line 'software: .*, from barrier (9|10) on; the device stopped answering in barrier 8 \(rank [01] on [^)]*\); device_path is "sim\?die_after=7"$'
}

# Central (v3) reads the flags of other members, which messages cannot; its replacement is reported.
v3_between_hosts() {
    limit 60
    job --mca coll_gba_barrier_sw_algorithm v3 -x GBA_TEST_HOSTS=2 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 3 -- kinds
    one_line 'MPI_COMM_WORLD .*: sw_algorithm is central \(v3\), .* messages .* dissemination \(v1\) is used'
    path_options default
    job "${path[@]}" --mca coll_gba_barrier_sw_algorithm v3 -x GBA_TEST_HOSTS=2 \
        -x LD_PRELOAD="$programs/.libs/hosts_preload.so" -np 3 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*: software: dissemination \(v1\) among the leaders of 2 hosts, .*, because central \(v3\) needs to read remote flags'
    # Within a host central is possible, and its other name is accepted.
    job "${path[@]}" --mca coll_gba_barrier_sw_algorithm central -np 3 -- early_exit 20
    lines 1 'MPI_COMM_WORLD .*: software: central \(v3\) through shared memory'
    lines 0 'sw_algorithm|remote flags'
}

# A simulated device that another job has created with other options: the line has the options in effect
# and those requested.
sim_options() {
    local holder holders apart name=options-$$
    limit 60
    put_apart
    hold "$name"
    job --mca coll_gba_barrier_device_path "sim:$name?groups=3&seed=7" -np 2 -- early_exit 20
    one_line "sim:$name: this simulated device runs with no options; requested: \\?seed=7&groups=3; give the same options, or sim:$name alone"
    let_go
}

all_messages() {
    test_case message-companions companions_none gba_barrier
    test_case message-companions-list companions_none gba_barrier,basic
    test_case message-companions-named companions_named
    test_alone message-info-beside info_beside
    test_case message-totals-json totals_json
    test_alone message-sim-options sim_options
    test_case message-disable disable_reported
    test_case message-sw-enable sw_enable_named
    test_case message-too-few too_few
    test_case message-priority values_named priority '100 \(rank 0 on [^)]*\), 50 \(rank 2 on [^)]*\)' \
        2 OMPI_MCA_coll_gba_barrier_priority=50
    test_case message-min-comm-size values_named min_comm_size \
        '4 \(rank 0 on [^)]*\), 2 \(rank 1 on [^)]*\)' 0 OMPI_MCA_coll_gba_barrier_min_comm_size=4
    test_case message-agree-after values_named agree_after \
        '5 \(rank 0 on [^)]*\), 0 \(rank 1 on [^)]*\)' 0 OMPI_MCA_coll_gba_barrier_agree_after=5
    test_case message-never-agreed never_agreed
    test_case counted-1 counted_right 1
    test_case counted-10 counted_right 10
    test_case counted-default counted_default
    test_case counted-kinds counted_program kinds 4
    test_case counted-threads counted_program threads 3 3
    test_case counted-spawn counted_program spawn 2
    test_case counted-persistent counted_program persistent 3
    test_case message-no-device no_device_once
    test_case message-death death_named
    test_case message-v3 v3_between_hosts
}
