/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/info.h"

#include <stdlib.h>
#include <string.h>

#include "gba/dev/member.h"

/* Statuses are above this number, negated. */
#define STATUS_BASE 256

enum {
    HOST = 0,   /* four words, and their complements */
    DEVICE = 8, /* two words, and their complements */
    NO_DEVICE = 12,
    MEMORY,
    DISABLED,
    NO_REMOTE,
    PULL, /* the flags: 0 or all ones */
    CORES,
    SAME,
    FAILURE,
    FAILED_ROUND,
    TERMS
};

#define TERMS_WORDS (sizeof(struct gba_terms) / sizeof(uint64_t))
_Static_assert(TERMS + TERMS_WORDS == GBA_FACTS && GBA_FACTS <= GBA_OOB_WORDS,
               "the facts fit into one exchange");

uint64_t gba_refusal_word(gba_status_t status, uint32_t rank)
{
    return (uint64_t)(uint32_t)(STATUS_BASE + (int)status) << 32 | rank;
}

struct gba_refusal gba_refusal_of(uint64_t word)
{
    const gba_status_t status = (gba_status_t)((int)(word >> 32) - STATUS_BASE);

    return (struct gba_refusal){status, GBA_OK == status ? 0 : (uint32_t)word};
}

/* A flag that is true if it is so on all members. */
static uint64_t flag(bool value)
{
    return value ? UINT64_MAX : 0;
}

/* Bytes that are equal on all members that have them: their minimum, and that of the complement. */
static void equal_fill(uint64_t *words, const void *bytes, size_t count)
{
    memcpy(words, bytes, count * sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[count + i] = ~words[i];
}

static bool equal_read(const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != ~words[count + i])
            return false;
    return true;
}

void gba_info_fill(uint64_t *words, const struct gba_own *own)
{
    const gba_team_attr_t *attr = own->attr;
    struct gba_host host;
    gba_status_t status = own->memory, hosted;

    memset(words, 0xff, GBA_FACTS * sizeof *words);
    memset(&host, 0, sizeof host);
    hosted = gba_host_get(&host);
    if (GBA_OK == status)
        status = hosted;
    equal_fill(&words[HOST], &host, 4);
    if (attr->device != NULL)
        equal_fill(&words[DEVICE], attr->device->dev->uuid, 2);
    words[NO_DEVICE] = gba_refusal_word(
        attr->device == NULL && attr->devices == NULL ? attr->device_status : GBA_OK, own->rank);
    words[MEMORY] = gba_refusal_word(status, own->rank);
    words[DISABLED] =
        gba_refusal_word(attr->params->sw_enable ? GBA_OK : GBA_ERR_DISABLED, own->rank);
    words[NO_REMOTE] =
        gba_refusal_word(attr->remote != NULL ? GBA_OK : GBA_ERR_NO_TRANSPORT, own->rank);
    words[PULL] = flag(attr->remote != NULL && attr->remote->pulls);
    words[CORES] = flag(!attr->oversubscribed);
    words[SAME] = flag(attr->device != NULL || attr->devices == NULL);
    words[FAILURE] = gba_refusal_word(own->failure, own->rank);
    if (GBA_OK != own->failure)
        words[FAILED_ROUND] = own->failed_round;
    if (0 == own->rank)
        memcpy(&words[TERMS], own->terms, sizeof *own->terms);
}

void gba_info_read(struct gba_info *info, const uint64_t *words)
{
    memcpy(&info->terms, &words[TERMS], sizeof info->terms);
    info->one_host = equal_read(&words[HOST], 4);
    info->hosts = info->one_host ? 1 : 0;
    info->largest = info->size;
    info->one_device = equal_read(&words[DEVICE], 2) && 0 != words[SAME];
    info->oversubscribed = 0 == words[CORES];
    info->pull = 0 != words[PULL];
    info->device = gba_refusal_of(words[NO_DEVICE]);
    info->memory = gba_refusal_of(words[MEMORY]);
    info->disabled = gba_refusal_of(words[DISABLED]);
    info->remote = gba_refusal_of(words[NO_REMOTE]);
    info->failure = gba_refusal_of(words[FAILURE]);
    info->failed_round = words[FAILED_ROUND];
}

void gba_member_info_fill(struct gba_member_info *member_info, const gba_team_attr_t *attr,
                          const uint8_t uuid[GBA_UUID_SIZE])
{
    gba_device_t *device = gba_switches_device(attr, gba_switches_key(uuid));

    memset(member_info, 0, sizeof *member_info);
    /* A failure of the host is a fact that all members know already. */
    (void)gba_host_get(&member_info->host);
    if (device == NULL)
        device = attr->device;
    if (device == NULL) {
        member_info->device_status = attr->device_status;
        return;
    }
    memcpy(member_info->port.uuid, device->dev->uuid, sizeof member_info->port.uuid);
    member_info->port.members_max = device->members_max;
}

static int compare_words(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* A host as one word; two hosts of one team have the same word by an accident of 1 in 2^64. */
static uint64_t host_word(const struct gba_host *host)
{
    uint64_t word = 0;

    for (size_t i = 0; i < sizeof host->word / sizeof host->word[0]; i++)
        word = (word ^ host->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return word;
}

/* The number of different words, and of the most frequent one. */
static uint32_t words_count(uint64_t *words, uint32_t size, uint32_t *most)
{
    uint32_t count = 0, run = 0;

    uint32_t ordered = 1;

    while (ordered < size && words[ordered] >= words[ordered - 1])
        ordered++;
    if (ordered < size)
        qsort(words, size, sizeof *words, compare_words);
    for (uint32_t i = 0; i < size; i++) {
        run = 0 == i || words[i] != words[i - 1] ? 1 : run + 1;
        count += 1 == run;
        *most = run > *most ? run : *most;
    }
    return count;
}

void gba_layout_read(struct gba_info *info, const struct gba_member_info *members,
                     uint64_t *scratch)
{
    uint32_t ignored = 0;

    info->members = members;
    info->largest = 0;
    for (uint32_t rank = 0; rank < info->size; rank++)
        scratch[rank] = gba_switches_key(members[rank].port.uuid);
    info->ports = words_count(scratch, info->size, &ignored);
    for (uint32_t rank = 0; rank < info->size; rank++)
        scratch[rank] = host_word(&members[rank].host);
    info->hosts = words_count(scratch, info->size, &info->largest);
}
