/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between Open MPI 4.1, 5.0 and 6.x for all components: the modex, the job, locks. */
#ifndef GBA_COMMON_COMPAT_H
#define GBA_COMMON_COMPAT_H

#include "ompi_config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#if OMPI_MAJOR_VERSION >= 5
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"
#else
#include "opal/mca/pmix/pmix.h"
#include "opal/threads/mutex.h"
#endif

/* The name of the job: the same for all its processes, different for every other job. */
static inline void gba_compat_job_name(char *text, size_t len)
{
#if OMPI_MAJOR_VERSION >= 5
    snprintf(text, len, "%s", opal_process_info.myprocid.nspace);
#else
    snprintf(text, len, "%u", (unsigned)OPAL_PROC_MY_NAME.jobid);
#endif
}

/* The most words that a process publishes under one key. */
#define GBA_MODEX_WORDS 128u

/*
 * Publish words of this process, as a text of 16 hexadecimal digits for each. To be called before
 * the framework's open ends; later ones reach no process. Scope global: scope local is not sent to
 * other hosts, and scope remote only to them. count: 1 to GBA_MODEX_WORDS.
 */
static inline int gba_compat_modex_put(char *key, const uint64_t *words, size_t count)
{
    char text[16 * GBA_MODEX_WORDS + 1];
    int rc;

    for (size_t i = 0; i < count; i++)
        snprintf(text + 16 * i, 17, "%016llx", (unsigned long long)words[i]);
#if OMPI_MAJOR_VERSION >= 5
    OPAL_MODEX_SEND_VALUE(rc, PMIX_GLOBAL, key, text, PMIX_STRING);
    rc = PMIX_SUCCESS == rc ? OPAL_SUCCESS : OPAL_ERROR;
#else
    OPAL_MODEX_SEND_VALUE(rc, OPAL_PMIX_GLOBAL, key, text, OPAL_STRING);
#endif
    explicit_bzero(text, sizeof text); /* perhaps a key of a gba-switchd */
    return rc;
}

/* The further argument of the function `dump` of an enumerator. */
#if OMPI_MAJOR_VERSION >= 5
#define GBA_COMPAT_DUMP_TYPE , __opal_attribute_unused__ mca_base_var_enum_dump_type_t type
#else
#define GBA_COMPAT_DUMP_TYPE
#endif

/*
 * Get the words that another process of the job has published, `most` at most. Returns their
 * number; 0: it published none. To be called after MPI_Init's exchange only: all processes have
 * published their words by then. So all callers get the same result, and no caller waits for words
 * that never come.
 * "Immediate": only the server of this host is asked. It has all words, or need not wait for one.
 */
static inline size_t gba_compat_modex_get(opal_process_name_t *name, char *key, uint64_t *words,
                                          size_t most)
{
    unsigned long long word;
    char *text = NULL;
    size_t count = 0;
    int rc;

#if OMPI_MAJOR_VERSION >= 5
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(rc, key, name, &text, PMIX_STRING);
    rc = PMIX_SUCCESS == rc ? OPAL_SUCCESS : OPAL_ERR_NOT_FOUND;
#else
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(rc, key, name, &text, OPAL_STRING);
#endif
    if (OPAL_SUCCESS == rc && text != NULL)
        for (const char *at = text; count < most && 1 == sscanf(at, "%16llx", &word); at += 16)
            words[count++] = word;
    free(text);
    return count;
}

static inline int gba_compat_proc_compare(const void *a, const void *b)
{
    const ompi_proc_t *const *x = a, *const *y = b;

    return (*x)->super.proc_name.vpid < (*y)->super.proc_name.vpid ? -1 : 1;
}

/*
 * The processes of this job on this host, in the order of their ranks. Open MPI has an object of
 * each of them from MPI_Init on. visit: called for each, this one included.
 */
static inline void gba_compat_local_visit(void (*visit)(void *ctx, opal_process_name_t *name),
                                          void *ctx)
{
    size_t count = 0;
    ompi_proc_t **procs = ompi_proc_get_allocated(&count);

    if (procs != NULL)
        qsort(procs, count, sizeof(ompi_proc_t *), gba_compat_proc_compare);
    for (size_t i = 0; procs != NULL && i < count; i++)
        if (procs[i]->super.proc_name.jobid == OPAL_PROC_MY_NAME.jobid &&
            (procs[i] == ompi_proc_local_proc ||
             OPAL_PROC_ON_LOCAL_NODE(procs[i]->super.proc_flags)))
            visit(ctx, &procs[i]->super.proc_name);
    free(procs);
}

/* Processes of this job on this host, this one included. */
static inline uint32_t gba_compat_local_processes(void)
{
    return (uint32_t)opal_process_info.num_local_peers + 1u;
}

/* The host name of a process; "?" if it is not known. Never blocks. */
static inline void gba_compat_host(opal_process_name_t *name, char *text, size_t len)
{
    char *host = NULL;
    int rc;

#if OMPI_MAJOR_VERSION >= 5
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, PMIX_HOSTNAME, name, &host, PMIX_STRING);
#else
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_HOSTNAME, name, &host, OPAL_STRING);
#endif
    snprintf(text, len, "%s", OPAL_SUCCESS == rc && host != NULL ? host : "?");
    free(host);
}

#endif
