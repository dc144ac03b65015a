/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all parameters: the only place with their names, defaults, ranges and help texts. */
#include "gba/base/param_default.h"
#include "gba/gba.h"
#include "gba/spec/gba_regs.h"

#define FIELD(field) .name = #field, .offset = offsetof(gba_params_t, field)

/* Both names of an algorithm are accepted. The first name of a value is the one that is printed. */
static const gba_param_value_t algorithms[] = {{GBA_ALGORITHM_AUTO, "auto"},
                                               {GBA_ALGORITHM_V1, "v1"},
                                               {GBA_ALGORITHM_V2, "v2"},
                                               {GBA_ALGORITHM_V3, "v3"},
                                               {GBA_ALGORITHM_V1, "dissemination"},
                                               {GBA_ALGORITHM_V2, "radix"},
                                               {GBA_ALGORITHM_V3, "central"},
                                               {GBA_ALGORITHM_TREE, "tree"},
                                               {0, NULL}};
static const gba_param_value_t hierarchies[] = {{GBA_HIERARCHY_AUTO, "auto"},
                                                {GBA_HIERARCHY_FLAT, "flat"},
                                                {GBA_HIERARCHY_NODE, "node"},
                                                {0, NULL}};
static const gba_param_value_t offloads[] = {{GBA_OFFLOAD_AUTO, "auto"},
                                             {GBA_OFFLOAD_FASTEST, "fastest"},
                                             {GBA_OFFLOAD_ALWAYS, "always"},
                                             {GBA_OFFLOAD_NEVER, "never"},
                                             {0, NULL}};
static const gba_param_value_t waits[] = {{GBA_WAIT_AUTO, "auto"},
                                          {GBA_WAIT_SPIN, "spin"},
                                          {GBA_WAIT_YIELD, "yield"},
                                          {GBA_WAIT_SLEEP, "sleep"},
                                          {0, NULL}};

static const gba_param_t table[] = {
    {FIELD(priority), .type = GBA_PARAM_INT, .min = 0, .max = 100, .value_default = 100, .level = 9,
     .all_same = true,
     /* Open MPI's coll framework takes 0 to 100 and cuts what is above. */
     .help =
         "Priority among the components that provide a barrier, 0 to 100; the highest one is used"},
    {FIELD(disable), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 0, .level = 2,
     .all_same = true,
     .help = "1: disable the component. Communicators and active sets with a process that has 1 "
             "use the barrier that they would have without it"},
    {FIELD(device_path), .type = GBA_PARAM_STRING, .string_default = "/dev/gba0", .level = 1,
     .help = "Device: a file such as /dev/gba0; \"sim\": a simulated device for the processes of "
             "the job on one host; \"sim:NAME\": one for all jobs of the user on the host that "
             "give that name; \"none\": no device. A simulated device takes options, "
             "sim?OPTION=VALUE&OPTION=VALUE, see gba_info(1). \"switch:/PATH\" and "
             "\"switch://HOST:PORT\": a simulated switch for several hosts, see gba-switchd(8)"},
    {FIELD(device_list), .type = GBA_PARAM_STRING, .string_default = "all", .level = 3,
     .help = "Devices among which each process chooses if device_path is not set: \"all\": each of "
             "/dev/gba0 to /dev/gba15 that exists; a list such as gba0,gba2, also of device paths; "
             "^gba1: all but these"},
    {FIELD(device_map), .type = GBA_PARAM_STRING, .string_default = "none", .level = 4,
     .help = "Processes of a host for each device, in the order of their ranks and then from the "
             "start again, if device_path is not set: gba0:3,gba1:5; each count is 1 to 65535. "
             "\"none\": the nearest device, and processes balanced over devices that are equally "
             "near"},
    {FIELD(switch_key_file), .type = GBA_PARAM_STRING, .string_default = "none", .level = 3,
     .help =
         "File with the key of a gba-switchd that is reached over TCP, with 32 hexadecimal "
         "digits and mode 0600, on each host; \"none\": the file that GBA_SWITCH_KEY_FILE in the "
         "environment names"},
    {FIELD(cluster), .type = GBA_PARAM_STRING, .string_default = "auto", .level = 5,
     .help = "Description of the cluster, a file or the name of an installed one as in "
             "gba_predict, from "
             "which the expected time of each barrier is computed, see gba_info --path; \"auto\": "
             ".config/gba/cluster.conf in the home "
             "directory, else /etc/gba/cluster.conf, if there is one; \"none\": defaults. Rank 0's "
             "value is used"},
    {FIELD(min_comm_size), .type = GBA_PARAM_INT, .min = 2, .max = INT32_MAX, .value_default = 2,
     .level = 4, .all_same = true,
     .help = "Members of the smallest communicator or active set that the component serves, 2 or "
             "more; smaller ones use the barrier that they would have without it"},
    {FIELD(verbose), .type = GBA_PARAM_INT, .min = 0, .max = 3, .value_default = 0, .level = 2,
     .help = "Messages: 0 failures, and settings that cannot take effect; 1 also the path of each "
             "communicator or active set, with the reason, and at the end the totals of rank 0 and "
             "of each rank with repaired losses; 2 also losses that were recovered, of every "
             "process; 3 also each step of devices and groups"},
    {FIELD(retry_after), .type = GBA_PARAM_INT, .min = 0, .max = 3600000, .value_default = 0,
     .unit = UINT64_C(1000000), .level = 6,
     .help =
         "Milliseconds, or a time with a unit, that a barrier waits before it reads the registers "
         "of the device for an arrival or a release that was lost, 1 to 3600000; the interval "
         "doubles with each "
         "reading, up to 16 times this value. 0: four times a typical round, 100 microseconds "
         "to 20 milliseconds; the interval doubles up to 1.6 seconds"},
    {FIELD(offload_after), .type = GBA_PARAM_INT, .min = 0, .max = 1000000, .value_default = 0,
     .level = 4,
     .help = "Barriers that a communicator or active set does before it requests a barrier group, "
             "0 to 1000000; rank 0's value is used"},
    {FIELD(max_groups), .type = GBA_PARAM_INT, .min = 0, .max = GBA_GROUPS, .value_default = 0,
     .level = 4,
     .help = "Barrier groups of the device that the whole job holds at most, 0 to 32; 0: no limit. "
             "The value of rank 0 of the communicator or active set that requests a group is used"},
    {FIELD(offload), .type = GBA_PARAM_ENUM, .values = offloads, .value_default = GBA_OFFLOAD_AUTO,
     .level = 3,
     .help =
         "Use of the device: fastest: on min_hosts hosts or more, and a trial (trial_after) then "
         "takes the fastest of the device and the other barriers; always: wherever there is a "
         "barrier group; never; auto: always on a simulated device, else fastest. Rank 0's "
         "value is used"},
    {FIELD(min_hosts), .type = GBA_PARAM_INT, .min = 1, .max = INT32_MAX, .value_default = 2,
     .level = 4,
     .help = "Hosts of the smallest communicator or active set that uses the device from the start "
             "with offload fastest, 1 or more; a smaller one uses it if a trial finds it faster. "
             "Rank 0's value is used"},
    {FIELD(sw_enable), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 1, .level = 3,
     .help = "1: use a software barrier of this component where there is no barrier group; 0: use "
             "the barrier that the communicator or active set would have without this component"},
    {FIELD(sw_algorithm), .type = GBA_PARAM_ENUM, .values = algorithms,
     .value_default = GBA_ALGORITHM_AUTO, .level = 5,
     .help = "Algorithm of software barriers: dissemination (v1); radix (v2: dissemination with "
             "a larger radix); central (v3: each process reads the flags of all others; v1 instead "
             "where they reach each other by messages only); tree (arrivals are gathered along a "
             "tree to rank 0, releases return along it: the fewest messages); auto chooses by "
             "members and cores. Rank 0's value is used"},
    {FIELD(sw_radix), .type = GBA_PARAM_INT, .min = 2, .max = 64, .or_zero = true, .level = 6,
     .help = "Radix of the algorithm radix (v2), 2 to 64: in a round each process signals at most "
             "this number less one; and the most children of a process in the algorithm tree. 0: "
             "chosen by members and cores, and by trials (trial_after); 8 in a tree. Rank 0's "
             "value is used"},
    {FIELD(hierarchy), .type = GBA_PARAM_ENUM, .values = hierarchies,
     .value_default = GBA_HIERARCHY_AUTO, .level = 5,
     .help = "Barriers of several hosts: node (gather on each host, barrier of one leader of each "
             "host, release on each host); flat (all processes alike); auto: node for software "
             "barriers, and on a device if one group cannot have all members or hosts have "
             "different devices. Rank 0's value is used"},
    {FIELD(trial_after), .type = GBA_PARAM_INT, .min = 0, .max = 1000000000, .value_default = 50000,
     .level = 5,
     .help = "Barriers that a communicator or active set does on its software barrier before its "
             "processes measure other software barriers, and that of Open MPI, for some tens of "
             "barriers each, and take the fastest, 0 to 1000000000; 0: never. They measure again "
             "after twice as many barriers each time, and only if this costs less than 1% of the "
             "time. sw_algorithm and hierarchy restrict the choice. Rank 0's value is used"},
    {FIELD(wait), .type = GBA_PARAM_ENUM, .values = waits, .value_default = GBA_WAIT_AUTO,
     .level = 4,
     .help = "How a process waits: spin: poll, and keep the core; yield: let other processes run "
             "between two polls; sleep: sleep in a wait longer than 50 microseconds; auto: spin "
             "while each process has a core, else yield, and sleep in a wait longer than a second"},
    {FIELD(stuck_after), .type = GBA_PARAM_INT, .min = 0, .max = 2592000, .value_default = 60,
     .unit = UINT64_C(1000000000), .level = 3,
     .help = "Seconds, or a time with a unit (10m), before a stalled barrier is reported, with the "
             "missing ranks, 0 to 2592000 (30 days); 0: never. The barrier keeps waiting"},
    {FIELD(abort_after), .type = GBA_PARAM_INT, .min = 0, .max = 2592000, .value_default = 0,
     .unit = UINT64_C(1000000000), .level = 3,
     .help = "Seconds, or a time with a unit (2h), after which a stalled barrier is reported and "
             "ends the job, 0 to 2592000 (30 days); 0: never"},
    {FIELD(first_sequence), .type = GBA_PARAM_UINT, .max = UINT32_MAX, .value_default = 0,
     .level = 9, .hidden = true,
     .help = "Sequence number of barrier groups before their first round, 0 to 4294967295, for "
             "tests of wrap-around; rank 0's value is used"},
    {FIELD(trial_test), .type = GBA_PARAM_INT, .max = 2, .value_default = 0, .level = 9,
     .hidden = true,
     .help = "For tests of trial_after: 1: measure without a limit of cost; 2: also take the next "
             "barrier instead of the fastest, and do not double the number of barriers; rank 0's "
             "value is used"},
    {.name = NULL},
};

const gba_param_t *gba_params_table(void)
{
    return table;
}

void gba_params_default(gba_params_t *params)
{
    for (const gba_param_t *param = table; param->name != NULL; param++)
        gba_param_default(param, params);
}
