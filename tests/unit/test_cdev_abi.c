/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of gba_ioctl.h for the arguments of each call: one field is invalid, and all others are
 * valid. The calls go to the fake driver, so these tests show that it refuses the same arguments as
 * the Linux driver. The other tests then show that the library makes no such call.
 */
#include "tests/unit/cdev_test.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE_MAX_CALL 4096u

/* The arguments of a call, with room behind them. */
union arguments {
    uint32_t size;
    struct {
        uint32_t size, flags;
    } head;
    struct gba_ioc_query query;
    struct gba_ioc_alloc alloc;
    struct gba_ioc_free cancel;
    struct gba_ioc_join join;
    struct gba_ioc_configure configure;
    struct gba_ioc_leave leave;
    struct gba_ioc_inspect inspect;
    struct gba_ioc_wait wait;
    struct gba_ioc_owner owner;
    unsigned char bytes[SIZE_MAX_CALL + 8];
};

static int call(int file, unsigned long request, void *argument)
{
    return gba_cdev_try(file, request, argument);
}

static struct gba_ioc_alloc group_alloc(int file, uint32_t members)
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = members};

    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    return alloc;
}

static struct gba_ioc_join join_of(const struct gba_ioc_alloc *alloc, uint32_t member)
{
    return (struct gba_ioc_join){.size = sizeof(struct gba_ioc_join),
                                 .group = alloc->group,
                                 .generation = alloc->generation,
                                 .key = alloc->key,
                                 .member = member};
}

/* Join a new group of two, with that many members. */
static struct gba_ioc_alloc group_joined(int file, uint32_t members)
{
    struct gba_ioc_alloc alloc = group_alloc(file, 2);

    for (uint32_t member = 0; member < members; member++) {
        struct gba_ioc_join join = join_of(&alloc, member);

        assert_int_equal(call(file, GBA_IOC_JOIN, &join), 0);
    }
    return alloc;
}

/* Valid arguments for a call of this file, and the state that it needs. */
static void prepare(int file, unsigned long request, union arguments *a)
{
    struct gba_ioc_alloc group;

    memset(a, 0, sizeof *a);
    switch (request) {
    case GBA_IOC_QUERY:
        a->query.size = sizeof a->query;
        break;
    case GBA_IOC_ALLOC:
        a->alloc.size = sizeof a->alloc;
        a->alloc.members = 2;
        break;
    case GBA_IOC_FREE:
        group = group_alloc(file, 2);
        a->cancel = (struct gba_ioc_free){
            .size = sizeof a->cancel, .group = group.group, .generation = group.generation};
        break;
    case GBA_IOC_JOIN:
        group = group_joined(file, 1);
        a->join = join_of(&group, 1);
        break;
    case GBA_IOC_CONFIGURE:
        group = group_joined(file, 2);
        a->configure = (struct gba_ioc_configure){
            .size = sizeof a->configure, .group = group.group, .generation = group.generation};
        break;
    case GBA_IOC_LEAVE:
        group = group_joined(file, 1);
        a->leave = (struct gba_ioc_leave){
            .size = sizeof a->leave, .group = group.group, .generation = group.generation};
        break;
    case GBA_IOC_INSPECT:
        group = group_joined(file, 1);
        a->inspect = (struct gba_ioc_inspect){
            .size = sizeof a->inspect, .group = group.group, .generation = group.generation};
        break;
    case GBA_IOC_OWNER:
        group = group_alloc(file, 2);
        a->owner = (struct gba_ioc_owner){.size = sizeof a->owner, .group = group.group};
        break;
    default:
        group = group_joined(file, 1);
        a->wait = (struct gba_ioc_wait){
            .size = sizeof a->wait, .group = group.group, .generation = group.generation};
        a->wait.timeout = 1000; /* not slept: the round is complete */
    }
}

/* Make the call with one field changed by `with`, and then as it was. */
struct negative {
    unsigned long request;
    const char *field;
    size_t offset, width;
    uint64_t with; /* by exclusive or */
    int error;
};

#define WRONG(call, type, name, change, error)                                  \
    {                                                                           \
        GBA_IOC_##call, #name, offsetof(struct gba_ioc_##type, name),           \
            sizeof((struct gba_ioc_##type *)0)->name, (uint64_t)(change), error \
    }

/* The size is that of the structure; so these changes give one byte less, 0, and too much. */
#define WRONG_SIZE(call, type)                                                                   \
    WRONG(call, type, size, sizeof(struct gba_ioc_##type) ^ (sizeof(struct gba_ioc_##type) - 1), \
          EINVAL),                                                                               \
        WRONG(call, type, size, sizeof(struct gba_ioc_##type), EINVAL),                          \
        WRONG(call, type, size, sizeof(struct gba_ioc_##type) ^ (SIZE_MAX_CALL + 1), E2BIG),     \
        WRONG(call, type, size, UINT32_MAX, E2BIG), WRONG(call, type, flags, 1u << 31, EINVAL),  \
        WRONG(call, type, flags, 1u << 1, EINVAL)

static const struct negative negatives[] = {
    WRONG_SIZE(QUERY, query),
    WRONG_SIZE(ALLOC, alloc),
    WRONG(ALLOC, alloc, members, 2, EINVAL),                         /* 0 */
    WRONG(ALLOC, alloc, members, 2 ^ (GBA_MEMBERS_MAX + 1), EINVAL), /* 709 */
    WRONG(ALLOC, alloc, members, UINT32_MAX, EINVAL),
    WRONG(ALLOC, alloc, reserved, 1, EINVAL),
    WRONG_SIZE(FREE, free),
    WRONG(FREE, free, group, 1, ESTALE),
    WRONG(FREE, free, group, GBA_GROUPS, ESTALE),
    WRONG(FREE, free, group, 1u << 31, ESTALE),
    WRONG(FREE, free, generation, 2, ESTALE),
    WRONG_SIZE(JOIN, join),
    WRONG(JOIN, join, group, 1, ESTALE),
    WRONG(JOIN, join, group, GBA_GROUPS, ESTALE),
    WRONG(JOIN, join, group, 1u << 31, ESTALE),
    WRONG(JOIN, join, generation, 2, ESTALE),
    WRONG(JOIN, join, key, 1, ESTALE),
    WRONG(JOIN, join, key, 1ull << 63, ESTALE),
    WRONG(JOIN, join, member, 1, EBUSY),      /* 0 has joined */
    WRONG(JOIN, join, member, 1 ^ 2, EINVAL), /* 2 */
    WRONG(JOIN, join, member, 1u << 31, EINVAL),
    WRONG(JOIN, join, reserved, 1, EINVAL),
    WRONG_SIZE(CONFIGURE, configure),
    WRONG(CONFIGURE, configure, group, 1, ESTALE),
    WRONG(CONFIGURE, configure, group, GBA_GROUPS, ESTALE),
    WRONG(CONFIGURE, configure, generation, 2, ESTALE),
    WRONG(CONFIGURE, configure, reserved, 1, EINVAL),
    WRONG_SIZE(LEAVE, leave),
    WRONG(LEAVE, leave, group, 1, ESTALE),
    WRONG(LEAVE, leave, group, GBA_GROUPS, ESTALE),
    WRONG(LEAVE, leave, generation, 2, ESTALE),
    WRONG(LEAVE, leave, member, 1, ESTALE), /* has not joined */
    WRONG(LEAVE, leave, member, GBA_MEMBER_NONE, ESTALE),
    WRONG(LEAVE, leave, reserved, 1, EINVAL),
    WRONG_SIZE(INSPECT, inspect),
    WRONG(INSPECT, inspect, group, 1, ESTALE),
    WRONG(INSPECT, inspect, group, GBA_GROUPS, ESTALE),
    WRONG(INSPECT, inspect, generation, 2, ESTALE),
    WRONG(INSPECT, inspect, reserved, 1, EINVAL),
    WRONG_SIZE(WAIT, wait),
    WRONG(WAIT, wait, group, 1, ESTALE),
    WRONG(WAIT, wait, group, GBA_GROUPS, ESTALE),
    WRONG(WAIT, wait, generation, 2, ESTALE),
    WRONG(WAIT, wait, member, 1, ESTALE),
    WRONG(WAIT, wait, member, GBA_MEMBER_NONE, ESTALE),
    WRONG(WAIT, wait, sequence, 2, EINVAL), /* the flag is 0 */
    WRONG(WAIT, wait, sequence, 1u << 30, EINVAL),
    WRONG_SIZE(OWNER, owner),
    WRONG(OWNER, owner, group, 1, ENOENT), /* free */
    WRONG(OWNER, owner, group, GBA_GROUPS, EINVAL),
    WRONG(OWNER, owner, group, 1u << 31, EINVAL),
};

/* Exclusive or of a field of 4 or 8 bytes. */
static void change(union arguments *a, const struct negative *n)
{
    uint32_t small;
    uint64_t large;

    if (sizeof small == n->width) {
        memcpy(&small, a->bytes + n->offset, sizeof small);
        small ^= (uint32_t)n->with;
        memcpy(a->bytes + n->offset, &small, sizeof small);
    } else {
        memcpy(&large, a->bytes + n->offset, sizeof large);
        large ^= n->with;
        memcpy(a->bytes + n->offset, &large, sizeof large);
    }
}

static int file_open(void)
{
    int file = gba_cdev_sys->open(FAKE_KERNEL_PATH, O_RDWR | O_CLOEXEC);

    assert_true(file >= 0);
    fake_kernel.probing = true;
    return file;
}

static void one_wrong_field(void **state)
{
    static union arguments a, before;

    (void)state;
    for (size_t i = 0; i < sizeof negatives / sizeof negatives[0]; i++) {
        const struct negative *n = &negatives[i];
        int file = file_open(), error;

        prepare(file, n->request, &a);
        change(&a, n);
        before = a;
        error = call(file, n->request, &a);
        if (n->error != error || 0 != memcmp(a.bytes, before.bytes, sizeof a.bytes))
            fail_msg("call %lu, %s: error %d, not %d", _IOC_NR(n->request), n->field, error,
                     n->error);
        change(&a, n);
        error = call(file, n->request, &a);
        if (0 != error) /* it has changed nothing */
            fail_msg("call %lu after a wrong %s: error %d", _IOC_NR(n->request), n->field, error);
        gba_cdev_sys->close(file);
        assert_int_equal(fake_kernel.slots, 0);
    }
}

static const unsigned long requests[] = {GBA_IOC_QUERY,     GBA_IOC_ALLOC, GBA_IOC_FREE,
                                         GBA_IOC_JOIN,      GBA_IOC_LEAVE, GBA_IOC_INSPECT,
                                         GBA_IOC_CONFIGURE, GBA_IOC_WAIT,  GBA_IOC_OWNER};
#define REQUESTS (sizeof requests / sizeof requests[0])

/* A structure of a later version: accepted if what it adds is 0, and then not touched. */
static void larger_structures(void **state)
{
    static union arguments a;

    (void)state;
    for (size_t i = 0; i < 2 * REQUESTS; i++) {
        const unsigned long request = requests[i / 2];
        int file = file_open();
        uint32_t known;

        prepare(file, request, &a);
        known = a.size;
        a.size = i % 2 ? SIZE_MAX_CALL : known + 8;
        for (uint32_t byte = known; byte < a.size; byte += 1 + byte / 64) {
            a.bytes[byte] = 1;
            assert_int_equal(call(file, request, &a), E2BIG);
            a.bytes[byte] = 0;
        }
        a.bytes[a.size] = 1; /* behind it */
        assert_int_equal(call(file, request, &a), 0);
        for (uint32_t byte = known; byte < a.size; byte++)
            assert_int_equal(a.bytes[byte], 0);
        gba_cdev_sys->close(file);
    }
}

/* Another process than the owner of the file: a child of fork, or one that got the descriptor. */
static void test_DRV_19_another_process(void **state)
{
    static union arguments a;

    (void)state;
    for (size_t i = 0; i < REQUESTS; i++) {
        int file = file_open();

        prepare(file, requests[i], &a);
        fake_kernel.other_process = true;
        assert_int_equal(call(file, requests[i], &a), GBA_IOC_QUERY == requests[i] ? 0 : EPERM);
        fake_kernel.other_process = false;
        assert_int_equal(call(file, requests[i], &a), 0);
        gba_cdev_sys->close(file);
    }
}

/* The calls that work on a dead device. */
static void test_DRV_17_calls_on_a_dead_device(void **state)
{
    static union arguments a;

    (void)state;
    for (size_t i = 0; i < REQUESTS; i++) {
        const unsigned long request = requests[i];
        bool works = GBA_IOC_QUERY == request || GBA_IOC_FREE == request ||
                     GBA_IOC_LEAVE == request || GBA_IOC_WAIT == request;
        int file = file_open();

        prepare(file, request, &a);
        fake_kernel_die();
        assert_int_equal(call(file, request, &a), works ? 0 : ENODEV);
        fake_kernel.dead = false;
        gba_cdev_sys->close(file);
    }
}

/* Only the file that allocated the group can free it, and no file can after the first JOIN.
 */
static void who_may_free(void **state)
{
    static union arguments a;
    int file = file_open(), other = file_open();
    struct gba_ioc_join join;

    (void)state;
    prepare(file, GBA_IOC_FREE, &a);
    assert_int_equal(call(other, GBA_IOC_FREE, &a), ESTALE);
    assert_int_equal(call(file, GBA_IOC_FREE, &a), 0);
    assert_int_equal(call(file, GBA_IOC_FREE, &a), ESTALE);
    prepare(file, GBA_IOC_JOIN, &a);
    join = a.join;
    prepare(file, GBA_IOC_FREE, &a);
    a.cancel.group = join.group;
    a.cancel.generation = join.generation;
    assert_int_equal(call(file, GBA_IOC_FREE, &a), EBUSY);
    gba_cdev_sys->close(other);
    gba_cdev_sys->close(file);
}

/* CONFIGURE before all have joined, and again. */
static void when_to_configure(void **state)
{
    static union arguments a;
    int file = file_open();
    struct gba_ioc_configure configure = {.size = sizeof configure};

    (void)state;
    prepare(file, GBA_IOC_JOIN, &a);
    configure.group = a.join.group;
    configure.generation = a.join.generation;
    assert_int_equal(call(file, GBA_IOC_CONFIGURE, &configure), EAGAIN);
    assert_int_equal(call(file, GBA_IOC_JOIN, &a), 0);
    assert_int_equal(call(file, GBA_IOC_CONFIGURE, &configure), 0);
    assert_int_equal(call(file, GBA_IOC_CONFIGURE, &configure), EBUSY);
    gba_cdev_sys->close(file);
}

/* Whether that page can be mapped; if so, it is unmapped again. */
static bool can_map(int file, size_t size, int protection, uint64_t offset)
{
    void *page = gba_cdev_sys->mmap(size, protection, MAP_SHARED, file, offset);

    if (MAP_FAILED != page)
        assert_int_equal(gba_cdev_sys->munmap(page, size), 0);
    return MAP_FAILED != page;
}

static void test_DRV_9_only_the_pages_of_a_join(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int both = PROT_READ | PROT_WRITE;
    static union arguments a;
    int file = file_open(), other = file_open();
    struct gba_ioc_leave leave = {.size = sizeof leave, .member = 1};
    uint64_t doorbell, flag;

    (void)state;
    prepare(file, GBA_IOC_JOIN, &a);
    assert_int_equal(call(file, GBA_IOC_JOIN, &a), 0);
    doorbell = a.join.doorbell_offset;
    flag = a.join.flag_offset;
    leave.group = a.join.group;
    leave.generation = a.join.generation;
    for (int again = 0; again < 2; again++) {
        assert_true(can_map(file, page, PROT_WRITE, doorbell));
        assert_true(can_map(file, page, both, flag));
    }
    assert_false(can_map(file, 2 * page, PROT_WRITE, doorbell));
    assert_false(can_map(other, page, PROT_WRITE, doorbell));
    assert_false(can_map(other, page, both, flag));
    for (uint64_t offset = 0; offset < GBA_BAR_SIZE; offset += page)
        assert_false(can_map(file, page, both, offset));
    assert_int_equal(call(file, GBA_IOC_LEAVE, &leave), 0);
    assert_false(can_map(file, page, PROT_WRITE, doorbell));
    prepare(file, GBA_IOC_JOIN, &a);
    assert_int_equal(call(file, GBA_IOC_JOIN, &a), 0);
    assert_true(doorbell != a.join.doorbell_offset);
    gba_cdev_sys->close(other);
    gba_cdev_sys->close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_wrong_field),
        TEST(larger_structures),
        TEST(who_may_free),
        TEST(when_to_configure),
        cmocka_unit_test_setup_teardown(test_DRV_9_only_the_pages_of_a_join, cdev_setup,
                                        cdev_teardown),
        cmocka_unit_test_setup_teardown(test_DRV_17_calls_on_a_dead_device, cdev_setup,
                                        cdev_teardown),
        cmocka_unit_test_setup_teardown(test_DRV_19_another_process, cdev_setup, cdev_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
