/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The opening of a device, with the key of a gba-switchd that is reached over TCP. A process with
 * the key file opens the device and requests a key for the job, which no other job can use. The
 * other processes of the job open the device with that key, so only the host of the first process
 * needs the file, and no key is on a command line or in the environment.
 *
 * - coll: rank 0 hands the key over in the modex, the exchange of MPI_Init (PMIx). The modex is
 *   complete before any other rank opens a device.
 * - scoll opens after that exchange. If coll has published no key, the leader of a set hands the
 *   key to its members at the beginning of each agreement.
 *
 * Between hosts both cross the network of the job, which need not encrypt it, and every process of
 * the job can read the key. The messages to gba-switchd are in clear text, too.
 */
#include "ompi/mca/common/gba/module.h"

#include <string.h>

/* The keys of the job, one for each path. */
struct key_set {
    uint64_t count;
    struct {
        uint64_t path; /* its hash; never 0 */
        uint8_t key[GBA_KEY_SIZE];
    } entry[GBA_CANDIDATES_MAX];
};

static struct key_set keys; /* of this process; guarded by gba_common.lock */

static bool key_needed(const char *path)
{
    static const char tcp[] = "switch://";

    return 0 == strncmp(path, tcp, strlen(tcp));
}

/* The values of the modex have 64 bits: the hash of the path, and the halves of the key. */
enum { PART_PATH, PART_LOW, PART_HIGH, PARTS };

static void part_name(uint64_t index, int part, char name[40])
{
    snprintf(name, 40, "gba.switch.key.%u.%d", (unsigned)index, part);
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (; '\0' != *path; path++)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
    return 0 == hash ? 1 : hash;
}

/* --- The process with the key file --- */

static void request(const char *path, gba_device_t *device)
{
    uint8_t key[GBA_KEY_SIZE];

    if (NULL == device || GBA_OK != gba_device_job_key(device, key))
        return;
    opal_mutex_lock(&gba_common.lock);
    if (keys.count < GBA_CANDIDATES_MAX) {
        memcpy(keys.entry[keys.count].key, key, sizeof key);
        keys.entry[keys.count++].path = hash_of(path);
    }
    opal_mutex_unlock(&gba_common.lock);
    explicit_bzero(key, sizeof key);
}

/* Open a candidate before the choice among them (choice.c). Returns NULL if that fails. */
static gba_device_t *candidate_open(uint32_t index)
{
    struct gba_common_device *device = &gba_common.device;
    gba_device_t *opened;

    opal_mutex_lock(&gba_common.lock);
    if (NULL == device->others[index] &&
        GBA_OK !=
            gba_common_device_open(device->candidates.list[index].path, &device->others[index]))
        device->others[index] = NULL;
    opened = device->others[index];
    opal_mutex_unlock(&gba_common.lock);
    return opened;
}

/* Open the devices that need a key, and request a key for the job from each. The devices stay open,
 * because the keys end with the connections. */
static void request_all(void)
{
    const gba_candidates_t *candidates = &gba_common.device.candidates;
    const char *path = gba_common.params.device_path;
    gba_status_t status;

    if (!gba_common.enabled || gba_compat_job_size() < 2 ||
        !gba_device_key_file(gba_common.params.switch_key_file))
        return;
    if (candidates->count < 2 && key_needed(path))
        request(path, gba_common_device_get(&status));
    for (uint32_t i = 0; i < candidates->count && candidates->count > 1; i++)
        if (key_needed(candidates->list[i].path))
            request(candidates->list[i].path, candidate_open(i));
}

void gba_common_key_publish(void)
{
    char name[40];

    if (0 != OPAL_PROC_MY_NAME.vpid)
        return;
    request_all();
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

/* --- The other processes --- */

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

/* Whether this process has keys, such as those of the modex. */
static bool have_keys(void)
{
    bool any;

    opal_mutex_lock(&gba_common.lock);
    modex_take();
    any = 0 != keys.count;
    opal_mutex_unlock(&gba_common.lock);
    return any;
}

gba_status_t gba_common_key_share(const gba_oob_t *oob)
{
    struct key_set shared = {.count = 0};
    gba_status_t status;

    if (0 == oob->rank) {
        if (!have_keys())
            request_all();
        opal_mutex_lock(&gba_common.lock);
        shared = keys;
        opal_mutex_unlock(&gba_common.lock);
    }
    status = oob->bcast(oob->ctx, &shared, sizeof shared, 0);
    opal_mutex_lock(&gba_common.lock);
    if (GBA_OK == status && 0 == keys.count && shared.count <= GBA_CANDIDATES_MAX)
        keys = shared;
    opal_mutex_unlock(&gba_common.lock);
    explicit_bzero(&shared, sizeof shared);
    return status;
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

gba_status_t gba_common_device_open(const char *path, gba_device_t **device)
{
    char job[256];
    gba_device_attr_t attr = {.job = job, .key_file = gba_common.params.switch_key_file};

    gba_compat_job_name(job, sizeof job);
    if (key_needed(path))
        attr.key = key_for(path);
    return gba_global_device_get(path, &attr, device);
}

void gba_common_key_clear(void)
{
    explicit_bzero(&keys, sizeof keys);
}
