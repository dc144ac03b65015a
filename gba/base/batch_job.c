/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/batch_job.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/process.h"

static const struct {
    const char *variable, *system;
} systems[] = {{"SLURM_JOB_ID=", "slurm"},
               {"PBS_JOBID=", "pbs"},
               {"LSB_JOBID=", "lsf"},
               {"FLUX_JOB_ID=", "flux"}};

#define SYSTEMS (sizeof systems / sizeof systems[0])

/* Flux's ids begin with a hooked f in UTF-8; Flux takes a plain one as well. */
static void make_text(const char *system, const char *value, char text[GBA_BATCH_JOB])
{
    static const char hooked[] = "\xC6\x92";
    const char *plain = "";

    if (0 == strncmp(value, hooked, sizeof hooked - 1)) {
        value += sizeof hooked - 1;
        plain = "f";
    }
    snprintf(text, GBA_BATCH_JOB, "%s:%s%.24s", system, plain, value);
    for (char *c = text; '\0' != *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '?';
}

void gba_batch_job_in(const char *file, char text[GBA_BATCH_JOB])
{
    FILE *in = fopen(file, "re");
    size_t size = 0, best = SYSTEMS;
    char *line = NULL;

    text[0] = '\0';
    if (in == NULL)
        return;
    while (getdelim(&line, &size, '\0', in) > 0)
        for (size_t i = 0; i < best; i++) {
            size_t len = strlen(systems[i].variable);

            if (0 != strncmp(line, systems[i].variable, len) || '\0' == line[len])
                continue;
            make_text(systems[i].system, line + len, text);
            best = i;
        }
    free(line);
    fclose(in);
}

void gba_batch_job(uint32_t process, char text[GBA_BATCH_JOB])
{
    char file[40] = "/proc/thread-self/environ";

    if (0 != process)
        snprintf(file, sizeof file, "/proc/%u/environ", (unsigned)gba_process_thread(process));
    gba_batch_job_in(file, text);
}
