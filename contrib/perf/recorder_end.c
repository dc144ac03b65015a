/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the recorder. A communicator may be freed already, and ranks have different ones. So
 * each rank sends its part of a communicator's times to one of the members, which compares them
 * (recorder_parts.h). All ranks call the same collectives, whatever they have recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/measure.h"
#include "contrib/perf/recorder_calls.h"
#include "contrib/perf/recorder_parts.h"

#define TAG       11                  /* of a part */
#define SENT_MOST 16384               /* times that a rank sends in all */
#define MARK      "gba_perf_record: " /* before a record on stderr */

const char perf_program[] = "gba_perf_recorder";

static struct recorder_row *rows;
static size_t row_count;

/* The clock of this rank minus that of rank 0. */
static struct reading {
    int64_t at, offset, error;
} began, ended;

static struct reading read_clock(void)
{
    struct reading reading;

    perf_clock_offset(&reading.offset, &reading.error);
    reading.at = perf_now();
    return reading;
}

void recorder_begin(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &perf_job.comm);
    PMPI_Comm_rank(perf_job.comm, &perf_job.rank);
    PMPI_Comm_size(perf_job.comm, &perf_job.size);
    began = read_clock();
}

/* A time of this rank by the clock of rank 0. The difference is assumed to change evenly. */
static int64_t shared_clock(int64_t at)
{
    double part = (double)(at - began.at) / (double)(ended.at - began.at);

    return at - began.offset - (int64_t)(part * (double)(ended.offset - began.offset));
}

/* --- The parts of this rank */

/* Time fewer rounds of the communicators that have most, until all of them have few. */
static void thin_all(struct recorder_comm *const *comms, uint32_t count)
{
    for (;;) {
        uint32_t sum = 0, most = 0;

        for (uint32_t i = 0; i < count; i++) {
            sum += comms[i]->count;
            most = comms[i]->count > comms[most]->count ? i : most;
        }
        if (sum <= SENT_MOST)
            return;
        recorder_thin(comms[most], comms[most]->shift + 1);
    }
}

static size_t part_bytes(uint32_t times)
{
    return sizeof(struct recorder_part) + times * sizeof(struct recorder_time);
}

static struct recorder_part *part_of(const struct recorder_comm *comm)
{
    struct recorder_part *part = perf_alloc(1, part_bytes(comm->count));
    const void *sites[RECORDER_SITES];
    uintptr_t known = 0;

    part->id = comm->id;
    part->call = comm->call;
    part->size = comm->size;
    part->rank = perf_job.rank;
    part->count = comm->count;
    part->shift = comm->shift;
    part->torn = comm->torn;
    part->rounds = comm->rounds;
    memcpy(part->name, comm->name, sizeof part->name);
    (void)gethostname(part->host, sizeof part->host - 1);
    for (uint32_t i = 0; i < comm->count; i++) {
        struct recorder_time *time = &part->times[i];
        uintptr_t site = 0;

        *time = comm->times[i];
        time->entered = shared_clock(time->entered);
        while (site < known && sites[site] != time->site)
            site++;
        if (site == known && known < RECORDER_SITES) {
            sites[known] = time->site;
            recorder_site_name(time->site, part->sites[known++], RECORDER_SITE_BYTES);
        }
        time->site = (const void *)site; // NOLINT(performance-no-int-to-ptr)
    }
    return part;
}

/* --- Their exchange */

/* Receive `count` parts and add their rows. */
static void receive(int count)
{
    struct recorder_part **parts = perf_alloc((size_t)count, sizeof(struct recorder_part *));
    size_t together;

    for (int i = 0; i < count; i++) {
        MPI_Status status;
        int bytes;

        PMPI_Probe(MPI_ANY_SOURCE, TAG, perf_job.comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        parts[i] = perf_alloc(1, (size_t)bytes);
        PMPI_Recv(parts[i], bytes, MPI_BYTE, status.MPI_SOURCE, TAG, perf_job.comm,
                  MPI_STATUS_IGNORE);
    }
    qsort(parts, (size_t)count, sizeof(struct recorder_part *), recorder_part_compare);
    rows = perf_alloc((size_t)count, sizeof *rows);
    for (size_t i = 0; i < (size_t)count; i += together) {
        together = recorder_parts_together(parts + i, (size_t)count - i);
        rows[row_count++] = recorder_row_of(parts + i, together);
    }
    for (int i = 0; i < count; i++)
        free(parts[i]);
    free(parts);
}

/* Collective. */
static void exchange_parts(void)
{
    uint32_t count;
    struct recorder_comm *const *comms = recorder_comms(&count);
    MPI_Request *requests = perf_alloc(count, sizeof(MPI_Request));
    struct recorder_part **parts = perf_alloc(count, sizeof(struct recorder_part *));
    int *sent = perf_alloc((size_t)perf_job.size, sizeof *sent), received;

    thin_all(comms, count);
    for (uint32_t i = 0; i < count; i++) {
        const int rank = comms[i]->id != 0 ? RECORDER_RANK(comms[i]->id) : perf_job.rank;

        sent[rank]++;
        parts[i] = part_of(comms[i]);
        PMPI_Isend(parts[i], (int)part_bytes(parts[i]->count), MPI_BYTE, rank, TAG, perf_job.comm,
                   &requests[i]);
    }
    PMPI_Reduce_scatter_block(sent, &received, 1, MPI_INT, MPI_SUM, perf_job.comm);
    receive(received);
    PMPI_Waitall((int)count, requests, MPI_STATUSES_IGNORE);
    for (uint32_t i = 0; i < count; i++)
        free(parts[i]);
    free(parts);
    free(requests);
    free(sent);
}

/* --- The records */

/* Gather the rows of all ranks on rank 0. Returns their number, there. Collective. */
static int gather(struct recorder_row **all)
{
    int bytes = (int)(row_count * sizeof *rows), sum = 0;
    int *counts = perf_alloc((size_t)perf_job.size, 2 * sizeof *counts);
    int *places = counts + perf_job.size;

    PMPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, perf_job.comm);
    for (int rank = 0; rank < perf_job.size; rank++) {
        places[rank] = sum;
        sum += counts[rank];
    }
    *all = perf_alloc((size_t)sum, 1);
    PMPI_Gatherv(rows, bytes, MPI_BYTE, *all, counts, places, MPI_BYTE, 0, perf_job.comm);
    free(counts);
    return sum / (int)sizeof *rows;
}

/* A word instead of a name. */
static const char *word(char *name)
{
    for (char *c = name; *c != 0; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
    return *name != 0 ? name : "-";
}

/* Write the records. Where gba_perf runs on another host, its file is not here: use stderr. */
static void write_records(struct recorder_row *all, int count, const int64_t most[3],
                          const int64_t *sums)
{
    const char *path = getenv("GBA_PERF_RECORDS"), *mark = "";
    const double span = (double)sums[0];
    FILE *file = path != NULL ? fopen(path, "r+") : NULL, *out = file;

    if (file == NULL) {
        mark = MARK;
        out = stderr;
    }
    fprintf(out, "%sbatch mpi %lld\n", mark, (long long)most[0]);
    fprintf(out, "%sclock mpi %lld %lld\n", mark, (long long)most[1], (long long)most[2]);
    for (struct recorder_row *row = all; row < all + count; row++)
        fprintf(out, "%sbarriers %s %s %d %.6g %.0f %.6g %.6g %d %s %.6g %.6g %s\n", mark,
                recorder_call_names[row->call], word(row->name), row->size, row->comms, row->calls,
                row->time / span, row->wait / span, row->late, word(row->host), row->lasts,
                row->caused / span, row->site);
    for (int i = 0; i < RECORDER_CALLS; i++)
        if (sums[1 + i] > 0)
            fprintf(out, "%sbarriers %s - 0 1 %lld nan nan 0 - 0 0 \n", mark,
                    recorder_call_names[i], (long long)sums[1 + i]);
    recorder_calls_write(out, mark, span);
    fprintf(out, "%send\n", mark);
    if (file != NULL)
        (void)fclose(file);
}

void recorder_end(void)
{
    int64_t most[3], sums[1 + RECORDER_CALLS];
    struct recorder_row *all;
    int all_count;

    ended = read_clock();
    exchange_parts();
    sums[0] = most[0] = ended.at - began.at;
    for (int i = 0; i < RECORDER_CALLS; i++)
        sums[1 + i] = (int64_t)recorder_counted[i];
    most[1] = ended.offset > 0 ? ended.offset : -ended.offset;
    most[2] = (began.error > ended.error ? began.error : ended.error);
    PMPI_Allreduce(MPI_IN_PLACE, sums, 1 + RECORDER_CALLS, MPI_INT64_T, MPI_SUM, perf_job.comm);
    PMPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT64_T, MPI_MAX, perf_job.comm);
    recorder_calls_end();
    all_count = gather(&all);
    if (perf_job.rank == 0)
        write_records(all, all_count, most, sums);
    free(all);
    free(rows);
    PMPI_Comm_free(&perf_job.comm);
}
