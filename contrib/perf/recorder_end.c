/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the recorder. The members of a communicator compare their times of the same rounds. A
 * member waits from its entry to the last entry; from then on the barrier itself takes time. The
 * communicators may be freed already, and ranks may have different ones, so all ranks take part in
 * a series of splits of MPI_COMM_WORLD, and each completes one communicator or more.
 */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/measure.h"
#include "contrib/perf/recorder.h"

#define SITES 16                  /* of a communicator, of a rank */
#define MARK  "gba_perf_record: " /* before a record on stderr */

const char perf_program[] = "gba_perf_recorder";

/* A member for which the others waited. */
struct late {
    int rank;             /* in MPI_COMM_WORLD */
    double lasts, caused; /* the part of the barriers in which it entered last; their waiting, ns */
    char host[PERF_HOST_BYTES], site[256];
};

/* The barriers of one call on a communicator. Times are sums over its members. */
struct row {
    enum recorder_call call;
    int size;
    char name[RECORDER_NAME_BYTES];
    double calls, time, wait; /* ns; wait is NAN if it is unknown */
    struct late late;         /* the one that caused most */
};

static struct row rows[RECORDER_COMMS];
static int row_count;

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
    PMPI_Comm_rank(MPI_COMM_WORLD, &perf_job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &perf_job.size);
    began = read_clock();
}

/* A time of this rank by the clock of rank 0. The difference is assumed to change evenly. */
static int64_t shared_clock(int64_t at)
{
    double part = (double)(at - began.at) / (double)(ended.at - began.at);

    return at - began.offset - (int64_t)(part * (double)(ended.offset - began.offset));
}

/* --- One communicator */

/* The entry of a member, as MPI_LONG_INT. */
struct entry {
    long at;
    int member;
};

/* Keep the rounds that all members have timed. Returns whether they have the same ones. */
static bool align(struct recorder_comm *comm, MPI_Comm members)
{
    long most[2] = {comm->shift, -(long)comm->rounds}, counts[2];

    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG, MPI_MAX, members);
    recorder_thin(comm, (unsigned int)most[0]);
    while (comm->count > 0 && comm->times[comm->count - 1].round >= (uint64_t)-most[1])
        comm->count--;
    counts[0] = comm->count;
    counts[1] = -(long)comm->count;
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG, MPI_MAX, members);
    return counts[0] == -counts[1] && counts[0] > 0;
}

/* Name the call site of this member's entries that caused the longest waiting. */
static void name_site(const struct recorder_comm *comm, const struct entry *last, const long *waits,
                      int me, struct late *late)
{
    struct {
        const void *site;
        long caused;
    } sites[SITES] = {{NULL, 0}}, *most = sites;
    struct link_map *map;
    Dl_info info;

    for (uint32_t i = 0; i < comm->count; i++)
        for (int j = 0; j < SITES && last[i].member == me; j++) {
            if (sites[j].site == NULL)
                sites[j].site = comm->times[i].site;
            if (sites[j].site != comm->times[i].site)
                continue;
            sites[j].caused += waits[i];
            most = sites[j].caused > most->caused ? &sites[j] : most;
            break;
        }
    /* The call is before the address to which it returns. */
    if (most->site != NULL && dladdr1(most->site, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 &&
        strstr(info.dli_fname, "/libmpi") == NULL)
        (void)snprintf(late->site, sizeof late->site, "%s+0x%lx", info.dli_fname,
                       (unsigned long)((uintptr_t)most->site - 1 - map->l_addr));
}

/* Add the waiting of this member to the row, and find the member that caused most of all waiting.
 * last and waits: room for all times. Collective over the members. */
static void divide(const struct recorder_comm *comm, MPI_Comm members, struct entry *last,
                   long *waits, struct row *row)
{
    const int count = (int)comm->count;
    struct {
        double caused;
        int member;
    } worst = {0, 0};
    int me;

    MPI_Comm_rank(members, &me);
    for (int i = 0; i < count; i++)
        last[i] = (struct entry){(long)comm->times[i].entered, me};
    MPI_Allreduce(MPI_IN_PLACE, last, count, MPI_LONG_INT, MPI_MAXLOC, members);
    for (int i = 0; i < count; i++) {
        const long spent = (long)(comm->times[i].left - comm->times[i].entered);

        waits[i] = last[i].at - (long)comm->times[i].entered;
        waits[i] = waits[i] < spent ? waits[i] : spent;
        row->wait += (double)waits[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, waits, count, MPI_LONG, MPI_SUM, members);
    row->late.rank = perf_job.rank;
    for (int i = 0; i < count; i++)
        if (last[i].member == me) {
            row->late.caused += (double)waits[i];
            row->late.lasts += 1. / count;
        }
    worst.caused = row->late.caused;
    worst.member = me;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, members);
    if (worst.member == me) {
        (void)gethostname(row->late.host, sizeof row->late.host - 1);
        name_site(comm, last, waits, me, &row->late);
    }
    MPI_Bcast(&row->late, sizeof row->late, MPI_BYTE, worst.member, members);
}

/* Add a row for a communicator, on its first member. complete: all of its members are here.
 * Collective over the members. */
static void add_row(struct recorder_comm *comm, MPI_Comm members, bool complete)
{
    const bool same = align(comm, members);
    struct entry *last = calloc((size_t)comm->count + 1, sizeof *last);
    long *waits = calloc((size_t)comm->count + 1, sizeof *waits);
    struct row row = {.call = comm->call, .size = comm->size};
    double sums[4];
    int me, room = last != NULL && waits != NULL;

    MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, members);
    if (complete && same && room && last != NULL && waits != NULL) /* the same on all members */
        divide(comm, members, last, waits, &row);
    else
        row.wait = NAN;
    for (uint32_t i = 0; i < comm->count; i++)
        row.time += (double)(comm->times[i].left - comm->times[i].entered);
    sums[0] = (double)comm->rounds;
    sums[1] = comm->count > 0 ? (double)comm->rounds / comm->count : 0; /* for each timed round */
    sums[2] = row.time * sums[1];
    sums[3] = row.wait * sums[1];
    row.late.caused *= sums[1];
    MPI_Comm_rank(members, &me);
    MPI_Reduce(me == 0 ? MPI_IN_PLACE : sums, sums, 4, MPI_DOUBLE, MPI_SUM, 0, members);
    row.calls = sums[0];
    row.time = sums[2];
    row.wait = sums[3];
    (void)snprintf(row.name, sizeof row.name, "%s", comm->name);
    if (me == 0)
        rows[row_count++] = row;
    free(last);
    free(waits);
}

/* Make the rows of all communicators. In each step the ranks whose next communicator is the same
 * meet; of that with the least id, all do. Collective. */
static void add_rows(void)
{
    uint32_t count;
    struct recorder_comm *const *comms = recorder_comms(&count);

    for (uint32_t i = 0, step = 0;; step++) {
        const uint64_t mine = i < count ? comms[i]->id : UINT64_MAX;
        uint64_t least, ends[2] = {mine, ~mine};
        MPI_Comm members;
        int size;

        MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
        if (least == UINT64_MAX)
            break;
        /* Ids with equal bits part in the next step, by other bits. */
        MPI_Comm_split(MPI_COMM_WORLD,
                       i < count ? (int)(mine >> (0 == step % 2 ? 33 : 2) & INT_MAX)
                                 : MPI_UNDEFINED,
                       0, &members);
        if (i == count)
            continue;
        MPI_Comm_size(members, &size);
        MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX, members);
        if (ends[0] == ~ends[1] && (size == comms[i]->size || mine == least)) {
            add_row(comms[i], members, size == comms[i]->size);
            i++;
        }
        MPI_Comm_free(&members);
    }
}

/* --- The records */

/* Gather the rows of all ranks on rank 0. Returns their number, there. Collective. */
static int gather(struct row **all)
{
    int bytes = row_count * (int)sizeof *rows, sum = 0;
    int *counts = perf_alloc((size_t)perf_job.size, 2 * sizeof *counts);
    int *places = counts + perf_job.size;

    MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int rank = 0; rank < perf_job.size; rank++) {
        places[rank] = sum;
        sum += counts[rank];
    }
    *all = perf_alloc((size_t)sum, 1);
    MPI_Gatherv(rows, bytes, MPI_BYTE, *all, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
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
static void write_records(struct row *all, int count, const int64_t most[3], const int64_t *sums)
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
    for (struct row *row = all; row < all + count; row++)
        fprintf(out, "%sbarriers %s %s %d %.0f %.6g %.6g %d %s %.6g %.6g %s\n", mark,
                recorder_call_names[row->call], word(row->name), row->size, row->calls,
                row->time / span, row->wait / span, row->late.rank, word(row->late.host),
                row->late.lasts, row->late.caused / span, row->late.site);
    for (int i = 0; i < RECORDER_CALLS; i++)
        if (sums[1 + i] > 0)
            fprintf(out, "%sbarriers %s - 0 %lld nan nan 0 - 0 0 \n", mark, recorder_call_names[i],
                    (long long)sums[1 + i]);
    fprintf(out, "%send\n", mark);
    if (file != NULL)
        (void)fclose(file);
}

void recorder_end(void)
{
    int64_t most[3], sums[1 + RECORDER_CALLS];
    struct recorder_comm *const *comms;
    struct row *all;
    uint32_t count;
    int all_count;

    ended = read_clock();
    comms = recorder_comms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < comms[i]->count; j++) {
            comms[i]->times[j].entered = shared_clock(comms[i]->times[j].entered);
            comms[i]->times[j].left = shared_clock(comms[i]->times[j].left);
        }
    add_rows();
    sums[0] = most[0] = ended.at - began.at;
    for (int i = 0; i < RECORDER_CALLS; i++)
        sums[1 + i] = (int64_t)recorder_counted[i];
    most[1] = ended.offset > 0 ? ended.offset : -ended.offset;
    most[2] = (began.error > ended.error ? began.error : ended.error);
    MPI_Allreduce(MPI_IN_PLACE, sums, 1 + RECORDER_CALLS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    all_count = gather(&all);
    if (perf_job.rank == 0)
        write_records(all, all_count, most, sums);
    free(all);
}
