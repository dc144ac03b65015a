/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of gba-switchd, against a scripted switch that reads nothing for some time: a full
 * socket, answers that come late, and threads that sleep. The test sets the clock (the linker
 * substitutes clock_gettime), so nothing here depends on speed.
 */
#include <sys/ioctl.h>
#include <time.h>

#include "sim/switch/client/client.h"
#include "tests/suite.h"
#include "tests/unit/switch/switch_members.h"

/* --- The clock --- */

static gba_word_t clock_ahead; /* s, added to the clock */

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    int result = __real_clock_gettime(id, now);

    now->tv_sec += (time_t)gba_word_load_relaxed(&clock_ahead);
    return result;
}

/* --- A switch that reads nothing for some time --- */

static gba_word_t gate; /* 0: closed */

static void gate_pass(void)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (0 == gba_word_load_acquire(&gate))
        nanosleep(&pause, NULL);
}

#define CROWD 20000u /* arrivals, more than a socket holds */

static uint32_t crowd_seen;

static void serve_gate(int file)
{
    struct gba_switch_message message;
    uint32_t expected = 0;

    script_greet(file);
    do
        if (!script_get(file, &message))
            return;
    while (script_answer(file, message));
    gate_pass();
    do {
        if (GBA_SWITCH_ARRIVE == message.type && GBA_ARRIVAL_SEQ(message.value) == ++expected)
            crowd_seen++;
        else if (GBA_SWITCH_ARRIVE != message.type)
            script_answer(file, message);
        if (CROWD == GBA_ARRIVAL_SEQ(message.value))
            script_release(file, 0, CROWD);
    } while (script_get(file, &message));
}

TEST(a_full_socket)
{
    crowd_seen = 0;
    gba_word_store_relaxed(&gate, 0);
    script_start(serve_gate);
    members_make(1);
    for (uint32_t i = 0; i < CROWD; i++) { /* does not block */
        gba_send_arrival(state_of[0]);
        assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    }
    gba_word_store_release(&gate, 1);
    while (GBA_OK != gba_poll_release(state_of[0]))
        ;
    members_end(1);
    assert_int_equal(crowd_seen, CROWD); /* all, and in order */
}

/* One member arrives, and reads the registers, of a switch that reads nothing. */
static void arrive_and_inspect(void)
{
    gba_group_state_t registers;

    gba_word_store_relaxed(&gate, 0);
    script_start(serve_gate);
    members_make(1);
    gba_send_arrival(state_of[0]);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_INPROGRESS);
}

/* A stopped switch: the registers cannot be read, and after GBA_CLIENT_SILENCE it is dead. */
TEST(a_silent_switch)
{
    gba_group_state_t registers;

    arrive_and_inspect();
    gba_word_store_relaxed(&clock_ahead, 5);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_INPROGRESS);
    assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    gba_word_store_relaxed(&clock_ahead, 11);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
    gba_word_store_relaxed(&clock_ahead, 0);
    gba_word_store_release(&gate, 1);
    members_end(1);
}

/* A switch that continues in time. */
TEST(a_stopped_switch)
{
    gba_group_state_t registers;
    gba_status_t status;

    arrive_and_inspect();
    gba_word_store_release(&gate, 1);
    while (GBA_INPROGRESS == (status = gba_group_inspect(group[0], &registers)))
        ;
    assert_int_equal(status, GBA_OK);
    assert_int_equal(registers.members, 1);
    members_end(1);
}

/* The answer has come, but the thread that waits at the connection does not run: this process was
 * stopped for a long time. */
TEST(an_answer_that_waits)
{
    gba_group_state_t registers;
    struct gba_client_membership *membership;
    int expected, come = 0;

    arrive_and_inspect();
    membership = (struct gba_client_membership *)group[0]->membership;
    membership->client->receiving = true;
    expected = (int)(membership->inspection->count * GBA_SWITCH_MESSAGE_BYTES);
    gba_word_store_release(&gate, 1);
    while (come < expected)
        assert_int_equal(ioctl(membership->client->file.socket.number, FIONREAD, &come), 0);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_INPROGRESS);
    gba_word_store_relaxed(&clock_ahead, 11);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_OK);
    assert_int_equal(registers.members, 1);
    gba_word_store_relaxed(&clock_ahead, 0);
    membership->client->receiving = false;
    members_end(1);
}

/* --- Sleeping --- */

#define SLEEP_ROUNDS 200u
#define SLEEPERS     3u

static void serve_all(int file)
{
    struct gba_switch_message message;
    uint32_t arrived = 0, first = 0;

    script_greet(file);
    while (script_get(file, &message)) {
        if (script_answer(file, message) || ++arrived % SLEEPERS != 0)
            continue;
        first++; /* each member is the first one in its turn */
        for (uint32_t i = 0; i < SLEEPERS; i++)
            script_release(file, (first + i) % SLEEPERS, GBA_ARRIVAL_SEQ(message.value));
    }
}

static uint64_t clock_now(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The number of sleeps that only their timeout ended. */
static void *sleeper(void *arg)
{
    const uint32_t member = (uint32_t)(uintptr_t)arg;
    struct gba_membership *membership = group[member]->membership;
    uintptr_t missed = 0;

    for (uint32_t round = 1; round <= SLEEP_ROUNDS; round++) {
        gba_send_arrival(state_of[member]);
        for (;;) {
            uint64_t began = clock_now();

            if (GBA_OK == gba_poll_release(state_of[member]))
                break;
            (void)membership->dev->ops->sleep(membership, round, 500000000);
            missed += clock_now() - began >= 490000000 && round == flag_of(member);
        }
    }
    return (void *)missed;
}

/* Threads that sleep on one connection: each sleeping member gets its release. */
TEST(sleeping_threads)
{
    pthread_t thread[SLEEPERS];
    void *missed;

    script_start(serve_all);
    members_make(SLEEPERS);
    for (uint32_t i = 0; i < SLEEPERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sleeper, (void *)(uintptr_t)i), 0);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        assert_int_equal(pthread_join(thread[i], &missed), 0);
        /* A machine may stall for half a second, but not in every tenth round.
         */
        assert_true((uintptr_t)missed < SLEEP_ROUNDS / 10);
    }
    members_end(SLEEPERS);
}

int main(void)
{
    return SUITE_RUN(setup, script_teardown);
}
