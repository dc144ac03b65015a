/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The segment of a simulated device: makes it, or attaches to an existing one.
 */
#define _GNU_SOURCE /* fallocate, seals */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/base/memory_file.h"
#include "gba/base/system_status.h"
#include "sim/shm/find.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"

uint64_t gba_sim_slot_address(uint32_t group, uint32_t member)
{
    return offsetof(struct gba_sim_segment, slot) +
           ((uint64_t)group * GBA_MEMBERS_MAX + member) * sizeof(struct gba_sim_slot);
}

/* The longest wait for another process that makes the simulator. Making it takes a millisecond, and
 * the lock of a dead maker is free at once. So long a wait means that the maker is stopped, or that
 * an unrelated process holds the name of the lock. */
#define MAKER_WAIT_NS 10000000000ull
/* The wait before the first search without the lock. Each later one comes after twice the time. */
#define MAKER_SEARCH_NS 100000000ull

/* Peers may write to the file, but not truncate it under a process that has it mapped. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

struct attach {
    struct gba_sim_dev *dev;
    const struct gba_dev_path *path;
    const char *id;
};

static gba_status_t system_failed(const char *what)
{
    int err = errno;

    gba_log(GBA_LOG_ERROR, "sim: cannot %s: %s", what, strerror(err));
    return gba_system_status(err);
}

static int reserve(int file, off_t len)
{
    int rc;

    do
        rc = fallocate(file, 0, 0, len);
    while (0 != rc && EINTR == errno);
    return rc;
}

/* Make a file of the right size, all in memory. Returns -1 on failure, with *status
 * set. */
static int file_create(const char *id, gba_status_t *status)
{
    const off_t size = (off_t)sizeof(struct gba_sim_segment);
    char name[GBA_SIM_ID_MAX + 16];
    struct rlimit limit;
    int file;

    /* Beyond this limit ftruncate kills the process with SIGXFSZ. */
    if (0 == getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < (rlim_t)size) {
        gba_log(GBA_LOG_ERROR, "sim: the file size limit (ulimit -f) is %llu bytes, needed: %lld",
                (unsigned long long)limit.rlim_cur, (long long)size);
        *status = GBA_ERR_NOMEM;
        return -1;
    }
    snprintf(name, sizeof name, GBA_SIM_FILE_NAME, id);
    file = gba_memory_file(name);
    if (file < 0) {
        *status = system_failed("create the memory of the simulated device");
        return -1;
    }
    if (0 == ftruncate(file, size) && 0 == reserve(file, size) &&
        0 == fcntl(file, F_ADD_SEALS, SEALS | F_SEAL_SEAL))
        return file;
    *status = system_failed("reserve the memory of the simulated device");
    close(file);
    return -1;
}

static struct gba_sim_segment *segment_map(int file)
{
    void *map = gba_map_shared(sizeof(struct gba_sim_segment), PROT_READ | PROT_WRITE, 0, file, 0);

    return MAP_FAILED == map ? NULL : map;
}

static gba_status_t segment_init(struct gba_sim_segment *segment, const char *id,
                                 const struct gba_sim_options *options)
{
    uint64_t uuid[2];
    int err = 0;

    if (sizeof uuid != getrandom(uuid, sizeof uuid, 0))
        return system_failed("get random numbers");
    gba_model_init(&segment->model, 0 == options->groups ? GBA_GROUPS : options->groups,
                   GBA_PORTS_MAX, uuid);
    for (uint32_t i = 0; 0 == err && i < GBA_GROUPS; i++)
        err = gba_sim_lock_init(&segment->group[i].lock);
    if (0 != err) {
        errno = err;
        return system_failed("create a lock of the simulated device");
    }
    segment->header.layout = GBA_SIM_LAYOUT;
    segment->header.size = sizeof *segment;
    segment->header.clock = gba_sim_clock_id();
    segment->header.options = *options;
    snprintf(segment->header.id, sizeof segment->header.id, "%s", id);
    /* Release: pairs with segment_attach. A process that sees the magic sees all stores above. */
    gba_word_store_release(&segment->header.magic, GBA_SIM_MAGIC);
    return GBA_OK;
}

static gba_status_t segment_create(struct gba_sim_dev *dev, const char *id,
                                   const struct gba_sim_options *options)
{
    struct gba_sim_segment *segment;
    gba_status_t status = GBA_OK;
    int file = file_create(id, &status);

    if (file < 0)
        return status;
    segment = segment_map(file);
    if (segment == NULL || !gba_descriptor_keep(&dev->file, file)) {
        status = system_failed("map the simulated device");
        goto close_file;
    }
    dev->segment = segment;
    status = segment_init(segment, id, options); /* other processes can attach from here on */
    dev->created = true;
    if (GBA_OK == status)
        return GBA_OK;
close_file:
    if (segment != NULL)
        munmap(segment, sizeof *segment);
    close(file);
    return status;
}

/* Check that a file belongs to this user, is safe to map, and has this layout. The header is read
 * without mapping the file. */
static gba_status_t file_check(int file, const char *id)
{
    struct gba_sim_header header;
    struct stat st;
    int seals = fcntl(file, F_GET_SEALS);

    if (0 != fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        0 != (st.st_mode & 077) || seals < 0 || SEALS != (seals & SEALS))
        return GBA_INPROGRESS;
    if (sizeof header != pread(file, &header, sizeof header, 0) ||
        GBA_SIM_MAGIC != gba_word_load_acquire(&header.magic))
        return GBA_INPROGRESS; /* its maker died while making it */
    if (GBA_SIM_LAYOUT != header.layout || sizeof(struct gba_sim_segment) != header.size ||
        (off_t)sizeof(struct gba_sim_segment) != st.st_size) {
        gba_log(GBA_LOG_ERROR,
                "sim: the running simulated device belongs to another build of libgba "
                "(layout %u, %u bytes; here %u, %zu)",
                header.layout, header.size, GBA_SIM_LAYOUT, sizeof(struct gba_sim_segment));
        return GBA_ERR_VERSION;
    }
    if (0 != strncmp(header.id, id, sizeof header.id) || gba_sim_clock_id() != header.clock)
        return GBA_INPROGRESS;
    return GBA_OK;
}

static bool options_differ(const struct gba_sim_options *a, const struct gba_sim_options *b)
{
    struct gba_sim_options x = *a, y = *b;

    /* An option that is not given is equal to its default. */
    x.groups = 0 == x.groups ? GBA_GROUPS : x.groups;
    y.groups = 0 == y.groups ? GBA_GROUPS : y.groups;
    return 0 != memcmp(&x, &y, sizeof x);
}

/* Check that the requested options are those of the maker. A process may attach to a named
 * simulator without giving options. */
static gba_status_t options_check(const struct gba_sim_segment *segment,
                                  const struct gba_dev_path *path)
{
    static const struct gba_sim_options none;
    const bool named = '\0' != path->name[0];
    char runs[96], requested[96];

    if (named && !options_differ(&path->sim, &none))
        return GBA_OK;
    if (!options_differ(&segment->header.options, &path->sim))
        return GBA_OK;
    gba_sim_options_print(&segment->header.options, runs, sizeof runs);
    gba_sim_options_print(&path->sim, requested, sizeof requested);
    gba_log(GBA_LOG_ERROR, "sim%s%s: this simulated device runs with %s; requested: %s; %s%s%s",
            named ? ":" : "", path->name, runs, requested,
            named ? "give the same options, or sim:"
                  : "all processes of the job must give the same options",
            path->name, named ? " alone" : "");
    return GBA_ERR_BUSY;
}

static gba_status_t segment_attach(void *ctx, int file)
{
    const struct attach *attach = ctx;
    struct gba_sim_segment *segment;
    gba_status_t status = file_check(file, attach->id);

    if (GBA_OK != status)
        return status;
    segment = segment_map(file);
    if (segment == NULL)
        return system_failed("map the simulated device");
    /* Acquire: pairs with segment_init. */
    if (!gba_descriptor_keep(&attach->dev->file, file))
        status = system_failed("stat the simulated device");
    else if (GBA_SIM_MAGIC != gba_word_load_acquire(&segment->header.magic) ||
             (gba_sim_is_named(attach->path) && gba_sim_dead(segment)))
        status = GBA_INPROGRESS;
    else
        status = options_check(segment, attach->path);
    if (GBA_OK != status) {
        munmap(segment, sizeof *segment);
        return status;
    }
    attach->dev->segment = segment;
    attach->dev->created = false; /* by an earlier attempt of this open */
    return GBA_OK;
}

/*
 * The holder of the lock searches once: no other process can make the simulator meanwhile. Who
 * waits for it finds what was made in the holder's process, without the lock: beside the others. It
 * seldom searches all of /proc, because many processes that begin together would keep the maker
 * from the processors. But the lock may also be held by a stopped process or by an unrelated one.
 */
static gba_status_t make_or_attach(struct attach *attach)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t start = gba_clock_ns();
    uint64_t waited = 0, search_after = MAKER_SEARCH_NS;
    gba_status_t status = GBA_INPROGRESS;
    int lock, holder;
    pid_t maker;

    do {
        maker = 0;
        lock = gba_sim_maker_lock(attach->id, &holder);
        if (lock < 0 && EADDRINUSE != errno)
            return system_failed("bind the lock of the simulated device, an abstract socket");
        if (holder >= 0)
            maker = gba_sim_maker_wait(holder, (int)((search_after - waited) / 1000000) + 1);
        waited = gba_clock_ns() - start;
        if (0 != maker)
            status = gba_sim_find(attach->id, maker, segment_attach, attach);
        if (GBA_INPROGRESS == status && (lock >= 0 || waited >= search_after))
            status = gba_sim_find(attach->id, 0, segment_attach, attach);
        if (GBA_INPROGRESS == status && lock >= 0)
            status = segment_create(attach->dev, attach->id, &attach->path->sim);
        if (waited >= search_after)
            search_after = 2 * waited < MAKER_WAIT_NS ? 2 * waited : MAKER_WAIT_NS;
        if (lock >= 0)
            close(lock);
        if (holder >= 0)
            close(holder);
        if (GBA_INPROGRESS == status) /* another user could let each wait end at once */
            nanosleep(&pause, NULL);
    } while (GBA_INPROGRESS == status && waited < MAKER_WAIT_NS);
    if (GBA_INPROGRESS != status)
        return status;
    gba_log(GBA_LOG_ERROR, "sim: another process has held the lock @gba-sim-lock:%s for 10 s",
            attach->id);
    return GBA_ERR_BUSY;
}

gba_status_t gba_sim_segment_open(struct gba_sim_dev *dev, const struct gba_dev_path *path,
                                  const char *job)
{
    const char *name = '\0' == path->name[0] ? NULL : path->name;
    char id[GBA_SIM_ID_MAX];
    struct attach attach = {.dev = dev, .path = path, .id = id};
    gba_status_t status = gba_sim_id(id, name, job);

    if (GBA_OK != status)
        return status;
    if (name != NULL && '@' == name[0]) {
        status = gba_sim_find(id, 0, segment_attach, &attach);
        return GBA_INPROGRESS == status ? GBA_ERR_NO_DEVICE : status;
    }
    if (name == NULL && job == NULL)
        return segment_create(dev, id, &path->sim);
    return make_or_attach(&attach);
}

void gba_sim_segment_close(struct gba_sim_dev *dev)
{
    munmap(dev->segment, sizeof *dev->segment);
    gba_descriptor_close(&dev->file);
}
