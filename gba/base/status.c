/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts of the status codes and paths, and the version of the library. */
#include "gba/gba.h"

#define STRING(x)  #x
#define VERSION(x) STRING(x)

struct entry {
    const char *name, *text;
};

/* By -status. A text completes "no barrier group:" or "no software barrier:". */
static const struct entry errors[] = {
    [0] = {"GBA_OK", "no error"},
    [-GBA_ERR_PARAM] = {"GBA_ERR_PARAM", "a parameter is out of range"},
    [-GBA_ERR_NOMEM] = {"GBA_ERR_NOMEM", "out of memory"},
    [-GBA_ERR_NO_DEVICE] = {"GBA_ERR_NO_DEVICE", "there is no device"},
    [-GBA_ERR_PERM] = {"GBA_ERR_PERM", "permission denied"},
    [-GBA_ERR_NOT_GBA] = {"GBA_ERR_NOT_GBA", "the file is not a GBA device"},
    [-GBA_ERR_VERSION] = {"GBA_ERR_VERSION", "the device has an unsupported version"},
    [-GBA_ERR_NO_GROUP] = {"GBA_ERR_NO_GROUP", "no barrier group is free"},
    [-GBA_ERR_TOO_MANY] = {"GBA_ERR_TOO_MANY", "more members than a barrier group can have"},
    [-GBA_ERR_STALE] = {"GBA_ERR_STALE", "the barrier group was freed before all members joined"},
    [-GBA_ERR_BUSY] = {"GBA_ERR_BUSY", "the device or the group is in use or not ready"},
    [-GBA_ERR_REFUSED] = {"GBA_ERR_REFUSED", "the device refused this member"},
    [-GBA_ERR_OTHER_DEVICE] = {"GBA_ERR_OTHER_DEVICE",
                               "this member and the leader use different devices"},
    [-GBA_ERR_DEAD] = {"GBA_ERR_DEAD", "the device stopped answering"},
    [-GBA_ERR_IO] = {"GBA_ERR_IO", "the driver or the operating system failed"},
    [-GBA_ERR_OOB] = {"GBA_ERR_OOB", "the exchange between the members failed"},
    [-GBA_ERR_NO_PLUGIN] = {"GBA_ERR_NO_PLUGIN", "a member lacks the plugin or has it disabled"},
    [-GBA_ERR_MISMATCH] = {"GBA_ERR_MISMATCH", "members have different values of a parameter"},
    [-GBA_ERR_UNSUPPORTED] = {"GBA_ERR_UNSUPPORTED", "not supported for this team or device"},
    [-GBA_ERR_TIMEOUT] = {"GBA_ERR_TIMEOUT", "a bounded wait timed out"},
    [-GBA_ERR_LIMIT] = {"GBA_ERR_LIMIT", "the job has as many barrier groups as max_groups allows"},
    [-GBA_ERR_DEFERRED] = {"GBA_ERR_DEFERRED", "fewer barriers so far than offload_after"},
    [-GBA_ERR_DISABLED] = {"GBA_ERR_DISABLED", "sw_enable is 0"},
    [-GBA_ERR_NO_TRANSPORT] = {"GBA_ERR_NO_TRANSPORT", "no transport between the hosts"},
    [-GBA_ERR_TOO_FEW] = {"GBA_ERR_TOO_FEW", "fewer members than min_comm_size"},
    [-GBA_ERR_QUOTA] = {"GBA_ERR_QUOTA",
                        "the user or the host uses as much of the device as the administrator "
                        "allows"},
    [-GBA_ERR_NOT_WANTED] = {"GBA_ERR_NOT_WANTED", "offload is never"},
    [-GBA_ERR_FEW_HOSTS] = {"GBA_ERR_FEW_HOSTS", "fewer hosts than min_hosts"},
    [-GBA_ERR_SLOWER] = {"GBA_ERR_SLOWER", "another barrier is measured or expected to be faster"},
    [-GBA_ERR_NO_FILES] = {"GBA_ERR_NO_FILES", "too many open files (ulimit -n)"},
    [-GBA_ERR_AWAY] = {"GBA_ERR_AWAY", "the gba-switchd does not answer"},
};

_Static_assert(sizeof errors / sizeof errors[0] == 1 - GBA_STATUS_LAST, "every status has a text");

static const struct entry *entry_of(gba_status_t status)
{
    static const struct entry inprogress = {"GBA_INPROGRESS", "not complete yet"};
    static const struct entry unfinished = {"GBA_UNFINISHED", "gba_barrier_end is due"};
    static const struct entry unknown = {"GBA_ERR_UNKNOWN", "unknown status"};

    if (GBA_INPROGRESS == status)
        return &inprogress;
    if (GBA_UNFINISHED == status)
        return &unfinished;
    return status <= 0 && status >= GBA_STATUS_LAST && errors[-status].name != NULL
               ? &errors[-status]
               : &unknown;
}

const char *gba_status_name(gba_status_t status)
{
    return entry_of(status)->name;
}

const char *gba_status_text(gba_status_t status)
{
    return entry_of(status)->text;
}

const char *gba_version(void)
{
    return VERSION(GBA_VERSION_MAJOR) "." VERSION(GBA_VERSION_MINOR) "." VERSION(GBA_VERSION_PATCH);
}

const char *gba_path_name(gba_path_t path)
{
    static const char *const names[] = {"device", "switch", "sim", "software", "fallback"};

    return (unsigned)path < sizeof names / sizeof names[0] ? names[path] : "unknown";
}
