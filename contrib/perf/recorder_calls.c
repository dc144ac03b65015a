/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each thread is, and the table of the calls of MPI that the recorder replaces. */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr1 */
#include "contrib/perf/recorder_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contrib/perf/measure.h"
#include "gba/stall.h"

#define THREADS 16        /* that are shown at once */
#define LOOK_NS 100000000 /* between two looks: a call that two of them see is long */

#define ARGUMENTS 128 /* bytes by which they move a frame, at most, and less than calls need */

_Thread_local const void *recorder_outer_site;

/* The call of a thread. */
struct now {
    bool taken;        /* by a thread */
    bool locked;       /* the call does not end */
    uint64_t sequence; /* odd: in a call */
    const char *name;
    MPI_Comm comm;
    const void *site;
    void *python; /* the state of this thread in Python; NULL: none */
    /* Of the thread that looks. */
    uint64_t looked, since;
    int place; /* on the status page, plus 1; 0: none */
};
static struct now nows[THREADS];
static pthread_key_t at_exit;
static _Thread_local struct now *mine;
static _Thread_local bool inside;
static _Thread_local uintptr_t outer_frame; /* of the function with recorder_outer_site */

/* Python's functions, from 3.9 on, where the program has Python. */
#define PYTHON __attribute__((weak))
PYTHON void *PyGILState_GetThisThreadState(void);
PYTHON int PyGILState_Ensure(void);
PYTHON void PyGILState_Release(int state);
PYTHON void *PyThreadState_GetFrame(void *state);
PYTHON int PyFrame_GetLineNumber(void *frame);
PYTHON void *PyFrame_GetCode(void *frame);
PYTHON void *PyObject_GetAttrString(void *object, const char *name);
PYTHON const char *PyUnicode_AsUTF8(void *object);
PYTHON void Py_DecRef(void *object);

static void lock(struct now *now)
{
    while (__atomic_exchange_n(&now->locked, true, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(struct now *now)
{
    __atomic_store_n(&now->locked, false, __ATOMIC_RELEASE);
}

/* The thread is in no call. */
static void call_leave(struct now *now)
{
    lock(now);
    __atomic_store_n(&now->sequence, (now->sequence + 1) / 2 * 2, __ATOMIC_RELEASE);
    unlock(now);
}

/* A thread may end in a call, such as one that is cancelled. */
static void thread_leave(void *left)
{
    struct now *now = left;

    call_leave(now);
    __atomic_store_n(&now->taken, false, __ATOMIC_RELEASE);
}

static struct now *thread_enter(void)
{
    for (struct now *now = nows; now < nows + THREADS; now++)
        if (!__atomic_exchange_n(&now->taken, true, __ATOMIC_ACQUIRE)) {
            (void)pthread_setspecific(at_exit, now);
            return now;
        }
    return NULL;
}

/* An error handler may leave a call by longjmp, so that it does not end. The stack grows downwards:
 * a later call that is not below shows that. */
bool recorder_outer_begin(const void *site, const void *frame)
{
    if (recorder_outer_site != NULL && (uintptr_t)frame + ARGUMENTS < outer_frame) {
        /* Perhaps the outer one was left, and this is a later one: the thread goes on. */
        if (inside && mine != NULL)
            __atomic_store_n(&mine->sequence, mine->sequence + 2, __ATOMIC_RELEASE);
        return false;
    }
    if (recorder_outer_site != NULL && inside) {
        inside = false;
        if (mine != NULL)
            call_leave(mine);
    }
    recorder_outer_site = site;
    outer_frame = (uintptr_t)frame;
    return true;
}

void recorder_call_begin(struct recorder_doing *doing, const char *name, struct recorder_sum *sum,
                         MPI_Comm comm, const void *site)
{
    doing->outer = recorder_active && !inside;
    if (!doing->outer)
        return;
    inside = true;
    doing->sum = sum;
    if (mine == NULL)
        mine = thread_enter();
    if (mine != NULL) {
        mine->name = name;
        mine->comm = comm;
        mine->site = recorder_outer_site != NULL ? recorder_outer_site : site;
        if (PyThreadState_GetFrame != NULL)
            mine->python = PyGILState_GetThisThreadState();
        __atomic_store_n(&mine->sequence, mine->sequence + 1, __ATOMIC_RELEASE);
    }
    if (sum != NULL)
        recorder_visit_begin(&doing->visit, true);
}

void recorder_call_end(struct recorder_doing *doing)
{
    if (!doing->outer)
        return;
    inside = false;
    if (mine != NULL)
        call_leave(mine);
    if (doing->sum == NULL)
        return;
    recorder_visit_end(&doing->visit, true);
    __atomic_fetch_add(&doing->sum->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&doing->sum->time, doing->visit.time.charged, __ATOMIC_RELAXED);
}

/* --- The thread that looks */

void recorder_site_name(const void *site, char *name, size_t bytes)
{
    struct link_map *map;
    Dl_info info;

    if (dladdr1(site, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 &&
        strstr(info.dli_fname, "/libmpi") == NULL)
        (void)snprintf(name, bytes, "%s+0x%lx", info.dli_fname,
                       (unsigned long)((uintptr_t)site - 1 - map->l_addr));
}

static const char *base_name(const char *path)
{
    return strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
}

/* Show a call. site: of the program; "": unknown. Of a long site the beginning is left out, because
 * its end says where. */
static void show(struct now *now, const char *name, const char *comm, const char *site)
{
    gba_where_t place = {.since = now->since, .kind = GBA_WHERE_CALL};
    const size_t room = sizeof place.name - sizeof " on , " - strlen(name), most = room - 14;

    if (strlen(site) > most)
        site += strlen(site) - most;
    (void)snprintf(place.name, sizeof place.name, "%s%s%.*s%s%s", name, *comm != 0 ? " on " : "",
                   (int)(room - strlen(site)), comm, *site != 0 ? ", " : "", site);
    /* Processes at the same place have the same number. */
    for (const char *c = place.name; *c != 0; c++)
        place.id = (place.id ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    gba_where_leave(now->place - 1);
    now->place = gba_where_enter(&place) + 1;
}

/* The line of the script from which the thread has made the call. Waits for Python's lock, which a
 * binding of MPI gives back during a call. Returns false: there is none. */
static bool python_line(struct now *now, void *state, char *site, size_t bytes)
{
    void *frame = NULL, *code, *file;
    const int had = PyGILState_Ensure();
    const char *text = NULL;

    /* A thread that is still in the call has its state. It cannot end the state without the lock.
     */
    if (__atomic_load_n(&now->sequence, __ATOMIC_ACQUIRE) == now->looked)
        frame = PyThreadState_GetFrame(state);
    if (frame != NULL) {
        code = PyFrame_GetCode(frame);
        file = PyObject_GetAttrString(code, "co_filename");
        text = file != NULL ? PyUnicode_AsUTF8(file) : NULL;
        if (text != NULL)
            (void)snprintf(site, bytes, "%s:%d", base_name(text), PyFrame_GetLineNumber(frame));
        Py_DecRef(file);
        Py_DecRef(code);
        Py_DecRef(frame);
    }
    PyGILState_Release(had);
    return text != NULL;
}

/* The call has become long. */
static void show_long(struct now *now)
{
    char comm[MPI_MAX_OBJECT_NAME] = "", site[256] = "";
    const char *name = NULL;
    void *state = NULL;
    int length;

    lock(now);
    if (now->sequence == now->looked) { /* the communicator lives as long as the call */
        name = now->name;
        state = now->python;
        if (now->comm != MPI_COMM_NULL)
            PMPI_Comm_get_name(now->comm, comm, &length);
        recorder_site_name(now->site, site, sizeof site);
    }
    unlock(now);
    if (name == NULL)
        return;
    if (strncmp(comm, "MPI COMM", 8) == 0) /* as recorder_mpi.c */
        *comm = 0;
    show(now, name, comm, base_name(site));
    if (state != NULL && python_line(now, state, site, sizeof site))
        show(now, name, comm, site);
}

static void *look(void *unused)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};

    for (;; nanosleep(&pause, NULL))
        for (struct now *now = nows; now < nows + THREADS; now++) {
            const uint64_t sequence = __atomic_load_n(&now->sequence, __ATOMIC_ACQUIRE);

            if (sequence == now->looked) {
                if (sequence % 2 == 1 && now->place == 0)
                    show_long(now);
                continue;
            }
            gba_where_leave(now->place - 1);
            now->place = 0;
            now->looked = sequence;
            now->since = gba_clock_ns();
        }
    return unused;
}

static void page_join(uint32_t rank)
{
    const char *job = getenv("PMIX_NAMESPACE"); /* as the plugins name the job */

    gba_where_join(job != NULL ? job : "-", rank);
}

int recorder_init_begin(const char *name, const void *site)
{
    const char *rank = getenv("PMIX_RANK"); /* NULL: the page comes after MPI_Init */
    struct now now = {.since = gba_clock_ns()};
    char text[256] = "";

    if (rank != NULL)
        page_join((uint32_t)strtoul(rank, NULL, 10));
    recorder_site_name(recorder_outer_site != NULL ? recorder_outer_site : site, text, sizeof text);
    show(&now, name, "", base_name(text));
    return now.place - 1;
}

void recorder_calls_start(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    page_join((uint32_t)perf_job.rank);
    (void)pthread_key_create(&at_exit, thread_leave);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* the signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_create(&thread, &attributes, look, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void *recorder_next_of(const char *own)
{
    void *next = dlsym(RTLD_NEXT, own + 1);
    Dl_info wrapper, mpi;

    /* MPI's own MPI_* would not call PMPI_*. */
    if (dladdr(next, &wrapper) != 0 && dladdr(dlsym(RTLD_NEXT, own), &mpi) != 0 &&
        wrapper.dli_fbase != mpi.dli_fbase)
        return next;
    return dlsym(RTLD_DEFAULT, own);
}

/* --- The table: the number of arguments, whether the call is counted and timed, its name, the
 * argument that is the communicator, and the types. A send or receive is only shown: its time would
 * be longer by two readings of the clock. */

// clang-format off
#define TABLE(X) \
    X(6, 0, Send, f, const void *, int, MPI_Datatype, int, int, MPI_Comm) \
    X(6, 0, Ssend, f, const void *, int, MPI_Datatype, int, int, MPI_Comm) \
    X(6, 0, Rsend, f, const void *, int, MPI_Datatype, int, int, MPI_Comm) \
    X(7, 0, Recv, f, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) \
    X(5, 0, Mrecv, MPI_COMM_NULL, void *, int, MPI_Datatype, MPI_Message *, MPI_Status *) \
    X(12, 0, Sendrecv, k, const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) \
    X(9, 0, Sendrecv_replace, h, void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *) \
    X(4, 0, Probe, c, int, int, MPI_Comm, MPI_Status *) \
    X(5, 0, Mprobe, c, int, int, MPI_Comm, MPI_Message *, MPI_Status *) \
    X(2, 0, Wait, MPI_COMM_NULL, MPI_Request *, MPI_Status *) \
    X(3, 0, Waitall, MPI_COMM_NULL, int, MPI_Request *, MPI_Status *) \
    X(4, 0, Waitany, MPI_COMM_NULL, int, MPI_Request *, int *, MPI_Status *) \
    X(5, 0, Waitsome, MPI_COMM_NULL, int, MPI_Request *, int *, int *, MPI_Status *) \
    X(1, 0, Win_complete, MPI_COMM_NULL, MPI_Win) \
    X(1, 0, Win_wait, MPI_COMM_NULL, MPI_Win) \
    X(3, 0, Win_start, MPI_COMM_NULL, MPI_Group, int, MPI_Win) \
    X(4, 0, Win_lock, MPI_COMM_NULL, int, int, int, MPI_Win) \
    X(2, 0, Win_unlock, MPI_COMM_NULL, int, MPI_Win) \
    X(2, 0, Win_lock_all, MPI_COMM_NULL, int, MPI_Win) \
    X(1, 0, Win_unlock_all, MPI_COMM_NULL, MPI_Win) \
    X(2, 0, Win_flush, MPI_COMM_NULL, int, MPI_Win) \
    X(1, 0, Win_flush_all, MPI_COMM_NULL, MPI_Win) \
    X(2, 1, Win_fence, MPI_COMM_NULL, int, MPI_Win) \
    X(1, 1, Win_free, MPI_COMM_NULL, MPI_Win *) \
    X(1, 1, Comm_free, MPI_COMM_NULL, MPI_Comm *) \
    X(6, 1, Win_create, e, void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *) \
    X(6, 1, Win_allocate, d, MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *) \
    X(2, 1, Ibarrier, a, MPI_Comm, MPI_Request *) \
    X(5, 1, Bcast, e, void *, int, MPI_Datatype, int, MPI_Comm) \
    X(7, 1, Reduce, g, const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm) \
    X(6, 1, Allreduce, f, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) \
    X(6, 1, Scan, f, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) \
    X(6, 1, Exscan, f, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) \
    X(6, 1, Reduce_scatter, f, const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm) \
    X(6, 1, Reduce_scatter_block, f, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) \
    X(8, 1, Gather, h, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm) \
    X(8, 1, Scatter, h, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm) \
    X(9, 1, Gatherv, i, const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm) \
    X(9, 1, Scatterv, i, const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm) \
    X(7, 1, Allgather, g, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm) \
    X(8, 1, Allgatherv, h, const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm) \
    X(7, 1, Alltoall, g, const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm) \
    X(9, 1, Alltoallv, i, const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm) \
    X(9, 1, Alltoallw, i, const void *, const int *, const int *, const MPI_Datatype *, void *, const int *, const int *, const MPI_Datatype *, MPI_Comm) \
    X(2, 1, Comm_dup, a, MPI_Comm, MPI_Comm *) \
    X(4, 1, Comm_split, a, MPI_Comm, int, int, MPI_Comm *) \
    X(5, 1, Comm_split_type, a, MPI_Comm, int, int, MPI_Info, MPI_Comm *) \
    X(3, 1, Comm_create, a, MPI_Comm, MPI_Group, MPI_Comm *) \
    X(4, 1, Comm_create_group, a, MPI_Comm, MPI_Group, int, MPI_Comm *) \
    X(6, 1, Intercomm_create, a, MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *) \
    X(3, 1, Intercomm_merge, a, MPI_Comm, int, MPI_Comm *) \
    X(1, 1, Comm_disconnect, MPI_COMM_NULL, MPI_Comm *)
// clang-format on

#define NUMBER(n, timed, name, ...) NUMBER_##name,
#define NAME(n, timed, name, ...)   "MPI_" #name,
enum { TABLE(NUMBER) SUMS };
static struct recorder_sum sums[SUMS];

void recorder_calls_end(void)
{
    /* A sum is two words. */
    PMPI_Allreduce(MPI_IN_PLACE, sums, 2 * SUMS, MPI_INT64_T, MPI_SUM, perf_job.comm);
}

void recorder_calls_write(FILE *file, const char *mark, double span)
{
    static const char *const names[SUMS] = {TABLE(NAME)};

    for (int i = 0; i < SUMS; i++)
        if (sums[i].calls > 0)
            fprintf(file, "%sbarriers %s - 0 1 %lld %.6g nan 0 - 0 0 \n", mark, names[i],
                    (long long)sums[i].calls, (double)sums[i].time / span);
}

#define PARAMS1(A)                         A a
#define PARAMS2(A, B)                      A a, B b
#define PARAMS3(A, B, C)                   PARAMS2(A, B), C c
#define PARAMS4(A, B, C, D)                PARAMS3(A, B, C), D d
#define PARAMS5(A, B, C, D, E)             PARAMS4(A, B, C, D), E e
#define PARAMS6(A, B, C, D, E, F)          PARAMS5(A, B, C, D, E), F f
#define PARAMS7(A, B, C, D, E, F, G)       PARAMS6(A, B, C, D, E, F), G g
#define PARAMS8(A, B, C, D, E, F, G, H)    PARAMS7(A, B, C, D, E, F, G), H h
#define PARAMS9(A, B, C, D, E, F, G, H, I) PARAMS8(A, B, C, D, E, F, G, H), I i
#define PARAMS12(A, B, C, D, E, F, G, H, I, J, K, L) \
    PARAMS9(A, B, C, D, E, F, G, H, I), J j, K k, L l
#define ARGS1  a
#define ARGS2  ARGS1, b
#define ARGS3  ARGS2, c
#define ARGS4  ARGS3, d
#define ARGS5  ARGS4, e
#define ARGS6  ARGS5, f
#define ARGS7  ARGS6, g
#define ARGS8  ARGS7, h
#define ARGS9  ARGS8, i
#define ARGS12 ARGS9, j, k, l

#define DEFINE(n, timed, name, comm, ...)                                                   \
    int PMPI_##name(PARAMS##n(__VA_ARGS__))                                                 \
    {                                                                                       \
        struct recorder_sum *sum = &sums[NUMBER_##name];                                    \
        struct recorder_doing doing;                                                        \
        int rc;                                                                             \
                                                                                            \
        RECORDER_NEXT(PMPI_##name);                                                         \
        recorder_call_begin(&doing, "MPI_" #name, timed ? sum : NULL, comm, RECORDER_SITE); \
        rc = next(ARGS##n);                                                                 \
        recorder_call_end(&doing);                                                          \
        return rc;                                                                          \
    }                                                                                       \
    int MPI_##name(PARAMS##n(__VA_ARGS__))                                                  \
    {                                                                                       \
        RECORDER_FORWARD(MPI_##name, ARGS##n);                                              \
    }

TABLE(DEFINE)
