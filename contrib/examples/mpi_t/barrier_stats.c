/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of the barriers of an unchanged MPI program, read by MPI's tools interface. The
 * program preloads this library: see README.md.
 *
 * The library uses the profiling interface: it defines MPI_Init and calls PMPI_Init. It finds the
 * variables by name, because their numbers differ from run to run. A counter counts from the
 * allocation of its handle, so the handles are made in MPI_Init.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define PREFIX        "coll_gba_barrier_"
#define VARIABLES_MAX 64
#define NAME_MAX_HERE 96

static struct {
    char name[NAME_MAX_HERE];
    MPI_T_pvar_handle handle;
    int maximum; /* a high-water mark: its maximum over the ranks counts, else the sum */
} variables[VARIABLES_MAX];
static int count;
static MPI_T_pvar_session session;
static int ready;

/* Keep one variable, if it is ours and a single number. */
static void variable_add(int index)
{
    char name[NAME_MAX_HERE];
    int length = sizeof name, help = 0, verbosity, class, bind, readonly, continuous, atomic,
        values;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_Comm world = MPI_COMM_WORLD;

    if (MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, &enumeration, NULL,
                            &help, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        strncmp(name, PREFIX, strlen(PREFIX)) != 0 || type != MPI_UNSIGNED_LONG_LONG ||
        count == VARIABLES_MAX)
        return;
    if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)
        return;
    /* Of a variable that is bound to communicators, read that of MPI_COMM_WORLD. */
    if (MPI_T_pvar_handle_alloc(session, index, bind == MPI_T_BIND_MPI_COMM ? &world : NULL,
                                &variables[count].handle, &values) != MPI_SUCCESS ||
        values != 1)
        return;
    snprintf(variables[count].name, sizeof variables[count].name, "%s", name + strlen(PREFIX));
    variables[count].maximum =
        class == MPI_T_PVAR_CLASS_HIGHWATERMARK || class == MPI_T_PVAR_CLASS_LEVEL;
    count++;
}

/* Inside MPI_Init and MPI_Finalize, because Open MPI 4.1.4 crashes in MPI_Finalize if MPI_T is
 * initialised before MPI and finalised after it. */
static void stats_begin(void)
{
    int provided, variables_all = 0;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    if (MPI_T_pvar_session_create(&session) != MPI_SUCCESS) {
        MPI_T_finalize();
        return;
    }
    ready = 1;
    MPI_T_pvar_get_num(&variables_all);
    for (int i = 0; i < variables_all; i++)
        variable_add(i);
}

static void stats_end(void)
{
    unsigned long long mine[VARIABLES_MAX] = {0};
    unsigned long long sum[VARIABLES_MAX] = {0}, most[VARIABLES_MAX] = {0};
    int rank, counts[2] = {ready ? count : 0, ready ? -count : 0}, least[2] = {0, 0};

    /* Read first: the barriers of this function are not the program's. */
    for (int i = 0; i < count; i++)
        MPI_T_pvar_read(session, variables[i].handle, &mine[i]);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* All ranks have the same variables, unless one of them lacks the component. */
    PMPI_Allreduce(counts, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != -least[1] && rank == 0)
        fprintf(stderr, "barrier_stats: ranks have %d to %d variables; no figures\n", least[0],
                -least[1]);
    if (least[0] == -least[1] && count > 0) {
        PMPI_Reduce(mine, sum, count, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        PMPI_Reduce(mine, most, count, MPI_UNSIGNED_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count && rank == 0 && least[0] == -least[1]; i++) {
        if (sum[i] != 0)
            fprintf(stderr, "barrier_stats: %-24s %s %llu\n", variables[i].name,
                    variables[i].maximum ? "maximum" : "all    ",
                    variables[i].maximum ? most[i] : sum[i]);
    }
    if (!ready)
        return;
    for (int i = 0; i < count; i++)
        MPI_T_pvar_handle_free(session, &variables[i].handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    ready = count = 0;
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    if (rc == MPI_SUCCESS)
        stats_begin();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    if (rc == MPI_SUCCESS)
        stats_begin();
    return rc;
}

int MPI_Finalize(void)
{
    stats_end();
    return PMPI_Finalize();
}
