/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key of a job for a gba-switchd that is reached over TCP. A process with the key file opens
 * the device and requests a key for the job, which no other job can use. The other processes of the
 * job open the device with that key, so only the host of the first process needs the file, and no
 * key is on a command line or in the environment.
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

#include <string.h>

static void request(const char *path, gba_device_t *device)
{
    uint8_t key[GBA_KEY_SIZE] = {0};

    if (device == NULL || GBA_OK != gba_device_job_key(device, key))
        return;
    gba_common_key_add(path, key);
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
static void request_all(void)
{
    const gba_candidates_t *candidates = &gba_common.device.candidates;
    const char *path = gba_common.params.device_path;
    gba_status_t status;

    if (!gba_common.enabled || gba_compat_job_size() < 2 ||
        !gba_device_key_file(gba_common.params.switch_key_file))
        return;
    if (candidates->count < 2 && gba_common_key_needed(path))
        request(path, gba_common_device_get(&status));
    for (uint32_t i = 0; i < candidates->count && candidates->count > 1; i++)
        if (gba_common_key_needed(candidates->list[i].path))
            request(candidates->list[i].path, candidate_open(i));
}

void gba_common_key_publish(void)
{
    if (0 != OPAL_PROC_MY_NAME.vpid)
        return;
    request_all();
    gba_common_keys_put();
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

gba_status_t gba_common_key_share(const gba_oob_t *oob)
{
    uint64_t words[sizeof(struct gba_common_keys) / sizeof(uint64_t)];
    struct gba_common_keys shared = {.count = 0};
    gba_status_t status;

    if (0 == oob->rank) {
        gba_common_keys_get(&shared);
        if (0 == shared.count) {
            request_all();
            gba_common_keys_get(&shared);
        }
    }
    memcpy(words, &shared, sizeof words);
    status = words_share(oob, words, sizeof words / sizeof words[0]);
    memcpy(&shared, words, sizeof words);
    if (GBA_OK == status)
        gba_common_keys_set(&shared);
    explicit_bzero(words, sizeof words);
    explicit_bzero(&shared, sizeof shared);
    return status;
}
