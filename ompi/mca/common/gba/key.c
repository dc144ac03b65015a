/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The opening of a device, and the key of a job for a gba-switchd that is reached over TCP. A
 * process with the key file opens the device and requests a key for the job, which no other job can
 * use. The other processes of the job open the device with that key, so only the host of the first
 * process needs the file, and no key is on a command line or in the environment.
 *
 * - coll: rank 0 hands the key over in the modex, the exchange of MPI_Init (PMIx). The modex is
 *   complete before any other rank opens a device.
 * - scoll opens after that exchange. If coll has published no key, the leader of a set hands the
 *   key to its members at the beginning of each agreement.
 *
 * Between hosts both cross the network of the job, which need not encrypt it, and every process of
 * the job can read the key. The messages to gba-switchd are in clear text, too.
 */
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

#include "gba/base/clock.h"

/* Time in ms for which a process waits for all candidates together: the time that one device has,
 * because the other ranks of the job wait for this process. */
#define OTHERS_MS 10000u

/* The keys of this process, one for each path; guarded by gba_common.lock. Also as words, for the
 * modex and for the exchange of an agreement. */
static struct {
    uint64_t count;
    struct {
        uint64_t path; /* its hash; never 0 */
        uint8_t key[GBA_KEY_SIZE];
    } entry[GBA_CANDIDATES_MAX];
} keys;

#define WORDS       (sizeof keys / sizeof(uint64_t))
#define ENTRY_WORDS (sizeof keys.entry[0] / sizeof(uint64_t))

static char modex_key[] = "gba.switch.keys"; /* not const: see capability.c of coll */

static bool key_needed(const char *path)
{
    static const char tcp[] = "switch://";

    /* With the option "?auth=munge" each process has a credential of its own. */
    return 0 == strncmp(path, tcp, strlen(tcp)) && strchr(path, '?') == NULL;
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = gba_common_hash(GBA_COMMON_HASH_START, path);

    return 0 == hash ? 1 : hash;
}

/* Set the keys of this process from words, if it has none and they are keys. Returns whether it
 * took them. With the lock held. */
static bool keys_set(const uint64_t words[WORDS])
{
    if (0 != keys.count || 0 == words[0] || words[0] > GBA_CANDIDATES_MAX)
        return false;
    memcpy(&keys, words, sizeof keys);
    return true;
}

/* Take the keys that rank 0 has published, if this process has none. With the lock held. */
static void modex_take(void)
{
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    uint64_t words[WORDS] = {0};

    first.vpid = 0;
    if (0 != keys.count || 0 == OPAL_PROC_MY_NAME.vpid)
        return;
    (void)gba_compat_modex_get(&first, modex_key, words, WORDS);
    (void)keys_set(words);
    explicit_bzero(words, sizeof words);
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
    if (key_needed(path))
        attr.key = key_for(path);
    return gba_global_device_get(path, &attr, device);
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

static void request(const char *path, gba_device_t *device)
{
    uint8_t key[GBA_KEY_SIZE] = {0};

    if (device == NULL || GBA_OK != gba_device_job_key(device, key))
        return;
    opal_mutex_lock(&gba_common.lock);
    if (keys.count < GBA_CANDIDATES_MAX) {
        memcpy(keys.entry[keys.count].key, key, GBA_KEY_SIZE);
        keys.entry[keys.count++].path = hash_of(path);
    }
    opal_mutex_unlock(&gba_common.lock);
    explicit_bzero(key, sizeof key);
}

/* Open a candidate before the choice among them (choice.c). Returns NULL if that fails. */
static gba_device_t *candidate_open(uint32_t index)
{
    gba_device_t *opened;

    opal_mutex_lock(&gba_common.lock);
    gba_common_candidate_open(index);
    opened = gba_common.device.others[index];
    opal_mutex_unlock(&gba_common.lock);
    return opened;
}

/* Open the devices that need a key, and request a key for the job from each. The devices stay open,
 * because the keys end with the connections. */
static void request_all(gba_common_get_fn_t get)
{
    const gba_candidates_t *candidates = &gba_common.device.candidates;
    const char *path = gba_common.params.device_path;
    gba_status_t status;

    if (!gba_common.enabled || gba_compat_job_size() < 2 ||
        !gba_device_key_file(gba_common.params.switch_key_file))
        return;
    if (candidates->count < 2 && key_needed(path))
        request(path, get(&status));
    for (uint32_t i = 0; i < candidates->count && candidates->count > 1; i++)
        if (key_needed(candidates->list[i].path))
            request(candidates->list[i].path, candidate_open(i));
}

void gba_common_key_publish(gba_common_get_fn_t get)
{
    uint64_t words[WORDS];

    if (0 != OPAL_PROC_MY_NAME.vpid)
        return;
    request_all(get);
    memcpy(words, &keys, sizeof words);
    /* If that fails, each rank needs the file. */
    if (0 != keys.count)
        (void)gba_compat_modex_put(modex_key, words, 1 + keys.count * ENTRY_WORDS);
    explicit_bzero(words, sizeof words);
}

/* Rank 0 sends the words; the other members contribute all ones. */
static gba_status_t words_share(const gba_oob_t *oob, uint64_t *words, uint32_t count)
{
    gba_status_t status = GBA_OK;

    for (uint32_t done = 0, some; done < count && GBA_OK == status; done += some) {
        some = count - done < GBA_OOB_WORDS ? count - done : GBA_OOB_WORDS;
        if (0 != oob->rank)
            memset(&words[done], 0xff, some * sizeof *words);
        status = oob->min(oob->ctx, &words[done], some);
        while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx))) {
            (void)opal_progress();
            status = GBA_OK;
        }
    }
    return status;
}

/* Returns the number of keys. */
static uint64_t keys_copy(uint64_t words[WORDS])
{
    opal_mutex_lock(&gba_common.lock);
    modex_take();
    memcpy(words, &keys, sizeof keys);
    opal_mutex_unlock(&gba_common.lock);
    return words[0];
}

gba_status_t gba_common_key_share(gba_common_get_fn_t get, const gba_oob_t *oob)
{
    struct gba_common_device *device = &gba_common.device;
    uint64_t words[WORDS] = {0};
    gba_status_t status;

    if (0 == oob->rank && 0 == keys_copy(words)) {
        request_all(get);
        (void)keys_copy(words);
    }
    status = words_share(oob, words, WORDS);
    opal_mutex_lock(&gba_common.lock);
    /* Open the device again if it was refused for lack of a key. */
    if (GBA_OK == status && keys_set(words) && GBA_ERR_PERM == device->status &&
        device->device == NULL && key_needed(gba_common.params.device_path))
        device->tried = device->others_tried = false;
    opal_mutex_unlock(&gba_common.lock);
    explicit_bzero(words, sizeof words);
    return status;
}
