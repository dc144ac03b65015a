/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of a component, the reports about those that fail to open, and the keys of the job
 * for each gba-switchd that is reached over TCP. A process with the key file opens the device and
 * requests a key for the job, which no other job can use. The other processes of the job open the
 * device with that key, so only the host of the first process needs the file, and no key is on a
 * command line or in the environment.
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

/* Time in ms for which a process waits for all choices together: the time that one device has,
 * because the other ranks of the job wait for this process. */
#define OTHERS_MS 10000u

/* The keys of this process, one for each path; guarded by gba_common.lock. As words they are in the
 * modex and in the exchange of an agreement. */
struct job_key {
    uint64_t path; /* its hash */
    uint8_t key[GBA_KEY_SIZE];
};
#define KEY_WORDS (sizeof(struct job_key) / sizeof(uint64_t))
#define WORDS     (1 + GBA_DEVICE_CHOICES_MAX * KEY_WORDS)
static union {
    struct {
        uint64_t count;
        struct job_key entry[GBA_DEVICE_CHOICES_MAX];
    };
    uint64_t words[WORDS];
} keys;

static char modex_key[] = "gba.switch.keys"; /* not const: see capability.c of coll */

/* Whether a process without the key file needs a key of the job for that path. */
static bool key_needed(const char *path)
{
    static const char tcp[] = "switch://";

    return 0 == strncmp(path, tcp, strlen(tcp));
}

/* Set the keys of this process from words, if it has none and they are keys. Returns whether it
 * took them. With the lock held. */
static bool keys_set(const uint64_t words[WORDS])
{
    if (0 != keys.count || 0 == words[0] || words[0] > GBA_DEVICE_CHOICES_MAX)
        return false;
    memcpy(keys.words, words, sizeof keys.words);
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
    (void)gba_common_modex_get(&first, modex_key, words, WORDS);
    (void)keys_set(words);
    explicit_bzero(words, sizeof words);
}

/* The key for that path. Hosts may reach one switch by different paths; so a single key is also for
 * a path that it does not name, unless the process has a file. Returns NULL: none is needed, or
 * there is none. With the lock held. */
static const uint8_t *key_for(const char *path)
{
    const uint64_t hash = gba_common_hash(path);

    if (!key_needed(path))
        return NULL;
    modex_take();
    for (uint64_t i = 0; i < keys.count; i++)
        if (keys.entry[i].path == hash)
            return keys.entry[i].key;
    return 1 == keys.count && !gba_device_key_file(gba_common.params.switch_key_file)
               ? keys.entry[0].key
               : NULL;
}

static const char *path_of(uint32_t index)
{
    const gba_device_choices_t *choices = &gba_common.device.choices;

    return choices->count > 1 ? choices->list[index].path : gba_common.params.device_path;
}

/* Open a device with this job's attributes, unless it is open. After MPI_Init's exchange, except on
 * rank 0. timeout_ms: as in gba_device_attr_t. Returns as gba_global_device_get; GBA_ERR_AWAY: the
 * device is open, for an agreement that finds its switch. With the lock held. */
static gba_status_t device_open(uint32_t index, uint32_t timeout_ms)
{
    struct gba_common_device *device = &gba_common.device;
    char job[256];
    gba_device_attr_t attr = {.job = job,
                              .key_file = gba_common.params.switch_key_file,
                              .key = key_for(path_of(index)),
                              .timeout_ms = timeout_ms,
                              .later = true};
    gba_device_info_t info = {.dead = false};
    gba_status_t status = GBA_OK;

    if (device->open[index] == NULL) {
        gba_compat_job_name(job, sizeof job);
        status = gba_global_device_get(path_of(index), &attr, &device->open[index]);
    }
    if (GBA_OK == status)
        status = gba_device_query(device->open[index], &info);
    return GBA_OK == status && info.dead && 0 == info.groups ? GBA_ERR_AWAY : status;
}

/* Open a choice beside the device of the process. Each may use an equal part of the time that is
 * left, so a switch that does not answer leaves time for the next one. With the lock held. */
static void other_open(uint32_t index)
{
    struct gba_common_device *device = &gba_common.device;
    const uint32_t left = device->others_ms < OTHERS_MS ? OTHERS_MS - device->others_ms : 0;
    const uint64_t began = gba_clock_ns();

    (void)device_open(index, left / (device->choices.count - index) + 1);
    device->others_ms += (uint32_t)((gba_clock_ns() - began) / 1000000u);
}

/* Open the choices beside the chosen one, once in the life of the process. With the lock held.
 */
static void others_open(void)
{
    struct gba_common_device *device = &gba_common.device;

    for (uint32_t i = 0; i < device->choices.count && !device->others_tried; i++)
        if (i != device->chosen)
            other_open(i);
    device->others_tried = true;
}

/* The chosen device cannot be opened: take the first choice that can. */
static void device_replace(struct gba_common_device *device)
{
    others_open();
    for (uint32_t i = 0; i < device->choices.count && GBA_OK != device->status; i++)
        if (device->open[i] != NULL && GBA_OK == device_open(i, 0)) {
            device->status = GBA_OK;
            device->current = i;
            gba_common.params.device_path = device->choices.list[i].path;
        }
}

/*
 * Report a device file that fails to open. It is a fault of the system, whether the user set
 * device_path or not. If the user set it, the line about the first communicator without a device
 * has the same content; there is no such line if another device of the host replaces the chosen
 * one.
 */
static void device_report(void)
{
    const struct gba_common_device *device = &gba_common.device;
    const char *failed = path_of(device->chosen);
    char topic[300], advice[160];

    if ('\0' == device->detail[0])
        return;
    snprintf(topic, sizeof topic, "device %.255s", failed);
    if (!gba_common_first_on_host(topic))
        return;
    if (GBA_OK == device->status) {
        gba_common_alert("%s; its processes use %s", device->detail, path_of(device->current));
        return;
    }
    gba_device_advice(failed, device->status, advice, sizeof advice);
    gba_common_alert("%s; barriers use software%s%s", device->detail, '\0' == advice[0] ? "" : ". ",
                     advice);
}

gba_device_t *gba_common_device_get(gba_status_t *status)
{
    struct gba_common_device *device = &gba_common.device;
    bool tried;

    opal_mutex_lock(&gba_common.lock);
    tried = device->tried;
    if (!tried) {
        gba_common_choice_make();
        device->current = device->chosen;
        gba_common_log_keep(device->detail, sizeof device->detail);
        device->status = device_open(device->chosen, 0);
        gba_common_log_keep(NULL, 0);
        if (GBA_OK != device->status)
            device_replace(device);
        device->tried = true;
    }
    *status = device->status;
    opal_mutex_unlock(&gba_common.lock);
    if (!tried &&
        (device->current != device->chosen || (!gba_common.device_asked && GBA_OK != *status)))
        device_report();
    return device->open[device->current];
}

uint32_t gba_common_devices_get(void *unused, gba_device_t **list, uint32_t max)
{
    struct gba_common_device *device = &gba_common.device;
    uint32_t count = 0;

    (void)unused;
    opal_mutex_lock(&gba_common.lock);
    others_open();
    for (uint32_t i = 0; i < device->choices.count && count < max; i++)
        if (device->open[i] != NULL)
            list[count++] = device->open[i];
    opal_mutex_unlock(&gba_common.lock);
    return count;
}

void gba_common_devices_put(void)
{
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        gba_global_device_put(gba_common.device.open[i]);
    memset(&gba_common.device, 0, sizeof gba_common.device);
    explicit_bzero(&keys, sizeof keys);
}

/* Request a key of the job from a device that needs one, unless there is one. With the lock held.
 */
static void key_request(uint32_t index)
{
    struct gba_common_device *device = &gba_common.device;
    const char *path = path_of(index);
    struct job_key *entry;

    if (!key_needed(path) || key_for(path) != NULL || GBA_DEVICE_CHOICES_MAX == keys.count)
        return;
    entry = &keys.entry[keys.count];
    if (device->choices.count > 1)
        other_open(index);
    if (device->open[index] != NULL &&
        GBA_OK == gba_device_job_key(device->open[index], entry->key)) {
        entry->path = gba_common_hash(path);
        keys.count++;
    }
}

/* The same for all choices, if the process has the key file. The devices stay open, because the
 * keys end with the connections. */
static void keys_request(void)
{
    const uint32_t count = gba_common.device.choices.count;
    gba_status_t status;

    if (!gba_common.enabled || ompi_proc_world_size() < 2 ||
        !gba_device_key_file(gba_common.params.switch_key_file))
        return;
    if (count < 2 && key_needed(gba_common.params.device_path))
        (void)gba_common_device_get(&status);
    opal_mutex_lock(&gba_common.lock);
    for (uint32_t i = 0; 0 == i || i < count; i++)
        key_request(i);
    opal_mutex_unlock(&gba_common.lock);
}

void gba_common_keys_publish(void)
{
    if (0 != OPAL_PROC_MY_NAME.vpid)
        return;
    keys_request();
    /* If that fails, each rank needs the file. */
    if (0 != keys.count)
        (void)gba_compat_modex_put(modex_key, keys.words, 1 + keys.count * KEY_WORDS);
}

/* Rank 0 sends the words; the other members contribute all ones. */
static gba_status_t words_share(struct gba_common_module *m, uint64_t *words, uint32_t count)
{
    gba_status_t status = GBA_OK;

    for (uint32_t done = 0, some; done < count && GBA_OK == status; done += some) {
        some = count - done < GBA_OOB_WORDS ? count - done : GBA_OOB_WORDS;
        if (0 != m->rank)
            memset(&words[done], 0xff, some * sizeof *words);
        status = gba_common_min(m, &words[done], some);
    }
    return status;
}

gba_status_t gba_common_keys_share(struct gba_common_module *m)
{
    struct gba_common_device *device = &gba_common.device;
    uint64_t words[WORDS];
    gba_status_t status;

    if (0 == m->rank)
        keys_request();
    opal_mutex_lock(&gba_common.lock);
    memcpy(words, keys.words, sizeof words);
    opal_mutex_unlock(&gba_common.lock);
    status = words_share(m, words, WORDS);
    opal_mutex_lock(&gba_common.lock);
    /* Open the device again if it was refused for lack of a key. */
    if (GBA_OK == status && keys_set(words) && GBA_ERR_PERM == device->status &&
        key_needed(gba_common.params.device_path))
        device->tried = device->others_tried = false;
    opal_mutex_unlock(&gba_common.lock);
    explicit_bzero(words, sizeof words);
    return status;
}
