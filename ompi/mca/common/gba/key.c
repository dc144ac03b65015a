/* SPDX-License-Identifier: BSD-3-Clause */
/* The opening of a device, and the keys of the job for each gba-switchd that is reached over TCP.
 * job_key.c requests and shares them. */
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

#include "gba/base/clock.h"

/* Time in ms for which a process waits for all candidates together: the time that one device has,
 * because the other ranks of the job wait for this process. */
#define OTHERS_MS 10000u

/* Time in ms for which a process waits for a switch that may have been restarted: it tries again at
 * the next renegotiation. */
#define REVIVE_MS 500u

static struct gba_common_keys keys; /* of this process; guarded by gba_common.lock */

bool gba_common_key_needed(const char *path)
{
    static const char tcp[] = "switch://";

    /* With the option "?auth=munge" each process has a credential of its own. */
    return 0 == strncmp(path, tcp, strlen(tcp)) && strchr(path, '?') == NULL;
}

/* The values of the modex have 64 bits: the hash of the path, and the halves of the key. */
enum { PART_PATH, PART_LOW, PART_HIGH, PARTS };

static void part_name(uint64_t index, int part, char name[40])
{
    snprintf(name, 40, "gba.switch.key.%u.%d", (unsigned)index, part);
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = gba_common_hash(GBA_COMMON_HASH_START, path);

    return 0 == hash ? 1 : hash;
}

void gba_common_key_add(const char *path, const uint8_t key[GBA_KEY_SIZE])
{
    opal_mutex_lock(&gba_common.lock);
    if (keys.count < GBA_CANDIDATES_MAX) {
        memcpy(keys.entry[keys.count].key, key, GBA_KEY_SIZE);
        keys.entry[keys.count++].path = hash_of(path);
    }
    opal_mutex_unlock(&gba_common.lock);
}

void gba_common_keys_put(void)
{
    char name[40];

    for (uint64_t i = 0; i < keys.count; i++) {
        uint64_t part[PARTS] = {[PART_PATH] = keys.entry[i].path};

        for (int k = 7; k >= 0; k--) { /* of any byte order */
            part[PART_LOW] = part[PART_LOW] << 8 | keys.entry[i].key[k];
            part[PART_HIGH] = part[PART_HIGH] << 8 | keys.entry[i].key[8 + k];
        }
        for (int k = 0; k < PARTS; k++) {
            part_name(i, k, name);
            /* If that fails, each rank needs the file. */
            (void)gba_compat_modex_put(name, part[k]);
        }
        explicit_bzero(part, sizeof part);
    }
}

static bool part_get(uint64_t index, int part, uint64_t *value)
{
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    char name[40];

    first.vpid = 0;
    part_name(index, part, name);
    return OPAL_SUCCESS == gba_compat_modex_get(&first, name, value);
}

/* Take the keys that rank 0 has published, if this process has none. With the lock held. */
static void modex_take(void)
{
    uint64_t part[PARTS], count = 0;

    if (0 != keys.count || 0 == OPAL_PROC_MY_NAME.vpid)
        return;
    while (count < GBA_CANDIDATES_MAX && part_get(count, PART_PATH, &part[PART_PATH]) &&
           part_get(count, PART_LOW, &part[PART_LOW]) &&
           part_get(count, PART_HIGH, &part[PART_HIGH])) {
        keys.entry[count].path = part[PART_PATH];
        for (int k = 0; k < 8; k++) {
            keys.entry[count].key[k] = (uint8_t)(part[PART_LOW] >> 8 * k);
            keys.entry[count].key[8 + k] = (uint8_t)(part[PART_HIGH] >> 8 * k);
        }
        count++;
    }
    keys.count = count;
    explicit_bzero(part, sizeof part);
}

void gba_common_keys_get(struct gba_common_keys *copy)
{
    opal_mutex_lock(&gba_common.lock);
    modex_take();
    *copy = keys;
    opal_mutex_unlock(&gba_common.lock);
}

/* Open the device again if it was refused for lack of a key. With the lock held. */
static void device_retry(struct gba_common_device *device)
{
    if (GBA_ERR_PERM == device->status && device->device == NULL &&
        gba_common_key_needed(gba_common.params.device_path))
        device->tried = device->others_tried = false;
}

void gba_common_keys_set(const struct gba_common_keys *from)
{
    opal_mutex_lock(&gba_common.lock);
    if (0 == keys.count && 0 < from->count && from->count <= GBA_CANDIDATES_MAX) {
        keys = *from;
        device_retry(&gba_common.device);
    }
    opal_mutex_unlock(&gba_common.lock);
}

/* The key for that path. Hosts may reach one switch by different paths; so a single key is also for
 * a path that it does not name, unless the process has a file. Returns NULL: no key. With the lock
 * held. */
static const uint8_t *key_for(const char *path)
{
    const uint64_t hash = hash_of(path);

    modex_take();
    for (uint64_t i = 0; i < keys.count; i++)
        if (keys.entry[i].path == hash)
            return keys.entry[i].key;
    return 1 == keys.count && !gba_device_key_file(gba_common.params.switch_key_file)
               ? keys.entry[0].key
               : NULL;
}

gba_status_t gba_common_device_open(const char *path, uint32_t timeout_ms, gba_device_t **device)
{
    char job[256];
    gba_device_attr_t attr = {
        .job = job, .key_file = gba_common.params.switch_key_file, .timeout_ms = timeout_ms};

    gba_compat_job_name(job, sizeof job);
    if (gba_common_key_needed(path))
        attr.key = key_for(path);
    return gba_global_device_get(path, &attr, device);
}

void gba_common_device_revive(gba_device_t *device)
{
    const char *path = gba_common.params.device_path;
    const bool file = gba_device_key_file(gba_common.params.switch_key_file);
    char job[256], ignored[256];
    gba_device_attr_t attr = {
        .job = job, .key_file = gba_common.params.switch_key_file, .timeout_ms = REVIVE_MS};
    const uint8_t *job_key = gba_common_key_needed(path) ? key_for(path) : NULL;
    uint8_t key[GBA_KEY_SIZE];
    gba_status_t status;

    gba_compat_job_name(job, sizeof job);
    if (!file)
        attr.key = job_key;
    gba_common_log_keep(ignored, sizeof ignored); /* the switch may be away for long */
    status = gba_device_revive(device, &attr);
    /* A switch that was restarted does not know the key of the job, with which the other processes
     * connect at a later renegotiation. */
    if (GBA_OK == status && file && job_key != NULL) {
        memcpy(key, job_key, sizeof key);
        (void)gba_device_job_key(device, key);
        explicit_bzero(key, sizeof key);
    }
    gba_common_log_keep(NULL, 0);
}

/*
 * Each candidate may use an equal part of the time that is left, so a switch that does not answer
 * leaves time for the next one.
 */
void gba_common_candidate_open(uint32_t index)
{
    struct gba_common_device *device = &gba_common.device;
    const uint32_t left = device->others_ms < OTHERS_MS ? OTHERS_MS - device->others_ms : 0;
    const uint64_t began = gba_clock_ns();

    if (device->others[index] != NULL)
        return;
    if (GBA_OK != gba_common_device_open(device->candidates.list[index].path,
                                         left / (device->candidates.count - index) + 1,
                                         &device->others[index]))
        device->others[index] = NULL;
    device->others_ms += (uint32_t)((gba_clock_ns() - began) / 1000000u);
}

void gba_common_key_clear(void)
{
    explicit_bzero(&keys, sizeof keys);
}
