/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The opening of a device, with the key of a gba-switchd that is reached over TCP. Rank 0 reads the
 * key file, and hands the key to the other ranks of its job with the modex, the exchange of
 * MPI_Init. So only the host of rank 0 needs the file, and the key is never on a command line. A
 * rank with a usable file of its own uses that one.
 *
 * Between hosts the modex crosses the network of the launcher (PMIx), which need not encrypt it,
 * and every process of the job can read it. So rank 0 publishes the key only if it may use such a
 * gba-switchd itself. gba-switchd expects it in clear text, too.
 */
#include "ompi/mca/common/gba/module.h"

#include <string.h>

/* Not const, because Open MPI 4.1 takes them as char *. The values have 64 bits. */
static char names[2][20] = {"gba.switch.key.low", "gba.switch.key.high"};

static bool key_needed(const char *path)
{
    static const char tcp[] = "switch://";

    return 0 == strncmp(path, tcp, strlen(tcp));
}

/* Whether a device that this process may open needs the key. */
static bool any_needed(void)
{
    const gba_candidates_t *candidates = &gba_common.device.candidates;

    if (key_needed(gba_common.params.device_path))
        return true;
    for (uint32_t i = 0; i < candidates->count; i++)
        if (key_needed(candidates->list[i].path))
            return true;
    return false;
}

void gba_common_key_publish(void)
{
    uint8_t key[GBA_KEY_SIZE];
    uint64_t half;

    if (!gba_common.enabled || 0 != OPAL_PROC_MY_NAME.vpid || !any_needed() ||
        GBA_OK != gba_device_key(gba_common.params.switch_key_file, key))
        return;
    for (int i = 0; i < 2; i++) {
        half = 0;
        for (int k = 7; k >= 0; k--) /* of any byte order */
            half = half << 8 | key[8 * i + k];
        /* If that fails, each rank needs the file. */
        (void)gba_compat_modex_put(names[i], half);
    }
    explicit_bzero(key, sizeof key);
}

/* The key of rank 0. Returns whether it has published one; rank 0 itself has only its file. */
static bool key_of_rank0(uint8_t key[GBA_KEY_SIZE])
{
    opal_process_name_t first = OPAL_PROC_MY_NAME;
    uint64_t half;

    if (0 == first.vpid)
        return false;
    first.vpid = 0;
    for (int i = 0; i < 2; i++) {
        if (OPAL_SUCCESS != gba_compat_modex_get(&first, names[i], &half))
            return false;
        for (int k = 0; k < 8; k++)
            key[8 * i + k] = (uint8_t)(half >> 8 * k);
    }
    return true;
}

gba_status_t gba_common_device_open(const char *path, gba_device_t **device)
{
    uint8_t key[GBA_KEY_SIZE];
    char job[256];
    gba_device_attr_t attr = {.job = job, .key_file = gba_common.params.switch_key_file};
    gba_status_t status;

    gba_compat_job_name(job, sizeof job);
    /* The process's own file first: rank 0 may have another key. */
    if (key_needed(path) && (GBA_OK == gba_device_key(attr.key_file, key) || key_of_rank0(key)))
        attr.key = key;
    status = gba_global_device_get(path, &attr, device);
    explicit_bzero(key, sizeof key);
    return status;
}
