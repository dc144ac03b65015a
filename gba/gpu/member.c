/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU members: made, put into streams, destroyed. The calls of the CUDA driver are here. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/gpu/cuda.h"
#include "gba/gpu/group.h"
#include "gba/gpu/on_stream.h"

#define MEMBERS_MAX 64u

/* Members are made and destroyed one at a time. The serving thread goes on meanwhile, because CUDA
 * may wait for kernels that wait for it. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

struct gba_gpu_part {
    struct gba_gpu_part *next;
    struct gba_gpu_group *group;
    uint64_t id;           /* of the member */
    uint32_t index;        /* among the GPU members of the rank */
    void *door, *flag;     /* pages of the device that CUDA has mapped; NULL: none */
    void *module, *kernel; /* gba_gpu_on_stream; NULL: refused by the driver */
    bool by_words;         /* barriers in streams are operations on words, not the kernel */
    uint32_t sequence;     /* of the last of them */
    char why[224];
};

/* Those of the members that exist. The thread is paused, too, when one is taken out. */
static struct gba_gpu_part *parts;
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;

/* Returns the id. */
static uint64_t part_add(struct gba_gpu_part *part)
{
    pthread_mutex_lock(&parts_lock);
    part->id = ++last_id;
    part->next = parts;
    parts = part;
    pthread_mutex_unlock(&parts_lock);
    return part->id;
}

/* The link to the part of a member, under the lock; to NULL if the member is destroyed. */
static struct gba_gpu_part **part_at(const gba_gpu_member_t *member)
{
    struct gba_gpu_part **at = &parts;

    while (*at != NULL && (*at)->id != member->id)
        at = &(*at)->next;
    return at;
}

/* Find the part of a member. remove: from the list. Returns NULL if the member is destroyed. */
static struct gba_gpu_part *part_find(const gba_gpu_member_t *member, bool remove)
{
    struct gba_gpu_part **at, *found;

    pthread_mutex_lock(&parts_lock);
    at = part_at(member);
    found = *at;
    if (remove && found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&parts_lock);
    return found;
}

/* why: NULL: the text of the status. */
static gba_status_t refuse(gba_status_t status, const char *why)
{
    char line[320];

    snprintf(line, sizeof line, "GPU member: %s", why != NULL ? why : gba_status_text(status));
    gba_log_text(GBA_LOG_ERROR, line);
    return status;
}

static const char *cuda_name(gba_cu_result result)
{
    const char *name = "unknown error";

    (void)gba_cuda.error(result, &name);
    return name;
}

/* The status of a call of the driver. An error is logged. */
static gba_status_t cuda_status(const char *function, gba_cu_result result)
{
    char line[192];

    if (0 == result)
        return GBA_OK;
    snprintf(line, sizeof line, "%s failed: %s", function, cuda_name(result));
    return refuse(GBA_ERR_IO, line);
}

static void life_lock(void)
{
    pthread_mutex_lock(&life);
    gba_gpu_inside = true;
}

static void life_unlock(void)
{
    gba_gpu_inside = false;
    pthread_mutex_unlock(&life);
}

/* ------------------------------------------------------------------------------- the words --- */

/* Map the page of a word of the device. Returns the page, or NULL: CUDA refuses. */
static void *page_map(struct gba_gpu_part *part, const void *word, unsigned flags, const char *what,
                      gba_cu_pointer *address)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE), offset = (uintptr_t)word % bytes;
    void *page = (char *)(uintptr_t)word - offset;
    gba_cu_result result;

    result = gba_cuda.host_register(page, bytes, GBA_CU_REGISTER_MAPPED | flags);
    if (0 == result) {
        result = gba_cuda.host_pointer(address, page, 0);
        *address += offset;
        if (0 == result)
            return page;
        (void)gba_cuda.host_unregister(page);
    }
    snprintf(part->why, sizeof part->why, "proxy: CUDA does not map the %s of the device: %s", what,
             cuda_name(result));
    return NULL;
}

/* Make the member direct, if that is possible. */
static void member_direct(struct gba_gpu_part *part, gba_gpu_member_t *member)
{
    const gba_team_own_t *own = &part->group->own;
    gba_cu_pointer door, flag;

    if (own->doorbell == NULL) {
        snprintf(part->why, sizeof part->why, "proxy: the path of the team is %s", own->indirect);
        return;
    }
    if (part->group->members > 1) {
        snprintf(part->why, sizeof part->why, "proxy: the rank has %u GPU members",
                 part->group->members);
        return;
    }
    part->door = page_map(part, own->doorbell, GBA_CU_REGISTER_IOMEMORY, "doorbell page", &door);
    if (part->door == NULL)
        return;
    part->flag = page_map(part, own->flag, GBA_CU_REGISTER_READ_ONLY, "page of the flag", &flag);
    if (part->flag == NULL) {
        /* The page may end with the path, before the member. */
        (void)gba_cuda.host_unregister(part->door);
        part->door = NULL;
        return;
    }
    snprintf(part->why, sizeof part->why, "direct: the doorbell of the device");
    member->doorbell = (uint64_t *)(uintptr_t)door;
    member->flag = (const uint64_t *)(uintptr_t)flag;
    member->member = own->member;
    member->direct = 1;
    gba_gpu_pause();
    part->group->first = part->group->sequence = own->sequence;
    part->group->state = GBA_GPU_DIRECT;
    gba_gpu_resume();
}

/* The words of the member in memory of the process. The first member of a group registers them. */
static gba_status_t words_map(struct gba_gpu_part *part, gba_gpu_member_t *member)
{
    struct gba_gpu_group *group = part->group;
    gba_cu_pointer doors, flag;
    gba_status_t status = GBA_OK;

    if (!group->registered)
        status = cuda_status("cuMemHostRegister", gba_cuda.host_register(group->doors, group->bytes,
                                                                         GBA_CU_REGISTER_MAPPED));
    group->registered = GBA_OK == status;
    if (GBA_OK == status)
        status = cuda_status("cuMemHostGetDevicePointer",
                             gba_cuda.host_pointer(&doors, group->doors, 0));
    if (GBA_OK != status)
        return status;
    doors += part->index * sizeof *group->doors;
    flag = doors + group->members * sizeof *group->doors;
    *member = (gba_gpu_member_t){.doorbell = (uint64_t *)(uintptr_t)doors,
                                 .flag = (const uint64_t *)(uintptr_t)flag,
                                 .fate = (const uint64_t *)(uintptr_t)flag,
                                 .member = part->index};
    return GBA_OK;
}

/* The count, in GPU memory. */
static gba_status_t count_make(struct gba_gpu_part *part, gba_gpu_member_t *member)
{
    const uint64_t first[2] = {
        member->direct ? part->group->sequence : gba_gpu_count(part->group, part->index), 0};
    gba_cu_pointer count;
    gba_status_t status = cuda_status("cuMemAlloc", gba_cuda.alloc(&count, sizeof first));

    if (GBA_OK != status)
        return status;
    member->count = (uint64_t *)(uintptr_t)count;
    part->sequence = (uint32_t)first[0];
    return cuda_status("cuMemcpyHtoD", gba_cuda.copy_in(count, first, sizeof first));
}

/* The kernel of barriers in streams. It is loaded here, because CUDA may wait for running kernels
 * when it loads one. A driver that refuses it has barriers from kernels still. */
static void kernel_load(struct gba_gpu_part *part)
{
    if (0 != gba_cuda.module_load(&part->module, gba_gpu_on_stream))
        part->module = NULL;
    else if (0 != gba_cuda.function(&part->kernel, part->module, "gba_gpu_on_stream"))
        part->kernel = NULL;
}

/* -------------------------------------------------------------------------- create, destroy --- */

/* Undo what a member has of CUDA, after gba_gpu_quit, because CUDA may wait for kernels. */
static void member_undo(struct gba_gpu_part *part, const gba_gpu_member_t *member)
{
    if (member->count != NULL)
        (void)gba_cuda.free((gba_cu_pointer)(uintptr_t)member->count);
    if (part->door != NULL) {
        gba_gpu_pause();
        gba_gpu_settle(part->group);
        gba_gpu_resume();
    }
    if (part->module != NULL)
        (void)gba_cuda.module_unload(part->module);
    if (part->flag != NULL)
        (void)gba_cuda.host_unregister(part->flag);
    if (part->door != NULL)
        (void)gba_cuda.host_unregister(part->door);
    if (0 == part->group->made && part->group->registered)
        (void)gba_cuda.host_unregister(part->group->doors);
    gba_gpu_leave(part->group);
    free(part);
}

static gba_status_t member_make(struct gba_gpu_part *part, gba_gpu_member_t *member)
{
    gba_status_t status = words_map(part, member);

    if (GBA_OK != status)
        return status;
    member_direct(part, member);
    status = count_make(part, member);
    if (GBA_OK == status)
        kernel_load(part);
    return status;
}

gba_status_t gba_gpu_member_create(gba_team_t *team, const gba_gpu_attr_t *attr,
                                   gba_gpu_member_t *member)
{
    gba_gpu_attr_t use = *attr;
    const char *cause = gba_cuda_open();
    gba_gpu_member_t made = {0};
    struct gba_gpu_part *part;
    gba_status_t status = gba_gpu_may();
    void *context = NULL;

    if (GBA_OK != status)
        return status;
    if (cause != NULL)
        return refuse(GBA_ERR_UNSUPPORTED, cause);
    use.members = 0 == use.members ? 1 : use.members;
    if (use.members > MEMBERS_MAX || use.member >= use.members)
        return refuse(GBA_ERR_PARAM, "gba_gpu_attr_t.member is not below members, or above 63");
    if (0 != gba_cuda.current(&context) || context == NULL)
        return refuse(GBA_ERR_PARAM, "no CUDA context is current; call cudaSetDevice before");
    part = calloc(1, sizeof *part);
    if (part == NULL)
        return refuse(GBA_ERR_NOMEM, NULL);
    part->index = use.member;
    life_lock();
    gba_gpu_pause();
    status = gba_gpu_join(team, &use, &part->group, &cause);
    gba_gpu_resume();
    if (GBA_OK != status) {
        free(part);
        (void)refuse(status, cause);
    } else {
        status = member_make(part, &made);
        part->by_words = use.stream_only && gba_cuda.batch != NULL && !made.direct;
        if (GBA_OK == status) {
            made.id = part_add(part);
            *member = made;
        } else {
            gba_gpu_pause();
            gba_gpu_quit(part->group, part->index);
            gba_gpu_resume();
            member_undo(part, &made);
        }
    }
    life_unlock();
    return status;
}

/* Why the member cannot be destroyed; NULL: it can. The thread is paused. */
static const char *part_busy(const struct gba_gpu_part *part)
{
    struct gba_gpu_group *group = part->group;
    const uint64_t door = gba_word_load_acquire(&group->doors[part->index].word);
    bool waits;

    if (GBA_GPU_HELPED == group->state)
        return "its rank agrees with the others";
    if (GBA_GPU_DIRECT == group->state && !gba_gpu_watch(group, gba_clock_ns()))
        return "its device does not answer";
    if (0 != gba_word_load_relaxed(&group->fate))
        return NULL;
    if (GBA_GPU_DIRECT == group->state)
        waits = group->own.under_way;
    else
        waits = GBA_GPU_GAVE_UP != (uint32_t)door &&
                (int32_t)((uint32_t)(door >> 32) - group->sequence) > 0;
    return waits ? "a kernel or a stream waits in a barrier" : NULL;
}

gba_status_t gba_gpu_member_destroy(gba_gpu_member_t *member)
{
    gba_status_t status = gba_gpu_may();
    char line[300] = "it is destroyed already";
    struct gba_gpu_part *part;
    const char *busy;

    if (GBA_OK != status)
        return status;
    life_lock();
    gba_gpu_pause();
    part = part_find(member, false);
    busy = part != NULL ? part_busy(part) : NULL;
    if (busy != NULL) {
        status = GBA_ERR_BUSY;
        snprintf(line, sizeof line, "%s: GPU member %u is not destroyed: %s", part->group->own.name,
                 part->index, busy);
    } else if (part != NULL) {
        (void)part_find(member, true);
        gba_gpu_quit(part->group, part->index);
    } else {
        status = GBA_ERR_PARAM;
    }
    gba_gpu_resume();
    if (GBA_OK == status) {
        member_undo(part, member);
        member->id = 0;
    }
    life_unlock();
    return GBA_OK == status ? GBA_OK : refuse(status, line);
}

gba_status_t gba_gpu_member_abort(const gba_gpu_member_t *member)
{
    const gba_status_t status = gba_gpu_may();
    struct gba_gpu_part *part;

    if (GBA_ERR_UNSUPPORTED == status)
        return status;
    gba_gpu_pause();
    part = part_find(member, false);
    if (part != NULL)
        gba_gpu_abort(part->group);
    gba_gpu_resume();
    return part != NULL ? GBA_OK : GBA_ERR_PARAM;
}

/* --------------------------------------------------------------------------------- streams --- */

/* The barrier as operations on words: store the arrival and the count, wait for the flag, whose
 * low half the operation compares cyclically. Returns whether the driver takes them. */
static bool barrier_by_words(struct gba_gpu_part *part, gba_gpu_member_t *member, void *stream)
{
    const uint32_t next = part->sequence + 1;
    gba_cu_op_t ops[] = {
        {.word = {GBA_CU_OP_WRITE_64, (gba_cu_pointer)(uintptr_t)member->count, next, 0, 0}},
        {.word = {GBA_CU_OP_WRITE_64, (gba_cu_pointer)(uintptr_t)member->doorbell,
                  (uint64_t)next << 32 | member->member, 0, 0}},
        {.word = {GBA_CU_OP_WAIT_32, (gba_cu_pointer)(uintptr_t)member->flag, next, GBA_CU_WAIT_GEQ,
                  0}},
    };
    const bool done = 0 == gba_cuda.batch(stream, 3, ops, 0);

    if (done)
        part->sequence = next;
    return done;
}

gba_status_t gba_gpu_member_status(const gba_gpu_member_t *member)
{
    const struct gba_gpu_part *part;
    gba_status_t status = GBA_ERR_PARAM;

    pthread_mutex_lock(&parts_lock); /* another thread may destroy it, and free the group */
    part = *part_at(member);
    if (part != NULL)
        status = (gba_status_t) - (int)gba_word_load_acquire(&part->group->fate);
    pthread_mutex_unlock(&parts_lock);
    return status;
}

gba_status_t gba_gpu_barrier_on_stream(gba_gpu_member_t *member, void *stream)
{
    struct gba_gpu_part *part = part_find(member, false);
    gba_gpu_member_t copy = *member;
    void *args[] = {&copy};
    gba_status_t status = gba_gpu_member_status(member);
    int captured = 0;

    if (GBA_OK == status)
        status = cuda_status("cuStreamIsCapturing", gba_cuda.capturing(stream, &captured));
    if (GBA_OK != status)
        return status;
    /* Not any more after a capture, because a replay counts in GPU memory, nor with a driver that
     * lacks these operations. */
    part->by_words = part->by_words && 0 == captured && barrier_by_words(part, member, stream);
    if (part->by_words)
        return GBA_OK;
    if (part->kernel == NULL)
        return refuse(
            GBA_ERR_UNSUPPORTED,
            "the CUDA driver does not load the kernel for streams; CUDA 12.2 or later does");
    return cuda_status("cuLaunchKernel",
                       gba_cuda.launch(part->kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

const char *gba_gpu_member_why(const gba_gpu_member_t *member)
{
    const struct gba_gpu_part *part = part_find(member, false);

    return part != NULL ? part->why : "the member is destroyed";
}

gba_status_t gba_gpu_describe(gba_path_t path, char *text, size_t len)
{
    const char *cause = gba_cuda_open();

    if (cause != NULL) {
        snprintf(text, len, "no: %s", cause);
        return GBA_ERR_UNSUPPORTED;
    }
    snprintf(text, len, "%s",
             GBA_PATH_DEVICE == path
                 ? "direct, or by proxy if CUDA does not map the pages of the device"
                 : "proxy: a thread of the process makes the barriers");
    return GBA_OK;
}
