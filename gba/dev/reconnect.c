/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a device: counted, and made again if a gba-switchd was restarted.
 *
 * A device, each snapshot of it, and each membership hold a connection. A lost connection is closed
 * when the device has another one and the last agreement and the last membership have left it.
 *
 * An agreement that finds the connection lost begins another one, or looks whether the one that an
 * earlier agreement began is made. So a switch that hangs costs an agreement a system call, and is
 * there again as soon as it answers. An attempt that fails at once is repeated soon, because a
 * killed switch refuses a connection in microseconds. An attempt without an answer is begun anew
 * after a pause that doubles up to a minute: the switch may be another one by now, at the same
 * address, without the end of the connection having reached this host.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/dev/member.h"

/* Time in ns for which a new attempt waits. A switch that runs answers in a fraction of it. */
#define ANSWER UINT64_C(5000000)

/* The pauses in ns after an attempt that has waited so long. */
#define PAUSE_FIRST UINT64_C(1000000000)
#define PAUSE_MOST  UINT64_C(60000000000)

/* A failed attempt that took t is followed by none for PAUSE_SHARE * t. */
#define PAUSE_SHARE 100u

/* Of device->dev, key, has_key and again.busy. Held for a few instructions only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_take(void)
{
    pthread_mutex_lock(&lock);
}

static void lock_give(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child of fork may use a simulated device, and finds the lock free. */
static void handlers_install(void)
{
    (void)pthread_atfork(lock_take, lock_give, lock_give);
}

struct gba_dev *gba_dev_hold(const gba_device_t *device)
{
    struct gba_dev *dev;

    (void)pthread_once(&once, handlers_install);
    lock_take();
    dev = device->dev;
    (void)gba_word_add_relaxed(&dev->references, 1);
    lock_give();
    return dev;
}

void gba_dev_put(struct gba_dev *dev)
{
    /* Acquire and release: the other holders used the connection before it is closed. */
    if (1 == gba_word_add_acq_rel(&dev->references, UINT64_MAX))
        dev->ops->close(dev);
}

void gba_device_key_set(gba_device_t *device, const uint8_t key[GBA_KEY_SIZE])
{
    lock_take();
    memcpy(device->key, key, sizeof device->key);
    device->has_key = true;
    lock_give();
}

void gba_reconnection_end(gba_device_t *device)
{
    if (device->again.next != NULL)
        device->again.next->ops->close(device->again.next);
    device->again.next = NULL;
}

/* What an attempt needs. */
struct attempt {
    gba_device_t *device;
    struct gba_dev *lost; /* the present connection of the device */
    struct gba_dev_path path;
    uint8_t key[GBA_KEY_SIZE]; /* of the job */
    bool has_key;
};

/* Go on with the attempt. Returns GBA_OK, GBA_INPROGRESS, or an error without an attempt. */
static gba_status_t look(const struct attempt *attempt, uint64_t timeout)
{
    gba_device_t *device = attempt->device;
    struct gba_dev *next = device->again.next;
    const gba_device_attr_t attr = {.job = device->job,
                                    .key_file = device->key_file,
                                    .key = device->again.by_key ? attempt->key : NULL};
    gba_device_info_t info;
    gba_status_t status = next->ops->returns->reopened(next, &attr, timeout, &info);

    if (GBA_OK == status && info.groups != attempt->lost->groups && 0 != attempt->lost->groups)
        status = GBA_ERR_IO;
    if (GBA_OK == status) {
        memcpy(next->uuid, info.uuid, sizeof next->uuid);
        next->groups = info.groups;
    } else if (GBA_INPROGRESS != status) {
        gba_reconnection_end(device);
    }
    return status;
}

/* Begin an attempt. If that fails, an earlier one stays. */
static gba_status_t begin(const struct attempt *attempt)
{
    struct gba_dev *next;
    gba_status_t status = attempt->lost->ops->returns->reopen(attempt->lost, &attempt->path, &next);

    if (GBA_OK != status)
        return status;
    gba_reconnection_end(attempt->device);
    attempt->device->again.next = next;
    return look(attempt, ANSWER);
}

/* Whether another proof may be accepted: this process has no key file, or not that of the switch,
 * or the switch does not have the key of the job yet. */
static bool other_proof(const struct attempt *attempt, gba_status_t status)
{
    if (GBA_ERR_PERM != status || !attempt->has_key)
        return false;
    attempt->device->again.by_key = !attempt->device->again.by_key;
    return true;
}

/* Begin anew, and plan the attempt that follows if this one fails. */
static gba_status_t begin_anew(const struct attempt *attempt)
{
    struct gba_reconnection *again = &attempt->device->again;
    const uint64_t began = gba_clock_ns();
    uint64_t now, pause;
    gba_status_t status = begin(attempt);

    if (other_proof(attempt, status))
        status = begin(attempt);
    now = gba_clock_ns();
    pause = PAUSE_SHARE * (now - began);
    if (again->next != NULL || now - began >= ANSWER) {
        again->pause = 0 == again->pause ? PAUSE_FIRST : 2 * again->pause;
        again->pause = again->pause < PAUSE_MOST ? again->pause : PAUSE_MOST;
        pause = again->pause;
    }
    again->due = now + pause;
    return status;
}

/* Whether the device has another connection now: again.next. */
static bool reconnect(const struct attempt *attempt)
{
    struct gba_reconnection *again = &attempt->device->again;
    gba_status_t status = GBA_ERR_IO;

    if (again->next != NULL && gba_clock_ns() < again->due) {
        status = look(attempt, 0);
        if (GBA_INPROGRESS == status)
            return false;
        (void)other_proof(attempt, status);
        again->pause = again->due = 0; /* the switch does not hang, or is another one */
    }
    if (GBA_OK != status && gba_clock_ns() >= again->due)
        status = begin_anew(attempt);
    if (GBA_OK != status || again->next == NULL)
        return false;
    again->pause = again->due = 0;
    /* The other processes connect with that key in a later agreement. */
    if (!again->by_key && attempt->has_key)
        again->next->ops->returns->key_keep(again->next, attempt->key);
    return true;
}

static bool attempt_make(struct attempt *attempt)
{
    char message[288];

    return GBA_OK ==
               gba_dev_path_parse(attempt->device->path, &attempt->path, message, sizeof message) &&
           reconnect(attempt);
}

/* Take the right to connect the device again, if no other thread has it or has made use of it. */
static bool attempt_take(struct attempt *attempt)
{
    gba_device_t *device = attempt->device;
    bool taken;

    lock_take();
    taken = !device->again.busy && device->dev == attempt->lost;
    device->again.busy |= taken;
    memcpy(attempt->key, device->key, sizeof attempt->key);
    attempt->has_key = device->has_key;
    lock_give();
    return taken;
}

/* Give the right back. made: the device takes the connection again.next. */
static void attempt_give(const struct attempt *attempt, bool made)
{
    gba_device_t *device = attempt->device;

    lock_take();
    if (made) {
        gba_word_store_relaxed(&device->again.next->references, 1);
        device->dev = device->again.next;
        device->again.next = NULL;
    }
    device->again.busy = false;
    lock_give();
    if (made)
        gba_dev_put(attempt->lost);
}

/* Connect the device again, if its connection is lost. */
static void revive(gba_device_t *device)
{
    struct attempt attempt = {.device = device, .lost = gba_dev_hold(device)};
    const struct gba_dev_returns *returns = attempt.lost->ops->returns;
    bool made;

    if (returns != NULL && returns->lost(attempt.lost) && attempt_take(&attempt)) {
        gba_log_muted = true; /* the switch may be away for long */
        made = attempt_make(&attempt);
        gba_log_muted = false;
        attempt_give(&attempt, made);
    }
    explicit_bzero(attempt.key, sizeof attempt.key);
    gba_dev_put(attempt.lost);
}

void gba_device_snapshot(gba_device_t *device, struct gba_device *snapshot)
{
    revive(device);
    *snapshot = (struct gba_device){.dev = gba_dev_hold(device),
                                    .path = device->path,
                                    .members_max = device->members_max,
                                    .kind = device->kind};
}
