/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator without faults: which processes share one, barriers of real processes through it,
 * who holds what, and that nothing stays behind.
 */
#define _GNU_SOURCE
#include "tests/unit/sim_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void test_one_process(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_seat *seat[3];
    gba_group_state_t group;
    gba_device_info_t info;

    (void)state;
    assert_non_null(dev);
    info = sim_info(dev);
    assert_string_equal(info.backend, "sim");
    assert_int_equal(info.groups, GBA_GROUPS);
    assert_int_equal(info.groups_free, GBA_GROUPS);
    assert_int_equal(info.members_max, GBA_MEMBERS_MAX);
    sim_group(dev, 3, UINT32_MAX - 1, seat);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    /* Three rounds, over the wrap of the sequence. */
    for (uint32_t i = 0, sequence = UINT32_MAX; i < 3; i++, sequence++) {
        sim_arrive(seat[0], sequence);
        sim_arrive(seat[1], sequence);
        assert_false(sim_released(seat[0], sequence));
        assert_int_equal(gba_dev_sim.inspect(seat[0], &group), GBA_OK);
        assert_int_equal(group.arrived_count, 2);
        assert_int_equal(group.arrived_mask[0], 3);
        assert_int_equal(group.sequence, sequence - 1);
        assert_true(0 != (group.status & GBA_STATUS_READY));
        assert_true(0 != (group.status & GBA_STATUS_ACTIVE));
        sim_arrive(seat[2], sequence);
        for (int m = 0; m < 3; m++)
            assert_true(sim_released(seat[m], sequence));
    }
    info = sim_info(dev);
    assert_int_equal(info.counters[GBA_COUNTER_ARRIVALS], 9);
    assert_int_equal(info.counters[GBA_COUNTER_RELEASES], 9);
    assert_int_equal(info.counters[GBA_COUNTER_ROUNDS], 3);
    sim_leave(seat, 3);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* What the driver refuses, and that all groups can be had, by their members' number, and again. */
static void test_groups(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    gba_ticket_t ticket[GBA_GROUPS], old, wrong;
    gba_group_state_t group;
    struct gba_seat *seat, *other;

    (void)state;
    assert_non_null(dev);
    for (uint32_t i = 0; i < GBA_GROUPS; i++)
        assert_int_equal(gba_dev_sim.alloc(dev, GBA_MEMBERS_MAX, &ticket[i]), GBA_OK);
    assert_int_equal(gba_dev_sim.alloc(dev, 1, &wrong), GBA_ERR_NO_GROUP);
    old = ticket[5];
    gba_dev_sim.cancel(dev, &old);
    assert_int_equal(gba_dev_sim.alloc(dev, 2, &ticket[5]), GBA_OK);
    assert_int_equal(ticket[5].group, old.group);
    assert_int_not_equal(ticket[5].generation, old.generation);
    assert_int_equal(gba_dev_sim.join(dev, &old, 0, &seat), GBA_ERR_STALE);
    wrong = ticket[5];
    wrong.key++;
    assert_int_equal(gba_dev_sim.join(dev, &wrong, 0, &seat), GBA_ERR_STALE);
    assert_int_equal(gba_dev_sim.join(dev, &ticket[5], 2, &seat), GBA_ERR_PARAM);
    assert_int_equal(gba_dev_sim.join(dev, &ticket[5], GBA_MEMBERS_MAX, &seat), GBA_ERR_PARAM);
    assert_int_equal(gba_dev_sim.join(dev, &ticket[5], 0, &seat), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &ticket[5], 0, &other), GBA_ERR_BUSY);
    assert_int_equal(gba_dev_sim.map_flag(seat), GBA_OK);
    assert_int_equal(gba_dev_sim.map_flag(seat), GBA_ERR_BUSY);
    assert_int_equal(gba_dev_sim.configure(seat, 0), GBA_ERR_BUSY);
    gba_dev_sim.cancel(dev, &ticket[5]); /* no longer the allocator's */
    assert_int_equal(gba_dev_sim.inspect(seat, &group), GBA_OK);
    assert_int_equal(group.members, 2);
    gba_dev_sim.leave(seat);
    for (uint32_t i = 0; i < GBA_GROUPS; i++)
        gba_dev_sim.cancel(dev, &ticket[i]);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* What one member of a barrier test does: nobody may leave before all have entered. */
static void member_run(const struct gba_dev_path *path, const gba_ticket_t *ticket, uint32_t member,
                       gba_word_t *entered, gba_word_t *joined, uint32_t rounds)
{
    struct gba_dev *dev = sim_open(path);
    struct gba_seat *seat;

    CHECK(NULL != dev);
    CHECK(0 == memcmp(sim_info(dev).uuid, ticket->uuid, sizeof ticket->uuid));
    seat = sim_join(dev, ticket, member, 0);
    CHECK(NULL != seat);
    gba_word_add_relaxed(joined, 1);
    while (ticket->members != gba_word_load_relaxed(joined))
        sched_yield();
    if (0 == member)
        CHECK(GBA_OK == gba_dev_sim.configure(seat, 0));
    while (0 == (GBA_CONTROL_ARM & sim_segment(dev)->model.group[seat->group].core.control))
        sched_yield();
    for (uint32_t round = 1; round <= rounds; round++) {
        /* Relaxed on purpose: the barrier has to order it. */
        gba_word_store_relaxed(&entered[member * 8], round);
        sim_arrive(seat, round);
        sim_wait(seat, round);
        for (uint32_t m = 0; m < ticket->members; m++)
            CHECK(gba_word_load_relaxed(&entered[m * 8]) >= round);
    }
    gba_dev_sim.leave(seat);
    gba_dev_sim.close(dev);
}

static void test_barrier(void **state)
{
    (void)state;
    for (uint32_t members = 2; members <= 8; members++) {
        struct gba_dev_path path = sim_path();
        struct gba_dev *dev = sim_open(&path);
        gba_word_t *shared = sim_shared(4096);
        gba_ticket_t ticket;
        gba_device_info_t info;
        pid_t child[8];

        assert_non_null(dev);
        assert_int_equal(gba_dev_sim.alloc(dev, members, &ticket), GBA_OK);
        for (uint32_t m = 0; m < members; m++) {
            child[m] = sim_fork();
            if (0 == child[m]) {
                member_run(&path, &ticket, m, shared + 8, shared, 2000);
                _exit(0);
            }
        }
        for (uint32_t m = 0; m < members; m++)
            assert_true(sim_child_ok(child[m]));
        info = sim_info(dev);
        assert_int_equal(info.counters[GBA_COUNTER_ROUNDS], 2000);
        assert_int_equal(info.counters[GBA_COUNTER_RELEASES], 2000 * members);
        assert_int_equal(info.counters[GBA_COUNTER_REPEATS], 0);
        assert_int_equal(info.groups_free, GBA_GROUPS);
        munmap(shared, 4096);
        gba_dev_sim.close(dev);
    }
}

/* Many that open a simulator which nobody has made yet: they all get the same. */
static void test_open_at_once(void **state)
{
    enum { OPENERS = 12 };
    struct opened {
        gba_word_t go, ready;
        uint8_t uuid[OPENERS][GBA_UUID_SIZE];
    } *shared = sim_shared(sizeof *shared);

    (void)state;
    for (int round = 0; round < 10; round++) {
        struct gba_dev_path path = sim_path();
        pid_t child[OPENERS];

        memset(shared, 0, sizeof *shared);
        for (int i = 0; i < OPENERS; i++) {
            child[i] = sim_fork();
            if (0 != child[i])
                continue;
            while (0 == gba_word_load_relaxed(&shared->go))
                sched_yield();
            struct gba_dev *dev = sim_open(&path);

            CHECK(NULL != dev);
            memcpy(shared->uuid[i], sim_info(dev).uuid, GBA_UUID_SIZE);
            gba_word_add_relaxed(&shared->ready, 1);
            while (OPENERS != gba_word_load_relaxed(&shared->ready))
                sched_yield(); /* so that it lives until the last one has found it */
            _exit(0);
        }
        gba_word_store_relaxed(&shared->go, 1);
        for (int i = 0; i < OPENERS; i++)
            assert_true(sim_child_ok(child[i]));
        for (int i = 1; i < OPENERS; i++)
            assert_memory_equal(shared->uuid[0], shared->uuid[i], GBA_UUID_SIZE);
    }
    munmap(shared, sizeof *shared);
}

static void uuid_get(const struct gba_dev_path *path, const char *job, uint8_t uuid[GBA_UUID_SIZE],
                     struct gba_dev **dev)
{
    const gba_device_attr_t attr = {.job = job};

    assert_int_equal(gba_dev_sim.open(path, &attr, dev), GBA_OK);
    memcpy(uuid, sim_info(*dev).uuid, GBA_UUID_SIZE);
}

/* Who shares: the same job or the same name, and nobody else. */
static void test_sharing(void **state)
{
    struct gba_dev_path job = {.kind = GBA_DEV_SIM}, name = sim_path();
    char longer[512], longer2[512];
    uint8_t uuid[8][GBA_UUID_SIZE];
    struct gba_dev *dev[8];

    (void)state;
    memset(longer, '/', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer2, longer, sizeof longer2);
    longer2[sizeof longer2 - 2] = '\n';
    uuid_get(&job, longer, uuid[0], &dev[0]);
    uuid_get(&job, longer, uuid[1], &dev[1]);
    uuid_get(&job, longer2, uuid[2], &dev[2]);
    uuid_get(&job, NULL, uuid[3], &dev[3]);
    uuid_get(&job, NULL, uuid[4], &dev[4]);
    uuid_get(&name, longer, uuid[5], &dev[5]);
    uuid_get(&name, NULL, uuid[6], &dev[6]);
    uuid_get(&job, name.name, uuid[7], &dev[7]);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++) {
            bool same = (0 == j && 1 == i) || (5 == j && 6 == i);

            assert_int_equal(0 == memcmp(uuid[i], uuid[j], GBA_UUID_SIZE), same);
        }
    }
    for (int i = 0; i < 8; i++)
        gba_dev_sim.close(dev[i]);
}

static gba_status_t take_none(void *ctx, int file)
{
    (void)file;
    ++*(int *)ctx;
    return GBA_INPROGRESS;
}

static int files_of(const struct gba_dev_path *path)
{
    char id[GBA_SIM_ID_MAX];
    int found = 0;

    assert_int_equal(gba_sim_id(id, path->name, NULL), GBA_OK);
    assert_int_equal(gba_sim_find(id, take_none, &found), GBA_INPROGRESS);
    return found;
}

/* All processes killed at once: no memfd, no file, and the next one gets another device. */
static void test_nothing_left(void **state)
{
    struct gba_dev_path path = sim_path();
    uint8_t *shared = sim_shared(4096), uuid[GBA_UUID_SIZE];
    gba_word_t *ready = (gba_word_t *)shared;
    struct gba_dev *dev;
    struct dirent *entry;
    pid_t child[4];
    DIR *shm;

    (void)state;
    for (int i = 0; i < 4; i++) {
        child[i] = sim_fork();
        if (0 != child[i])
            continue;
        dev = sim_open(&path);
        CHECK(NULL != dev);
        memcpy(shared + 64, sim_info(dev).uuid, GBA_UUID_SIZE);
        gba_word_add_relaxed(ready, 1);
        for (;;)
            pause();
    }
    while (4 != gba_word_load_relaxed(ready))
        sched_yield();
    assert_int_equal(files_of(&path), 4);
    for (int i = 0; i < 4; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < 4; i++)
        waitpid(child[i], NULL, 0);
    assert_int_equal(files_of(&path), 0);
    shm = opendir("/dev/shm");
    while (NULL != shm && NULL != (entry = readdir(shm)))
        assert_null(strstr(entry->d_name, path.name));
    if (NULL != shm)
        closedir(shm);
    uuid_get(&path, NULL, uuid, &dev);
    assert_memory_not_equal(uuid, shared + 64, GBA_UUID_SIZE);
    gba_dev_sim.close(dev);
    assert_int_equal(files_of(&path), 0);
    munmap(shared, 4096);
}

/* The right to make a simulator is one process's, and free as soon as that one is dead. */
static void test_maker_lock(void **state)
{
    char id[GBA_SIM_ID_MAX];
    gba_word_t *ready = sim_shared(4096);
    struct gba_dev_path path = sim_path();
    pid_t child;
    int lock;

    (void)state;
    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    child = sim_fork();
    if (0 == child) {
        CHECK(gba_sim_maker_lock(id) >= 0);
        gba_word_store_release(ready, 1);
        for (;;)
            pause();
    }
    while (0 == gba_word_load_acquire(ready))
        sched_yield();
    assert_int_equal(gba_sim_maker_lock(id), -1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    lock = gba_sim_maker_lock(id);
    assert_true(lock >= 0);
    close(lock);
    munmap(ready, 4096);
}

/* Files with the right name that are not to be trusted are passed over, or refused. */
static void test_foreign_file(void **state)
{
    static const struct {
        mode_t mode;
        int seals;
        gba_status_t status; /* of an open while such a file exists */
    } files[] = {
        {0600, 0, GBA_OK},
        {0666, F_SEAL_SHRINK | F_SEAL_GROW, GBA_OK},
        {0600, F_SEAL_SHRINK | F_SEAL_GROW, GBA_ERR_VERSION},
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct gba_dev_path path = sim_path();
        struct gba_sim_header header = {.layout = GBA_SIM_LAYOUT + 1,
                                        .size = sizeof(struct gba_sim_segment)};
        char id[GBA_SIM_ID_MAX], name[GBA_SIM_ID_MAX + 16];
        struct gba_dev *dev;
        int file;

        gba_word_store_relaxed(&header.magic, GBA_SIM_MAGIC);
        assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
        snprintf(name, sizeof name, GBA_SIM_FILE_NAME, id);
        file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_true(file >= 0);
        assert_int_equal(fchmod(file, files[i].mode), 0);
        assert_int_equal(write(file, &header, sizeof header), sizeof header);
        assert_int_equal(ftruncate(file, sizeof(struct gba_sim_segment)), 0);
        assert_int_equal(fcntl(file, F_ADD_SEALS, files[i].seals), 0);
        assert_int_equal(gba_dev_sim.open(&path, NULL, &dev), files[i].status);
        if (GBA_OK == files[i].status)
            gba_dev_sim.close(dev);
        close(file);
    }
}

/* What dead processes held is seen as free by whoever looks, and taken by whoever needs it. */
static void test_reap(void **state)
{
    (void)state;
    for (int query = 0; query < 2; query++) {
        struct gba_dev_path path = sim_path();
        struct gba_dev *dev = sim_open(&path);
        gba_ticket_t ticket;
        pid_t child = sim_fork();

        if (0 == child) {
            struct gba_dev *own = sim_open(&path);

            CHECK(NULL != own);
            for (uint32_t i = 0; i < GBA_GROUPS; i++) {
                CHECK(GBA_OK == gba_dev_sim.alloc(own, 2, &ticket));
                CHECK(0 == i % 2 || NULL != sim_join(own, &ticket, 0, 0));
            }
            raise(SIGKILL);
        }
        assert_non_null(dev);
        /* Dead, but its parent has not waited for it yet: that counts as well. */
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(info.si_status, SIGKILL);
        if (query)
            assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
        assert_int_equal(gba_dev_sim.alloc(dev, 2, &ticket), GBA_OK);
        gba_dev_sim.cancel(dev, &ticket);
        waitpid(child, NULL, 0);
        gba_dev_sim.close(dev);
    }
}

/* A child of fork is somebody else: it can use the device, but cannot leave for its parent. */
static void test_fork(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_seat *seat[2];
    pid_t child;

    (void)state;
    assert_non_null(dev);
    sim_group(dev, 2, 0, seat);
    child = sim_fork();
    if (0 == child) {
        gba_ticket_t ticket;

        sim_leave(seat, 2);
        CHECK(GBA_GROUPS - 1 == sim_info(dev).groups_free);
        CHECK(GBA_OK == gba_dev_sim.alloc(dev, 2, &ticket));
        CHECK(NULL != sim_join(dev, &ticket, 0, 0));
        _exit(0); /* without leaving */
    }
    assert_true(sim_child_ok(child));
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    sim_arrive(seat[0], 1);
    sim_arrive(seat[1], 1);
    assert_true(sim_released(seat[0], 1));
    sim_leave(seat, 2);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

static uint64_t reg_read(struct gba_dev *dev, uint32_t address, unsigned int width)
{
    uint64_t value = 0;

    assert_int_equal(gba_dev_sim.reg_read(dev, address, width, &value), GBA_OK);
    return value;
}

static void test_registers(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_seat *seat[2];
    uint32_t group;

    (void)state;
    assert_non_null(dev);
    sim_group(dev, 2, 7, seat);
    group = seat[0]->group;
    assert_int_equal(reg_read(dev, GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    assert_int_equal(reg_read(dev, GBA_GROUP_REG(group, GBA_REG_SEQUENCE), 4), 7);
    /* Arrivals by register writes release, too: by the doorbell and by the group's page. */
    gba_dev_sim.reg_write(dev, GBA_DOORBELL(group), 8, GBA_ARRIVAL(8, 0));
    gba_dev_sim.reg_write(dev, GBA_GROUP_REG(group, GBA_REG_ARRIVAL), 8, GBA_ARRIVAL(8, 1));
    assert_true(sim_released(seat[0], 8) && sim_released(seat[1], 8));
    /* Refused: no such register; a width that the register does not take. */
    assert_int_equal(reg_read(dev, GBA_DEVICE_BASE + 0x100, 8), GBA_READ_NONE);
    assert_int_equal(sim_info(dev).bad_access, 1);
    assert_int_equal(reg_read(dev, GBA_GROUP_REG(group, GBA_REG_STATUS), 8), GBA_READ_NONE);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ERR_ACCESS], 1);
    gba_dev_sim.reg_write(dev, GBA_GROUP_REG(group, GBA_REG_CONTROL), 4, GBA_CONTROL_RESET);
    assert_int_equal(reg_read(dev, GBA_TABLE_ENTRY(group, 0), 8), 0);
    sim_leave(seat, 2);
    gba_dev_sim.close(dev);
}

/* A release address that is no flag's: nothing is stored there. */
static void test_bad_address(void **state)
{
    static const uint64_t bad[] = {8,
                                   offsetof(struct gba_sim_segment, model),
                                   1ull << 40,
                                   offsetof(struct gba_sim_segment, slot) - 128,
                                   offsetof(struct gba_sim_segment, slot) + 8,
                                   sizeof(struct gba_sim_segment),
                                   UINT64_MAX - 7};
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_sim_segment *segment, *before;

    (void)state;
    assert_non_null(dev);
    before = aligned_alloc(_Alignof(struct gba_sim_segment), sizeof *before);
    assert_non_null(before);
    segment = sim_segment(dev);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(gba_sim_slot_at(segment, bad[i]));
        gba_dev_sim.reg_write(dev, GBA_GROUP_REG(0, GBA_REG_CONTROL), 4, GBA_CONTROL_RESET);
        gba_dev_sim.reg_write(dev, GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT), 4, 1);
        gba_dev_sim.reg_write(dev, GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK), 8, 1);
        gba_dev_sim.reg_write(dev, GBA_TABLE_ENTRY(0, 0), 8, bad[i]);
        gba_dev_sim.reg_write(dev, GBA_GROUP_REG(0, GBA_REG_CONTROL), 4,
                              GBA_CONTROL_ENABLE | GBA_CONTROL_ARM);
        memcpy(before, segment, sizeof *before);
        gba_dev_sim.reg_write(dev, GBA_DOORBELL(0), 8, GBA_ARRIVAL(1, 0));
        assert_int_equal(segment->model.group[0].core.sequence, 1);
        assert_memory_equal(&before->header, &segment->header, sizeof before->header);
        assert_memory_equal(&before->group[1], &segment->group[1], sizeof before->group[1]);
        assert_memory_equal(before->slot, segment->slot, sizeof before->slot);
    }
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
            assert_ptr_equal(gba_sim_slot_at(segment, gba_sim_slot_address(group, member)),
                             &segment->slot[group][member]);
    free(before);
    gba_dev_sim.close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_process), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_barrier),     cmocka_unit_test(test_open_at_once),
        cmocka_unit_test(test_sharing),     cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_maker_lock),  cmocka_unit_test(test_foreign_file),
        cmocka_unit_test(test_reap),        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_registers),   cmocka_unit_test(test_bad_address),
    };

    alarm(SIM_TEST_TIMEOUT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
