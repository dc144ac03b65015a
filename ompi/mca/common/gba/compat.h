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
    const char *job = getenv("PMIX_NAMESPACE"); /* its number is a hash of it under Slurm */

    if (job != NULL)
        snprintf(text, len, "%s", job);
    else
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
    return rc;
}

/* The further argument of the function `dump` of an enumerator. */
#if OMPI_MAJOR_VERSION >= 5
#define GBA_COMPAT_DUMP_TYPE , __opal_attribute_unused__ mca_base_var_enum_dump_type_t type
#else
#define GBA_COMPAT_DUMP_TYPE
#endif

/*
 * Get a text that another process of the job has published, or that PMIx has about that process.
 * Open MPI's macros for this use memory without a check (4.1), and turn every error into "not
 * found" (5.0).
 * where: GBA_COMPAT_SERVER: only the server of this host is asked. It has all published texts, or
 * need not wait for one. GBA_COMPAT_PROCESS: no server is asked.
 * text: receives the text, to be freed, or NULL if there is none. Returns NULL, or the error in
 * words.
 */
#if OMPI_MAJOR_VERSION >= 5
#define GBA_COMPAT_SERVER   PMIX_IMMEDIATE
#define GBA_COMPAT_PROCESS  PMIX_OPTIONAL
#define GBA_COMPAT_HOSTNAME PMIX_HOSTNAME
static inline const char *gba_compat_text_get(opal_process_name_t *name, const char *key,
                                              const char *where, char **text)
{
    pmix_value_t *value = NULL;
    pmix_proc_t process;
    pmix_status_t rc;
    pmix_info_t how;

    OPAL_PMIX_CONVERT_NAME(&process, name);
    PMIX_INFO_LOAD(&how, where, NULL, PMIX_BOOL);
    rc = PMIx_Get(&process, key, &how, 1, &value);
    PMIX_INFO_DESTRUCT(&how);
    *text = NULL;
    if (PMIX_SUCCESS == rc && value != NULL && PMIX_STRING == value->type) {
        *text = value->data.string;
        value->data.string = NULL;
    }
    if (value != NULL)
        PMIX_VALUE_RELEASE(value);
    return *text != NULL || PMIX_ERR_NOT_FOUND == rc ? NULL : PMIx_Error_string(rc);
}
#else
#define GBA_COMPAT_SERVER   OPAL_PMIX_IMMEDIATE
#define GBA_COMPAT_PROCESS  OPAL_PMIX_OPTIONAL
#define GBA_COMPAT_HOSTNAME OPAL_PMIX_HOSTNAME
static inline const char *gba_compat_text_get(opal_process_name_t *name, const char *key,
                                              const char *where, char **text)
{
    opal_value_t how, *value = NULL;
    char attribute[64];
    opal_list_t list;
    int rc;

    OBJ_CONSTRUCT(&list, opal_list_t);
    OBJ_CONSTRUCT(&how, opal_value_t);
    snprintf(attribute, sizeof attribute, "%s", where);
    how.key = attribute;
    how.type = OPAL_BOOL;
    how.data.flag = true;
    opal_list_append(&list, &how.super);
    rc = opal_pmix.get(name, key, &list, &value);
    (void)opal_list_remove_first(&list);
    how.key = NULL; /* its destructor would free it */
    OBJ_DESTRUCT(&how);
    OBJ_DESTRUCT(&list);
    *text = NULL;
    if (OPAL_SUCCESS == rc && value != NULL && OPAL_STRING == value->type) {
        *text = value->data.string;
        value->data.string = NULL;
    }
    if (value != NULL)
        OBJ_RELEASE(value);
    return *text != NULL || OPAL_ERR_NOT_FOUND == rc ? NULL : opal_strerror(rc);
}
#endif

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

    (void)gba_compat_text_get(name, GBA_COMPAT_HOSTNAME, GBA_COMPAT_PROCESS, &host);
    snprintf(text, len, "%s", host != NULL ? host : "?");
    free(host);
}

#endif
