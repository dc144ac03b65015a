/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that other processes of the job have published in the modex of MPI_Init. */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

uint32_t gba_common_modex_get(opal_process_name_t *name, const char *key, uint64_t *words,
                              uint32_t most)
{
    unsigned long long word;
    uint32_t count = 0;
    char *text, why[200];
    const char *error = gba_compat_text_get(name, key, GBA_COMPAT_SERVER, &text);

    if (error != NULL) {
        snprintf(why, sizeof why, "cannot get %s of rank %u from PMIx: %s", key,
                 (unsigned)name->vpid, error);
        gba_common_end_job(why);
    }
    if (text != NULL)
        for (const char *at = text; count < most && 1 == sscanf(at, "%16llx", &word); at += 16)
            words[count++] = word;
    free(text);
    return count;
}
