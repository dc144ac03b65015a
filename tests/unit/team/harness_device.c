/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of team_harness.h: simulated ones that fail on demand, and their other users. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/dev/member.h"
#include "sim/model/group.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"
#include "tests/limit.h"
#include "tests/unit/team/team_harness.h"

/* The harness whose devices these operations belong to. */
struct harness_dev_ops {
    struct gba_dev_ops base;
    struct harness *harness;
};

static struct harness *harness_of(const struct gba_dev *dev)
{
    return ((const struct harness_dev_ops *)dev->ops)->harness;
}

/* Count a call. Returns GBA_OK, or the planned error. others: members that, if w->fault.last, have
 * mapped their flags before it fails. */
static gba_status_t called(const struct gba_dev *dev, enum harness_call call, uint32_t member,
                           uint32_t others)
{
    struct harness *w = harness_of(dev);

    gba_word_add_relaxed(&w->calls[call], 1);
    if (w->fault.device == NULL || w->fault.device->dev != dev || w->fault.call != call ||
        (NOBODY != w->fault.member && w->fault.member != member))
        return GBA_OK;
    while (w->fault.last && gba_word_load_acquire(&w->mapped) < others)
        sched_yield();
    return w->fault.status;
}

static gba_status_t alloc(struct gba_dev *dev, const gba_group_request_t *request,
                          gba_group_handle_t *handle)
{
    struct harness *w = harness_of(dev);
    gba_status_t status = called(dev, HARNESS_ALLOC, 0, 0);

    w->request[(harness_calls(w, HARNESS_ALLOC) - 1) % HARNESS_REQUESTS] = *request;
    return GBA_OK == status ? gba_dev_sim.alloc(dev, request, handle) : status;
}

static void cancel(struct gba_dev *dev, const gba_group_handle_t *handle)
{
    (void)called(dev, HARNESS_CANCEL, 0, 0);
    gba_dev_sim.cancel(dev, handle);
}

static gba_status_t join(struct gba_dev *dev, const gba_group_handle_t *handle, uint32_t member,
                         struct gba_membership **membership)
{
    gba_status_t status = called(dev, HARNESS_JOIN, member, handle->members - 1);

    return GBA_OK == status ? gba_dev_sim.join(dev, handle, member, membership) : status;
}

static gba_status_t map_flag(struct gba_membership *membership)
{
    struct harness *w = harness_of(membership->dev);
    gba_status_t status =
        called(membership->dev, HARNESS_MAP, membership->member, membership->members - 1);

    if (GBA_OK == status)
        status = gba_dev_sim.map_flag(membership);
    if (GBA_OK == status)
        gba_word_add_relaxed(&w->mapped, 1);
    return status;
}

static gba_status_t configure(struct gba_membership *membership, uint32_t sequence)
{
    gba_status_t status = called(membership->dev, HARNESS_CONFIGURE, membership->member, 0);

    return GBA_OK == status ? gba_dev_sim.configure(membership, sequence) : status;
}

static gba_status_t inspect(struct gba_membership *membership, gba_group_state_t *state)
{
    gba_status_t status = called(membership->dev, HARNESS_INSPECT, membership->member, 0);

    return GBA_OK == status ? gba_dev_sim.inspect(membership, state) : status;
}

void harness_fail(struct harness *w, gba_device_t *device, enum harness_call call, uint32_t member,
                  gba_status_t status)
{
    w->fault.device = device;
    w->fault.call = call;
    w->fault.member = member;
    w->fault.status = status;
}

uint64_t harness_calls(const struct harness *w, enum harness_call call)
{
    return gba_word_load_relaxed(&w->calls[call]);
}

/* ------------------------------------------------------------------------- the harnesses --- */

static struct harness *harness_new(const char *const paths[HARNESS_DEVICES])
{
    struct harness *w = calloc(1, sizeof *w);

    pthread_mutex_init(&w->net_lock, NULL);
    alarm(test_limit(300)); /* the test must not wait for a member that waits for ever */
    gba_params_default(&w->params);
    w->params.wait =
        GBA_WAIT_YIELD; /* more threads than cores; the team must not only use the counter */
    w->params.retry_after = 1;
    w->rounds = 60;
    w->keeps = 3;
    w->no_software = w->no_host = w->no_attach = w->no_remote = w->no_open = NOBODY;
    w->no_device = NOBODY;
    w->expected = "";
    w->dev_ops = calloc(1, sizeof *w->dev_ops);
    w->dev_ops->base = gba_dev_sim;
    w->dev_ops->harness = w;
    w->dev_ops->base.alloc = alloc;
    w->dev_ops->base.cancel = cancel;
    w->dev_ops->base.join = join;
    w->dev_ops->base.map_flag = map_flag;
    w->dev_ops->base.configure = configure;
    w->dev_ops->base.inspect = inspect;
    for (uint32_t d = 0; d < HARNESS_DEVICES && paths[d] != NULL; d++) {
        assert_int_equal(gba_device_init(paths[d], NULL, &w->switches[d]), GBA_OK);
        w->switches[d]->dev->ops = &w->dev_ops->base;
    }
    w->device = w->switches[0];
    return w;
}

struct harness *harness_on(const char *path)
{
    return harness_new((const char *const[HARNESS_DEVICES]){path});
}

struct harness *harness_of_leaders(const char *path)
{
    struct harness *w = harness_on(path);

    w->params.hierarchy = GBA_HIERARCHY_NODE;
    return w;
}

struct harness *harness_of_domains(const char *first, const char *second, const char *third)
{
    struct harness *w = harness_new((const char *const[HARNESS_DEVICES]){first, second, third});

    w->accounts = true;
    return w;
}

static void device_end(gba_device_t *device, bool in_lock)
{
    gba_device_info_t info;

    assert_int_equal(gba_device_query(device, &info), GBA_OK);
    if (in_lock)
        assert_true(info.dead);
    else
        assert_int_equal(info.groups_free, strstr(device->path, "full") == NULL ? info.groups : 0);
    gba_device_fini(device);
}

void harness_end(struct harness *w)
{
    others_free(w);
    harness_net_end(w);
    for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
        if (w->switches[d] != NULL)
            device_end(w->switches[d], w->kill.in_lock);
    free(w->dev_ops);
    free(w);
    alarm(0);
}

void harness_place(struct harness *w, uint32_t size, uint32_t hosts, uint32_t used, int layout)
{
    for (uint32_t r = 0; r < size; r++) {
        const uint32_t host[] = {r % hosts, r * hosts / size, r * r % hosts,
                                 r < hosts ? r : hosts - 1};

        w->host[r] = host[layout];
        w->devices[r] = w->switches[w->host[r] % used];
    }
}

void harness_hosts(struct harness *w, uint32_t size, uint32_t hosts, int layout)
{
    harness_place(w, size, hosts, 1, layout);
}

/* ------------------------------------------------------------- the failures of a device --- */

void others_take(struct harness *w, gba_device_t *device)
{
    w->others.device = device;
    while (GBA_OK == gba_allocate_group(device, 2, &w->others.handle[w->others.held]))
        w->others.held++;
}

void others_free(struct harness *w)
{
    while (w->others.held > 0)
        gba_free_handle(w->others.device, &w->others.handle[--w->others.held]);
}

void harness_device_dead(gba_device_t *device, bool dead)
{
    gba_word_store_relaxed(&((struct gba_sim_dev *)device->dev)->segment->dead, dead);
}

static struct gba_model *model_of(const gba_device_t *device)
{
    return &((struct gba_sim_dev *)device->dev)->segment->model;
}

void harness_device_join(gba_device_t *device, const gba_device_t *other)
{
    memcpy(device->dev->uuid, other->dev->uuid, sizeof device->dev->uuid);
    memcpy(model_of(device)->uuid, model_of(other)->uuid, sizeof model_of(device)->uuid);
}

/* A process is killed while it changes group 0. */
static void die_in_lock(gba_device_t *device)
{
    struct gba_sim_segment *segment = ((struct gba_sim_dev *)device->dev)->segment;
    pid_t child = fork();

    if (0 == child) {
        (void)gba_sim_group_lock(segment, 0);
        memset(&segment->model.group[0].core, 0x55, sizeof segment->model.group[0].core);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
}

static void *killer_main(void *arg)
{
    struct harness *w = arg;

    while (gba_word_load_relaxed(&w->entered[0][0]) < w->kill.from_round)
        usleep(1000);
    usleep(w->kill.after_us);
    for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
        if (w->kill.which >> d & 1) {
            if (w->kill.in_lock)
                die_in_lock(w->switches[d]);
            else
                harness_device_dead(w->switches[d], true);
        }
    return NULL;
}

void killer_start(struct harness *w)
{
    if (0 != w->kill.which)
        assert_int_equal(pthread_create(&w->kill.thread, NULL, killer_main, w), 0);
}

void killer_join(struct harness *w)
{
    if (0 != w->kill.which)
        pthread_join(w->kill.thread, NULL);
}

void harness_before_round(struct harness *w, uint32_t round)
{
    if (round == w->others.take_before)
        others_take(w, w->others.device);
    if (round == w->others.free_before)
        others_free(w);
    if (w->before != NULL)
        w->before(w, round);
}
