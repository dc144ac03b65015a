# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Cases of the lines that the user reads: each one names its cause, with the parameter and its value,
# and the consequence. run sources this file.
# shellcheck disable=SC2154,SC2034 # variables of run, read and set

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
    lines 1 "^note +new device: no other process has a live sim:$name open\$"
}

# RANK FIELD PATTERN...: the field of the totals of that rank, with its path in the object.
totals_field() {
    local value
    value=$(sed -n 's/.*coll gba_barrier: totals: //p' "$out" | perl -MJSON::PP -e '
        while (<STDIN>) {
            my $value = decode_json($_);
            next if $value->{rank} != $ARGV[0];
            for (split("/", $ARGV[1])) { $value = /^\d+$/ ? $value->[$_] : $value->{$_} }
            print JSON::PP::is_bool($value) ? ($value ? "true" : "false") : $value;
        }' "$1" "$2")
    echo "$value" | grep -qx -- "${*:3}" || fail "rank $1: $2 is \"$value\", not \"${*:3}\""
}

# A simulated device that another job has created with other options: the line has the options in effect
# and those requested.
sim_options() {
    local holder holders apart name=options-$$
    put_apart
    hold "$name"
    row_job "+ | 2 | quiet sim:$name?groups=3&seed=7 | early_exit 20 | only/sim:$name: this simulated device runs with \
no options; requested: \?seed=7&groups=3; give the same options, or sim:$name alone/"
    let_go
}

all_messages() {
    local of='\(rank %s on [^)]*\)' r0 r1 r2 unagreed dup split
    r0=${of/\%s/0} r1=${of/\%s/1} r2=${of/\%s/2}
    unagreed='3 ranks\): fallback: the ranks agree on a path after'
    rows <<END
# A list without libnbc gets it.
message-companions-list | 2 | quiet select=gba_barrier,basic | early_exit 20 | 0/gba_barrier/
# The totals as JSON, at verbose 0: of rank 0, and of a rank that has repaired a loss.
message-totals-json | 2 | quiet none totals=json rank=?:SLURM_JOB_ID=77 | early_exit 20 | /gba_barrier/
  | ! totals_field 0 component coll gba_barrier | ! totals_field 0 batch_job slurm:77
  | ! totals_field 0 path software | ! totals_field 0 barriers/software [1-9][0-9]* | ! totals_field 0 barriers/sim 0
  | ! totals_field 0 reason MPI_COMM_WORLD (id 0, 2 ranks): software: .*there is no device.*
+ | 2 | quiet sim?lose_arrival=7 totals=json | early_exit 60 | 2/gba_barrier/
  | ! totals_field 0 path sim | ! totals_field 0 reason ^$ | ! totals_field 1 lost_arrivals [1-9][0-9]*
  | ! totals_field 1 devices/0/path sim?lose_arrival=7 | ! totals_field 1 devices/0/answers true
# Disabled on all ranks: a line at verbose 1, once. On one rank: with its rank.
message-disable | 3 | disable=1 | early_exit 20 | /coll gba_barrier:/
  | /coll gba_barrier: disable is 1 \(rank 0\); the component is disabled/
+ | 3 | rank=2:OMPI_MCA_coll_gba_barrier_disable=1 | early_exit 20 | /MPI_COMM_WORLD .*fallback: .*rank 2/
  | /coll gba_barrier: disable is 1 \(rank 2\); the component is disabled/
+ | 3 | quiet disable=1 | early_exit 20 | 0/gba_barrier/
# A parameter prevents the software barrier, and the line names the parameter.
message-sw-enable | 2 | sw_enable=0 | early_exit 20
  | /MPI_COMM_WORLD .*fallback: no software barrier: sw_enable is 0 $r0; there is no device $r0$/
+ | 2 | rank=1:OMPI_MCA_coll_gba_barrier_sw_enable=0 | early_exit 20
  | /MPI_COMM_WORLD .*fallback: no software barrier: sw_enable is 0 $r1; there is no device/
# A communicator below min_comm_size: its line gives that reason, and its barriers are counted. If the user requested
# both, there is no warning.
message-too-few | 2 | min_comm_size=3 | many 50 | fallback=50
  | /MPI_COMM_WORLD .*fallback: fewer ranks than min_comm_size, which is 3$/
+ | 3 | min_comm_size=3 | kinds | /MPI_COMM_WORLD .*3 ranks\): software: / | 0/although/
  | 1+/2 ranks\): fallback: fewer ranks than min_comm_size, which is 3$/
+ | 2 | quiet sim min_comm_size=3 | early_exit 20 | 0/gba_barrier/
# The values that differ, and the ranks that have them.
message-priority | 3 | rank=2:OMPI_MCA_coll_gba_barrier_priority=50 | early_exit 20
  | /MPI_COMM_WORLD .*fallback: priority differs: 100 $r0, 50 $r2/
message-min-comm-size | 3 | rank=0:OMPI_MCA_coll_gba_barrier_min_comm_size=4 | early_exit 20
  | /MPI_COMM_WORLD .*fallback: min_comm_size differs: 4 $r0, 2 $r1/
message-agree-after | 3 | rank=0:OMPI_MCA_coll_gba_barrier_agree_after=5 | early_exit 20
  | /MPI_COMM_WORLD .*fallback: agree_after differs: 5 $r0, 0 $r1/
# At most agree_after barriers: the ranks do not agree on a path, which is reported at the end, or when the communicator
# is freed. MPI_COMM_WORLD agrees at once; a communicator without barriers has no line. With agree_after 6 the 7th
# barrier is nonblocking, and one more than those of the split.
message-never-agreed | 3 | sim agree_after=7 | unagreed | fallback=11 | 3/ranks\): /
  | /MPI_COMM_WORLD .*3 ranks\): sim: group/ | /DUP FROM 0 .*$unagreed 7 barriers; .*: 7$/
  | /SPLIT FROM 0 .*$unagreed 7 barriers; .*: 4$/
+ | 3 | sim agree_after=6 | unagreed | fallback=10 | 2/ranks\): sim: group/
  | /SPLIT FROM 0 .*$unagreed 6 barriers; .*: 4$/
+ | 3 | quiet sim | unagreed | 0/gba_barrier/
# Barriers of both kinds, in random order: the ranks of 32 communicators agree at the same one.
counted-10 | 4 | none agree_after=10 | nonblocking 11 1 | took fallback=320
# The default: MPI_COMM_WORLD has a path from its first barrier on; a copy of it with a few barriers has none.
counted-default | 3 | sim without=agree_after | unagreed | /MPI_COMM_WORLD .*3 ranks\): sim: group/
  | /DUP FROM 0 .*$unagreed 100 barriers; .*: 7$/ | /SPLIT FROM 0 .*$unagreed 100 barriers; .*: 4$/
+ | 3 | sim without=agree_after | early_exit 20 | /MPI_COMM_WORLD .*sim: group/
# Other programs, whose communicators agree in the middle of them.
counted-kinds | 4 | sim agree_after=7 | kinds | fallback>0
counted-threads | 3 | sim agree_after=7 | threads 3 | fallback>0
counted-spawn | 2 | sim agree_after=7 | spawn | fallback>0
counted-persistent | 3 | sim agree_after=7 | persistent | fallback>0
# A missing device is reported once.
message-no-device | 2 | default | early_exit 20 | 0/no device: /
  | /MPI_COMM_WORLD .*software: .*; there is no device $r0$/
# A device that dies in the job: the line has the barrier of the failure, the rank that saw it, the new path and its
# first barrier.
message-death | 2 | quiet sim?die_after=7 | many 30
  | only/software: .*, from barrier (9|10) on; the device stopped answering in barrier 8 \(rank [01] on [^)]*\); device_path is "sim\?die_after=7"$/
# Central (v3) reads the flags of other members, which messages cannot; its replacement is reported. Within a host
# central is possible, and its other name is accepted.
message-v3 | 3 | quiet sw_algorithm=v3 hosts=2 | kinds
  | only/MPI_COMM_WORLD .*: sw_algorithm is central \(v3\), .* messages .* dissemination \(v1\) is used/
+ | 3 | sw_algorithm=v3 hosts=2 | early_exit 20
  | /MPI_COMM_WORLD .*: software: dissemination \(v1\) among the leaders of 2 hosts, .*, because central \(v3\) needs to read remote flags/
+ | 3 | sw_algorithm=central | early_exit 20 | 0/sw_algorithm|remote flags/
  | /MPI_COMM_WORLD .*: software: central \(v3\) through shared memory/
END
    test_alone message-info-beside info_beside
    test_alone message-sim-options sim_options
}
