/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank serves while it waits in a barrier: rank 0 does operations in which the last rank
 * takes part, which stands in the barrier like all others. All batches of an operation are in one
 * wait. Time ends a batch and the wait, not a number of operations, because one rank can serve a
 * thousand times more slowly than another.
 */
#include <stdio.h>
#include <stdlib.h>

#include "contrib/perf/measure.h"

#define BYTES_MAX 4000000    /* of an operation */
#define EXTRA_NS  1000000000 /* an overdue wait ends by then, after a batch */
#define POST_MAX  60000      /* messages */
#define POST_RATE 8          /* bytes in a ns; faster messages end the wait sooner */

static MPI_Win window = MPI_WIN_NULL; /* memory that the ranks do not share */
static char *memory, *buffer;
static MPI_Request *requests; /* of the target: all receives, then all sends */
static int target;
static uint32_t done_before; /* operations of the previous service */

/* --- The operations of MPI */

static void fetch_and_op(const struct perf_service *service)
{
    (void)service;
    MPI_Fetch_and_op(buffer, buffer + 8, MPI_INT64_T, target, 0, MPI_SUM, window);
    MPI_Win_flush(target, window);
}

static void accumulate(const struct perf_service *service)
{
    int count = service->bytes / 8;

    MPI_Accumulate(buffer, count, MPI_INT64_T, target, 0, count, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_flush(target, window);
}

static void get(const struct perf_service *service)
{
    MPI_Get(buffer, service->bytes, MPI_BYTE, target, 0, service->bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
}

static void put(const struct perf_service *service)
{
    MPI_Put(buffer, service->bytes, MPI_BYTE, target, 0, service->bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
}

static void exchange(const struct perf_service *service)
{
    MPI_Sendrecv(buffer, service->bytes, MPI_BYTE, target, 0, buffer + BYTES_MAX, service->bytes,
                 MPI_BYTE, service->posts > 1 ? target : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

const struct perf_service perf_services_mpi[] = {
    {"served_fetch_op", fetch_and_op, .bytes = 8, .window = true},
    {"served_acc_8k", accumulate, .bytes = 8000, .window = true},
    {"served_get_1m", get, .bytes = 1000000, .window = true},
    {"served_put", put, .bytes = 8, .window = true},
    {"served_recv_4m", exchange, .bytes = 4000000, .posts = 1},
    {"served_recv_200k", exchange, .bytes = 200000, .posts = 1},
    {"served_sendrecv", exchange, .bytes = 200000, .posts = 2}, /* after one of as many bytes */
    {.name = NULL},
};

/* --- Before and after the wait */

/* Returns false: Open MPI has no windows between these ranks, as 4.1 over TCP by default. */
static bool window_open(void)
{
    int status;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    status = MPI_Win_create(memory, BYTES_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (status == MPI_SUCCESS && perf_job.rank == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    return status == MPI_SUCCESS;
}

static void window_close(void)
{
    if (perf_job.rank == 0)
        MPI_Win_unlock(target, window);
    MPI_Win_free(&window);
}

/* The target posts as many receives as the wait can need. Posted sends cost as much after the wait
 * as in it, so there are half as many as the receives that the wait before needed. Returns their
 * number. */
static uint32_t post(const struct perf_service *service)
{
    double wait = 1e3 * perf_options.batch_us * perf_options.batches;
    double most = service->posts > 1 ? done_before / 2.0 + 2
                                     : wait * POST_RATE / service->bytes + 2 * perf_options.batches;
    uint32_t count = most < POST_MAX ? (uint32_t)most : POST_MAX;

    if (perf_job.rank != target)
        return count;
    requests = perf_alloc((size_t)count * (size_t)service->posts, sizeof(MPI_Request));
    for (uint32_t i = 0; i < count; i++)
        MPI_Irecv(memory, service->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    for (uint32_t i = 0; i < count && service->posts > 1; i++)
        MPI_Isend(memory, service->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[count + i]);
    return count;
}

/* Rank 0 uses up what the target posted. Receives without sends end with empty messages. */
static void complete(const struct perf_service *service, uint32_t posted, uint32_t done)
{
    struct perf_service rest = *service;

    if (rest.posts == 1)
        rest.bytes = 0;
    for (uint32_t i = done; i < posted && perf_job.rank == 0; i++)
        exchange(&rest);
    if (perf_job.rank == target) {
        for (uint32_t i = 0; i < posted * (uint32_t)service->posts; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        free(requests);
    }
}

/* --- The wait */

/* Of rank 0: do at most `most` operations. Sets the ns for each of them in each batch, and *done,
 * their number. Returns the number of batches. */
static uint32_t batches_run(const struct perf_service *service, uint32_t most, double *series,
                            uint32_t *done)
{
    int64_t batch = 1000 * (int64_t)perf_options.batch_us, now = perf_now();
    int64_t limit = now + 2 * batch * perf_options.batches + EXTRA_NS;
    uint32_t count = 0;

    service->run(service); /* the first one makes connections */
    *done = 1;
    while (count < perf_options.batches && *done < most && now < limit) {
        int64_t began = perf_now();
        uint32_t before = *done;

        do {
            service->run(service);
            ++*done;
            now = perf_now();
        } while (now - began < batch && *done < most);
        series[count++] = (double)(now - began) / (*done - before);
    }
    return count;
}

static void service_measure(const struct perf_service *service)
{
    uint32_t posted = UINT32_MAX, done = 0, count = 0;
    double *series;

    if (service->window && !window_open()) {
        if (perf_job.rank == 0)
            printf("missing %s\n", service->name);
        return;
    }
    series = perf_alloc(perf_options.batches, sizeof *series);
    if (service->posts > 0)
        posted = post(service);
    perf_calls[0].run();
    perf_imbalance(0);
    if (perf_job.rank == 0)
        count = batches_run(service, posted, series, &done);
    perf_calls[0].run();
    if (service->posts > 0)
        complete(service, posted, done);
    if (service->window)
        window_close();
    MPI_Bcast(&count, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&done, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    done_before = done;
    perf_print_series("batch", service->name, series, count);
    free(series);
}

void perf_measure_served(const struct perf_service *services)
{
    target = perf_job.size - 1;
    memory = perf_alloc(1, BYTES_MAX);
    buffer = perf_alloc(2, BYTES_MAX);
    for (uint32_t i = 0; i < perf_options.warmup; i++)
        perf_calls[0].run();
    for (; services->name != NULL; services++)
        service_measure(services);
    free(memory);
    free(buffer);
}
