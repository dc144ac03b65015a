/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs as members of a team: barriers from a kernel, in a stream, and mixed with CPUs. The library
 * is libgba_gpu, pkg-config gba_gpu. It opens libcuda.so.1 when it is used, so a program that links
 * with it starts on a machine without a GPU. gba/gpu.cuh has what kernels call, and gba_gpu(7) the
 * rules.
 *
 * A rank of a team takes part by its GPU members or by gba_barrier_wait, never by both at a time.
 * If it has several GPU members, the rank has arrived when all of them have.
 */
#ifndef GBA_GPU_H
#define GBA_GPU_H

#include "gba/team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A member as a kernel needs it: plain data, which is passed to kernels by value. The addresses are
 * those of the GPU. */
typedef struct gba_gpu_member {
    uint64_t *doorbell;   /* of a device, or of the thread that serves the members */
    const uint64_t *flag; /* the low half is the last completed round */
    const uint64_t *fate; /* not 0 in its upper half: no further round ends */
    uint64_t *count; /* in GPU memory: rounds at which the member has arrived; a status in a grid */
    uint32_t member; /* the low half of an arrival */
    uint32_t direct; /* 1: a device serves the member; 0: a thread of this process does */
    uint64_t id;     /* in this process; no other member has had it */
} gba_gpu_member_t;

/* The threads of a kernel that are one member. GRID: of a cooperative launch, which has all blocks
 * resident. */
typedef enum gba_gpu_coop {
    GBA_GPU_THREAD = 0,
    GBA_GPU_WARP = 1,
    GBA_GPU_BLOCK = 2,
    GBA_GPU_GRID = 3
} gba_gpu_coop_t;

/* What an arrival and a wait order: ACQ_REL what both do, RELEASE the arrival alone, ACQUIRE the
 * wait alone. */
typedef enum gba_gpu_order {
    GBA_GPU_ACQ_REL = 0,
    GBA_GPU_ACQUIRE = 1,
    GBA_GPU_RELEASE = 2,
    GBA_GPU_RELAXED = 3
} gba_gpu_order_t;

/* A failed flag is that far ahead of the first round that failed, so that a stream's wait ends. */
#define GBA_GPU_AHEAD 0x40000000u
/* Polls, each some 1 us, until a direct member repeats its arrival. */
#define GBA_GPU_REPEAT 65536u
/* The low half of a doorbell whose kernel has given up waiting. */
#define GBA_GPU_GAVE_UP 0xFFFFFFFFu

/*
 * How a member is made. One thread serves all members of a process. The first one that is created
 * decides on its CPU, and by the parameter `wait` of its team on its waiting, while the thread
 * lives: it polls without a pause, and sleeps after a second without an arrival, for 2 ms at a
 * time, which uses less than 1% of a CPU. With `wait` spin it never sleeps; with yield it yields
 * the CPU between two polls and never sleeps; with sleep it sleeps after 50 us. With auto and sleep
 * on shared processors (gba_team_attr_t.oversubscribed) it yields, too.
 */
typedef struct gba_gpu_attr {
    uint32_t members; /* GPU members of this rank; 0 is as 1 */
    uint32_t member;  /* this one, below `members`: another one in each call for a team */
    /* No kernel of the program makes barriers of this member, only gba_gpu_barrier_on_stream does,
     * which is then faster. */
    bool stream_only;
    uint32_t cpu; /* the CPU of the thread that serves the members, plus 1; 0: any */
} gba_gpu_attr_t;

/*
 * Make a GPU member of this rank of a team. It is direct, so that the GPU itself stores to the
 * device, if the team has a group of all members at a /dev/gbaN and makes no trials (parameter
 * `offload` always), the rank has one GPU member, and CUDA maps the pages of the doorbell and of
 * the flag. Otherwise a thread of this process, the proxy, makes the team's barriers, on any path
 * (gba_gpu_member_why).
 * team: the rank makes no barrier by itself until its GPU members are destroyed. attr: copied.
 * member: set on GBA_OK. All members of a rank are made before a kernel waits, because CUDA may
 * wait for running kernels in this call.
 * Returns GBA_OK; GBA_ERR_UNSUPPORTED: no CUDA driver, or no GPU; GBA_ERR_PARAM: a wrong
 * number, or no CUDA context is current; GBA_ERR_BUSY: the rank has that member
 * already, another team of the same bootstrap or exchange has GPU members, or a function calls
 * that the library has called, such as that of gba_log_set (not logged); GBA_ERR_NOMEM; GBA_ERR_IO:
 * CUDA fails; GBA_ERR_STALE: the rank has left the team (gba_gpu_member_abort, or a destroyed
 * member that had given up); the status of another member of this rank and team that has failed.
 * Thread-safe. Not collective. Logs an error in one line.
 */
GBA_EXPORT gba_status_t gba_gpu_member_create(gba_team_t *team, const gba_gpu_attr_t *attr,
                                              gba_gpu_member_t *member);

/*
 * Destroy a member, with the CUDA context of its creation current. The team is destroyed later. The
 * thread ends with the last member of the process. A proxied member whose wait ended by its time
 * limit is destroyed. If it is the last one of its rank, the rank makes no further barrier of the
 * team, and destroys it without meeting the others; a direct one is destroyed when the round has
 * ended or the device has died. A kernel or a stream that arrives after this call has begun gets
 * GBA_ERR_STALE; rounds that a direct member completes until its kernels end count, and in the
 * middle of one the rank leaves the team. Another member with its number goes on after its last
 * arrival.
 * member: of gba_gpu_member_create. Returns GBA_OK; GBA_ERR_BUSY: a kernel or a stream
 * still waits in a barrier, or gba_barrier_end runs (logged), or a function calls that the library
 * has called, such as that of gba_log_set (not logged); GBA_ERR_PARAM: it is destroyed already
 * (logged); GBA_ERR_UNSUPPORTED: a child that the process has forked calls (logged). After an error
 * the member remains. Thread-safe. Not collective. Waits for kernels of the context, as cuMemFree
 * does.
 */
GBA_EXPORT gba_status_t gba_gpu_member_destroy(gba_gpu_member_t *member);

/*
 * Let all waits of the GPU members of this rank of the team end, in kernels and in streams, such as
 * after another rank has died: they return GBA_ERR_STALE. The rank makes no further barrier of the
 * team, and the members are destroyed as ever. member: one of them. Returns GBA_OK, also if the
 * member has failed before; GBA_ERR_PARAM: it is destroyed; GBA_ERR_UNSUPPORTED:
 * a child that the process has forked calls (logged). Thread-safe. Not collective. Does not wait
 * for CUDA.
 */
GBA_EXPORT gba_status_t gba_gpu_member_abort(const gba_gpu_member_t *member);

/*
 * Put a barrier into a stream: what the stream does later starts after all members have arrived,
 * and an event that is recorded later is complete then. It works while the stream is captured into
 * a graph, which makes one more barrier at each replay. stream: a CUstream or cudaStream_t of the
 * context of the member. Returns GBA_OK: enqueued; GBA_ERR_UNSUPPORTED: the driver cannot;
 * GBA_ERR_IO: CUDA fails (both logged); or the status of gba_gpu_member_status, if the member has
 * failed or is destroyed. One thread at a time on a member. Collective: all members. Never blocks.
 */
GBA_EXPORT gba_status_t gba_gpu_barrier_on_stream(gba_gpu_member_t *member, void *stream);

/* Get the status of a member. A barrier in a stream ends also when the member fails, so a program
 * asks after it has synchronized. Returns GBA_OK, or why no further round ends: GBA_ERR_PARAM if
 * the member is destroyed. Thread-safe. Not collective. */
GBA_EXPORT gba_status_t gba_gpu_member_status(const gba_gpu_member_t *member);

/* Get the way of a member, and the reason, in one line: "direct: /dev/gba0" or "proxy: the path of
 * the team is software". Returns the text, never NULL, valid until the member is destroyed.
 * Thread-safe. Not collective. */
GBA_EXPORT const char *gba_gpu_member_why(const gba_gpu_member_t *member);

/* Describe how GPUs can take part in barriers on a device. path: the kind of the team's path. text,
 * len: set to one line that begins with "direct", "proxy" or "no" (len bytes at most, terminated).
 * Returns GBA_OK, or GBA_ERR_UNSUPPORTED for "no". Thread-safe. Not collective. Logs nothing. */
GBA_EXPORT gba_status_t gba_gpu_describe(gba_path_t path, char *text, size_t len);

#ifdef __cplusplus
}
#endif

#endif
