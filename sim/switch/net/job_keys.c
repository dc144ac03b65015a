/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "sim/switch/net/job_keys.h"

#include <string.h>
#include <sys/random.h>

static bool is_valid(const struct gba_job_key *key, uint64_t now)
{
    return key->end > now;
}

int gba_job_key_make(struct gba_job_keys *keys, uint32_t user, uint64_t job, uint64_t now,
                     const uint8_t *secret)
{
    for (unsigned i = 0; i < GBA_JOB_KEYS; i++) {
        struct gba_job_key *key = &keys->key[i];

        if (is_valid(key, now))
            continue;
        key->end = 0;
        if (secret != NULL)
            memcpy(key->secret, secret, sizeof(key->secret));
        else if (getrandom(key->secret, sizeof(key->secret), 0) != sizeof(key->secret))
            return GBA_JOB_KEYS_NO_RANDOM;
        key->end = UINT64_MAX;
        key->user = user;
        key->job = job;
        return (int)i;
    }
    return GBA_JOB_KEYS_FULL;
}

void gba_job_key_end(struct gba_job_keys *keys, int index, uint64_t now, uint32_t seconds)
{
    struct gba_job_key *key = &keys->key[index];

    key->end = now + seconds * UINT64_C(1000000000);
    if (seconds == 0)
        explicit_bzero(key, sizeof(*key));
}

const struct gba_job_key *gba_job_key_find(const struct gba_job_keys *keys,
                                           const uint8_t secret[GBA_SWITCH_SECRET_BYTES],
                                           uint64_t now)
{
    const struct gba_job_key *found = NULL;

    for (unsigned i = 0; i < GBA_JOB_KEYS; i++) { /* all of them, whether one was found or not */
        const struct gba_job_key *key = &keys->key[i];
        bool equal = gba_switch_secret_equal(secret, key->secret);

        if (equal && is_valid(key, now))
            found = key;
    }
    return found;
}
