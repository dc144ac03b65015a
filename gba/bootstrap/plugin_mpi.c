/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in mpi. In each call the members first exchange what they call, by a nonblocking
 * collective: so a missing member is a timeout, and different calls are an error on all members.
 * The data follow by a blocking collective, which all members have entered or enter at once.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/backend.h"

/* One call, as each member sends it to all before the data. */
struct call {
    uint64_t kind, bytes, root; /* kind: 4 gather, 5 broadcast, 6 minimum, nonblocking */
};

struct over_mpi {
    struct gba_boot_backend base;
    MPI_Comm comm; /* a duplicate: its calls are apart from those of the program */
    uint64_t timeout;
    bool abandoned; /* a collective has timed out; MPI may still use the memory */
    struct call mine;
    struct call *calls; /* [size] */
};

/* MPI is finalized by the last bootstrap if a bootstrap has initialised it. */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static bool ours;

static gba_status_t failed(const char *what, int error, char *message)
{
    char text[MPI_MAX_ERROR_STRING] = "?";
    int len;

    (void)MPI_Error_string(error, text, &len);
    snprintf(message, GBA_BOOT_MESSAGE, "%s failed: %.180s", what, text);
    return GBA_ERR_OOB;
}

/* Whether all members make the same call. Returns GBA_OK or GBA_ERR_MISMATCH, which sets message.
 */
static gba_status_t calls_match(const struct call *calls, uint32_t size, char *message)
{
    for (uint32_t rank = 1; rank < size; rank++)
        if (calls[rank].kind != calls[0].kind || calls[rank].bytes != calls[0].bytes ||
            calls[rank].root != calls[0].root) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "rank 0 and rank %u make different calls: they are not in step",
                     (unsigned)rank);
            return GBA_ERR_MISMATCH;
        }
    return GBA_OK;
}

static gba_status_t call_timeout(uint32_t size, uint64_t timeout, char *message)
{
    snprintf(message, GBA_BOOT_MESSAGE,
             "timeout: some of the %u members did not come within %u seconds "
             "(GBA_BOOTSTRAP_TIMEOUT)",
             (unsigned)size, (unsigned)(timeout / 1000000000u));
    return GBA_ERR_TIMEOUT;
}

/* Wait for a collective that was started with `error`. limit: ns; 0: none. done: false: it takes
 * longer. */
static int await(const struct over_mpi *m, int error, MPI_Request *request, uint64_t limit,
                 int *done)
{
    const uint64_t end = gba_clock_ns() + limit;

    *done = 0;
    while (MPI_SUCCESS == error) {
        error = MPI_Test(request, done, MPI_STATUS_IGNORE);
        if (*done || (0 != limit && gba_clock_ns() > end))
            break;
        if (m->base.look != NULL)
            m->base.look(m->base.look_ctx);
        sched_yield();
    }
    return error;
}

/* Wait until all members are in this call, and compare their calls. */
static gba_status_t enter_call(struct over_mpi *m, const struct call *call, char *message)
{
    int bytes = (int)sizeof m->mine, done, error;
    MPI_Request request;

    m->mine = *call;
    error = MPI_Iallgather(&m->mine, bytes, MPI_BYTE, m->calls, bytes, MPI_BYTE, m->comm, &request);
    error = await(m, error, &request, m->timeout, &done);
    if (MPI_SUCCESS != error)
        return failed("MPI_Iallgather", error, message);
    if (!done) {
        m->abandoned = true; /* a collective cannot be cancelled */
        return call_timeout(m->base.size, m->timeout, message);
    }
    return calls_match(m->calls, m->base.size, message);
}

/* Wait for the data of a call, whose memory is the caller's. All members are in the call. */
static gba_status_t finish_call(const struct over_mpi *m, const char *what, int error,
                                MPI_Request *request, char *message)
{
    int done;

    error = await(m, error, request, 0, &done);
    return MPI_SUCCESS == error ? GBA_OK : failed(what, error, message);
}

static gba_status_t mpi_gather(struct gba_boot_backend *self, const void *in, void *out,
                               size_t bytes, char *message)
{
    struct over_mpi *m = (struct over_mpi *)self;
    gba_status_t status = enter_call(m, &(struct call){.kind = 4, .bytes = bytes}, message);
    MPI_Request request;
    int error;

    if (GBA_OK != status || 0 == bytes)
        return status;
    error = MPI_Iallgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, m->comm, &request);
    return finish_call(m, "MPI_Iallgather", error, &request, message);
}

static gba_status_t mpi_bcast(struct gba_boot_backend *self, void *buffer, size_t bytes,
                              uint32_t root, char *message)
{
    struct over_mpi *m = (struct over_mpi *)self;
    gba_status_t status =
        enter_call(m, &(struct call){.kind = 5, .bytes = bytes, .root = root}, message);
    MPI_Request request;
    int error;

    if (GBA_OK != status || 0 == bytes)
        return status;
    error = MPI_Ibcast(buffer, (int)bytes, MPI_BYTE, (int)root, m->comm, &request);
    return finish_call(m, "MPI_Ibcast", error, &request, message);
}

static gba_status_t mpi_min(struct gba_boot_backend *self, uint64_t *words, uint32_t count,
                            char *message)
{
    struct over_mpi *m = (struct over_mpi *)self;
    gba_status_t status = enter_call(m, &(struct call){.kind = 6, .bytes = count}, message);
    MPI_Request request;
    int error;

    if (GBA_OK != status)
        return status;
    error =
        MPI_Iallreduce(MPI_IN_PLACE, words, (int)count, MPI_UINT64_T, MPI_MIN, m->comm, &request);
    return finish_call(m, "MPI_Iallreduce", error, &request, message);
}

static void leave_mpi(void)
{
    int finalized = 0;

    pthread_mutex_lock(&users_lock);
    users--;
    (void)MPI_Finalized(&finalized);
    if (0 == users && ours && !finalized) {
        ours = false;
        (void)MPI_Finalize();
    }
    pthread_mutex_unlock(&users_lock);
}

static void mpi_close(struct gba_boot_backend *self)
{
    struct over_mpi *m = (struct over_mpi *)self;
    bool abandoned = m->abandoned;
    int finalized = 0;

    (void)MPI_Finalized(&finalized);
    if (!finalized && !abandoned && MPI_COMM_NULL != m->comm)
        (void)MPI_Comm_free(&m->comm);
    leave_mpi();
    if (abandoned)
        return;
    free(m->calls);
    free(m);
}

/* A collective call may return before its last messages have left. */
static void mpi_progress(struct gba_boot_backend *self)
{
    int found;

    (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ((struct over_mpi *)self)->comm, &found,
                     MPI_STATUS_IGNORE);
}

static const struct gba_boot_ops mpi_ops = {.gather = mpi_gather,
                                            .bcast = mpi_bcast,
                                            .close = mpi_close,
                                            .progress = mpi_progress,
                                            .min = mpi_min};

/* The constants of another MPI have other values. MPI_Get_library_version can be called at any
 * time, and has the same types in each MPI. */
static gba_status_t check_library(char *message)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 8192] = ""; /* another MPI's may be longer */
    int len;

    (void)MPI_Get_library_version(version, &len);
    if (0 == strncmp(version, "Open MPI ", 9))
        return GBA_OK;
    snprintf(message, GBA_BOOT_MESSAGE,
             "the plug-in was built for Open MPI, and the program uses %.80s",
             '\0' == version[0] ? "another MPI" : version);
    return GBA_ERR_UNSUPPORTED;
}

/* Initialise MPI if the program has not. On GBA_OK the caller is one of its users. */
static gba_status_t enter_mpi(char *message)
{
    gba_status_t status = check_library(message);
    int initialized = 0, finalized = 0, provided, error;

    if (GBA_OK != status)
        return status;
    pthread_mutex_lock(&users_lock);
    (void)MPI_Initialized(&initialized);
    (void)MPI_Finalized(&finalized);
    if (finalized) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "MPI is finalized, and cannot be initialised a second time");
        status = GBA_ERR_UNSUPPORTED;
    } else if (!initialized) {
        error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
        if (MPI_SUCCESS == error)
            ours = true;
        else
            status = failed("MPI_Init_thread", error, message);
    }
    users += GBA_OK == status;
    pthread_mutex_unlock(&users_lock);
    return status;
}

/* Use a duplicate of the communicator. */
static gba_status_t take_comm(struct over_mpi *m, MPI_Comm comm, char *message)
{
    int between = 0, rank, size, error;

    if (MPI_COMM_NULL != comm)
        (void)MPI_Comm_test_inter(comm, &between);
    if (MPI_COMM_NULL == comm || between) {
        snprintf(message, GBA_BOOT_MESSAGE, "mpi_comm is %s; allowed: an intracommunicator",
                 between ? "an intercommunicator" : "MPI_COMM_NULL");
        return GBA_ERR_PARAM;
    }
    error = MPI_Comm_dup(comm, &m->comm);
    if (MPI_SUCCESS != error)
        return failed("MPI_Comm_dup", error, message);
    (void)MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(m->comm, &rank);
    (void)MPI_Comm_size(m->comm, &size);
    m->base.rank = (uint32_t)rank;
    m->base.size = (uint32_t)size;
    m->calls = calloc(m->base.size, sizeof *m->calls);
    if (m->calls != NULL)
        return GBA_OK;
    snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
    return GBA_ERR_NOMEM;
}

static gba_status_t mpi_open(const void *comm, uint64_t timeout, struct gba_boot_backend **backend,
                             char *message)
{
    struct over_mpi *m = calloc(1, sizeof *m);
    gba_status_t status;

    if (m == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return GBA_ERR_NOMEM;
    }
    status = enter_mpi(message);
    if (GBA_OK != status) {
        free(m);
        return status;
    }
    m->base.ops = &mpi_ops;
    m->timeout = timeout;
    m->comm = MPI_COMM_NULL;
    status = take_comm(m, comm == NULL ? MPI_COMM_WORLD : *(const MPI_Comm *)comm, message);
    if (GBA_OK != status) {
        mpi_close(&m->base);
        return status;
    }
    *backend = &m->base;
    return GBA_OK;
}

GBA_EXPORT extern const struct gba_boot_plugin gba_boot_plugin;
const struct gba_boot_plugin gba_boot_plugin = {.version = GBA_BOOT_PLUGIN_VERSION,
                                                .open = mpi_open};
