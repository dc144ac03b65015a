/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator without faults: barriers of real processes, the owners of groups, and the
 * registers.
 */
#include "tests/limit.h"
#include "tests/unit/shm/sim_test.h"

/* One member of a barrier test: no member may leave before all have entered. */
static void member_run(const gba_group_handle_t *handle, uint32_t me, gba_word_t *entered,
                       gba_word_t *joined, uint32_t rounds)
{
    struct gba_dev *own = sim_open(&path);
    struct gba_membership *membership;

    CHECK(own != NULL);
    CHECK(0 == memcmp(sim_info(own).uuid, handle->uuid, sizeof handle->uuid));
    membership = sim_join(own, handle, me, 0);
    CHECK(membership != NULL);
    gba_word_add_relaxed(joined, 1);
    while (handle->members != gba_word_load_relaxed(joined))
        sched_yield();
    if (0 == me)
        CHECK(GBA_OK == gba_dev_sim.configure(membership, 0));
    while (0 == (GBA_CONTROL_ARM & sim_segment(own)->model.group[membership->group].core.control))
        sched_yield();
    for (uint32_t round = 1; round <= rounds; round++) {
        /* Relaxed, because the barrier has to order it. */
        gba_word_store_relaxed(&entered[me * 8], round);
        sim_arrive(membership, round);
        sim_wait(membership, round);
        for (uint32_t m = 0; m < handle->members; m++)
            CHECK(gba_word_load_relaxed(&entered[m * 8]) >= round);
    }
    gba_dev_sim.leave(membership);
    gba_dev_sim.close(own);
}

TEST(test_barrier)
{
    for (uint32_t size = 2; size <= 8; size++) {
        gba_word_t *shared = sim_shared(4096);
        gba_group_handle_t handle;
        gba_device_info_t info;
        pid_t child[8];

        sim_begin((struct gba_sim_options){0});
        assert_int_equal(sim_alloc(dev, size, &handle), GBA_OK);
        for (uint32_t m = 0; m < size; m++) {
            child[m] = sim_fork();
            if (0 == child[m]) {
                member_run(&handle, m, shared + 8, shared, 2000);
                _exit(0);
            }
        }
        for (uint32_t m = 0; m < size; m++)
            assert_true(sim_child_ok(child[m]));
        info = sim_info(dev);
        assert_int_equal(info.counters[GBA_COUNTER_ROUNDS], 2000);
        assert_int_equal(info.counters[GBA_COUNTER_RELEASES], 2000 * size);
        assert_int_equal(info.counters[GBA_COUNTER_REPEATS], 0);
        munmap(shared, 4096);
        sim_end();
    }
}

/* Groups of dead processes are free for every query, and the next allocation takes them. */
TEST(test_reap)
{
    for (int query = 0; query < 2; query++) {
        gba_group_handle_t handle;
        pid_t child;

        sim_begin((struct gba_sim_options){0});
        child = sim_fork();
        if (0 == child) {
            struct gba_dev *own = sim_open(&path);

            CHECK(own != NULL);
            for (uint32_t i = 0; i < GBA_GROUPS; i++) {
                CHECK(GBA_OK == sim_alloc(own, 2, &handle));
                CHECK(0 == i % 2 || sim_join(own, &handle, 0, 0) != NULL);
            }
            raise(SIGKILL);
        }
        /* The process is dead, but its parent has not waited for it: it counts as dead. */
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(info.si_status, SIGKILL);
        if (query)
            assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
        assert_int_equal(sim_alloc(dev, 2, &handle), GBA_OK);
        gba_dev_sim.cancel(dev, &handle);
        waitpid(child, NULL, 0);
        sim_end();
    }
}

static uint64_t reg_read(uint32_t address, unsigned int width)
{
    uint64_t value = 0;

    assert_int_equal(gba_dev_sim.reg_read(dev, address, width, &value), GBA_OK);
    return value;
}

SIM_TEST(test_registers)
{
    uint32_t group;

    sim_group(2, 7);
    group = member[0]->group;
    /* Arrivals by register writes release, too: by the doorbell and by the group's page. */
    gba_dev_sim.reg_write(dev, GBA_DOORBELL(group), 8, GBA_ARRIVAL(8, member[0]->generation, 0));
    gba_dev_sim.reg_write(dev, GBA_GROUP_REG(group, GBA_REG_ARRIVAL), 8,
                          GBA_ARRIVAL(8, member[0]->generation, 1));
    assert_true(sim_released(member[0], 8) && sim_released(member[1], 8));
    /* Only the control unit configures a group, and its mailbox belongs to the driver. */
    gba_dev_sim.reg_write(dev, GBA_GROUP_REG(group, GBA_REG_CONTROL), 4, 0);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ERR_CONFIG], 1);
    assert_int_not_equal(reg_read(GBA_TABLE_ENTRY(group, 0), 8), 0);
    assert_int_equal(reg_read(GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4), GBA_GROUPS - 1);
    assert_int_equal(sim_info(dev).bad_access, 0);
    gba_dev_sim.reg_write(dev, GBA_PORT_REG(GBA_PORT_COMMAND), 4, GBA_CMD_FREE);
    assert_true(reg_read(GBA_PORT_REG(GBA_PORT_RESULT), 4) == UINT32_MAX);
    assert_int_equal(sim_info(dev).bad_access, 2);
    sim_round(9);
}

/* Whether the bytes are equal to those of the earlier copy. */
static bool is_same(const unsigned char *before, const struct gba_sim_segment *segment,
                    size_t offset, size_t size)
{
    return 0 == memcmp(before + offset, (const unsigned char *)segment + offset, size);
}

/* A release address that is not the address of a flag: no store is made there. */
SIM_TEST(test_bad_address)
{
    static const uint64_t bad[] = {8,
                                   offsetof(struct gba_sim_segment, model),
                                   1ull << 40,
                                   offsetof(struct gba_sim_segment, slot) - 128,
                                   offsetof(struct gba_sim_segment, slot) + 8,
                                   offsetof(struct gba_sim_segment, slot[1]) + 64,
                                   sizeof(struct gba_sim_segment),
                                   UINT64_MAX - 7};
    const size_t compared = offsetof(struct gba_sim_segment, slot[2]); /* all are too many */
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *membership = NULL;
    unsigned char *before = malloc(compared);
    gba_group_handle_t handle;

    assert_non_null(before);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(gba_sim_slot_at(segment, bad[i]));
        assert_int_equal(sim_alloc(dev, 1, &handle), GBA_OK);
        assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
        gba_dev_sim.reg_write(dev, GBA_TABLE_ENTRY(0, 0), 8, bad[i]);
        assert_int_equal(gba_dev_sim.configure(membership, 0), GBA_OK);
        memcpy(before, segment, compared);
        gba_dev_sim.reg_write(dev, GBA_DOORBELL(0), 8, GBA_ARRIVAL(1, membership->generation, 0));
        assert_int_equal(segment->model.group[0].core.sequence, 1);
        assert_true(is_same(before, segment, 0, sizeof segment->header));
        assert_true(is_same(before, segment, offsetof(struct gba_sim_segment, group[1]),
                            sizeof segment->group[1]));
        assert_true(is_same(before, segment, offsetof(struct gba_sim_segment, slot),
                            2 * sizeof segment->slot[0]));
        gba_dev_sim.leave(membership);
    }
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++)
            assert_ptr_equal(gba_sim_slot_at(segment, gba_sim_slot_address(group, m)),
                             &segment->slot[group][m]);
    free(before);
}

/* The same with threads instead of processes, because ThreadSanitizer observes only threads. The
 * barrier alone orders what is not atomic here. */
enum { THREADS = 3, THREAD_ROUNDS = 2000 };

struct thread {
    struct gba_membership *membership;
    uint32_t *entered; /* of all members */
    bool ok;
};

static void *thread_run(void *arg)
{
    struct thread *thread = arg;
    uint32_t me = thread->membership->member;

    thread->ok = true;
    for (uint32_t round = 1; round <= THREAD_ROUNDS; round++) {
        bool odd = 1 == round % 2;

        if (odd)
            thread->entered[me] = round;
        sim_arrive(thread->membership, round);
        sim_wait(thread->membership, round);
        /* No thread writes again before all have arrived at the even round that follows. */
        for (uint32_t m = 0; odd && m < THREADS; m++)
            thread->ok = thread->ok && round == thread->entered[m];
    }
    return NULL;
}

TEST(test_threads)
{
    static const struct gba_sim_options options[] = {{.latency = 0},
                                                     {.latency = 1000, .jitter = 1000}};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct thread thread[THREADS];
        uint32_t entered[THREADS] = {0};
        pthread_t id[THREADS];

        sim_begin(options[i]);
        sim_group(THREADS, 0);
        for (int t = 0; t < THREADS; t++) {
            thread[t] = (struct thread){.membership = member[t], .entered = entered};
            assert_int_equal(pthread_create(&id[t], NULL, thread_run, &thread[t]), 0);
        }
        /* Meanwhile: reading the device and other groups disturbs no barrier. */
        for (int n = 0; n < 100; n++) {
            gba_group_handle_t handle;

            assert_int_equal(sim_alloc(dev, 1, &handle), GBA_OK);
            assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 2);
            gba_dev_sim.cancel(dev, &handle);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_join(id[t], NULL), 0);
            assert_true(thread[t].ok);
        }
        sim_end();
    }
}

/* A program that closes all descriptors, and then opens a file of its own: the library neither
 * writes to that file nor closes it. */
TEST(test_replaced_descriptor)
{
    struct gba_membership *membership = NULL;
    FILE *own = tmpfile();
    gba_group_handle_t handle;
    struct stat status;
    int number;

    sim_begin((struct gba_sim_options){0});
    assert_non_null(own);
    assert_int_equal(fputs("sixsix", own), 1);
    assert_int_equal(fflush(own), 0);
    number = ((struct gba_sim_dev *)dev)->file.number;
    assert_int_equal(sim_alloc(dev, 1, &handle), GBA_OK);
    assert_int_equal(dup2(fileno(own), number), number);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
    assert_int_equal(gba_dev_sim.map_flag(membership), GBA_OK);
    gba_dev_sim.leave(membership);
    gba_dev_sim.close(dev);
    assert_int_equal(fstat(number, &status), 0);
    assert_int_equal(status.st_size, 6);
    close(number);
    fclose(own);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
