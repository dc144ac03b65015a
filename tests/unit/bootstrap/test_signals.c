/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of signals over TCP (gba/bootstrap/signals.h): whole barriers of several members,
 * and a member against a peer that this test plays. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/algo/algorithm.h"
#include "gba/base/clock.h"
#include "gba/bootstrap/signals.h"
#include "tests/suite.h"
#include "tests/unit/own_file.h"

#define MEMBERS 6u
#define FIRST   (UINT32_MAX - 3) /* the sequence wraps */
#define EPOCH   7u               /* of the path */
#define PATIENT 30000000000u     /* ns, for what happens at once on an idle machine */

static const struct gba_algorithm *const v1 = &gba_algorithms[GBA_ALGORITHM_V1];
static struct gba_boot_mesh *mesh[MEMBERS];
static char cause[MEMBERS][GBA_BOOT_MESSAGE];
static struct gba_transport *transport[MEMBERS];
static struct gba_algo_state algo[MEMBERS];

static void open_mesh(uint32_t rank, uint32_t size, struct gba_boot_address *address)
{
    char message[256];

    memset(address, 0, sizeof *address);
    address->socket.inet =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address->len = sizeof address->socket.inet;
    cause[rank][0] = '\0';
    assert_int_equal(GBA_OK, gba_boot_mesh_create(rank, size, address, cause[rank], &mesh[rank],
                                                  message, sizeof message));
}

static void open_transport(uint32_t rank, uint32_t size, const struct gba_algorithm *algorithm,
                           uint32_t channel)
{
    const gba_remote_group_t group = {.size = size,
                                      .rank = rank,
                                      .schedule = algorithm->schedule,
                                      .radix = 3,
                                      .sequence = FIRST,
                                      .channel = channel,
                                      .epoch = EPOCH};

    assert_int_equal(GBA_OK, gba_boot_signals_open(mesh[rank], &group, &transport[rank]));
    gba_algo_init(&algo[rank], rank, size, 3, FIRST);
}

static void open_all(uint32_t size)
{
    struct gba_boot_address addresses[MEMBERS];

    for (uint32_t i = 0; i < size; i++)
        open_mesh(i, size, &addresses[i]);
    for (uint32_t i = 0; i < size; i++)
        memcpy(mesh[i]->addresses, addresses, size * sizeof addresses[0]);
}

static void close_all(void)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (transport[i] != NULL)
            transport[i]->ops->destroy(transport[i]);
        gba_boot_mesh_destroy(mesh[i]);
        transport[i] = NULL;
        mesh[i] = NULL;
    }
}

/* One barrier. The members enter one after the other, `last` as the last one, and none leaves
 * before it. A member that has left makes no calls: its signals reach the others without it. */
static void barrier(const struct gba_algorithm *algorithm, uint32_t size, uint32_t seq,
                    uint32_t last)
{
    uint64_t end = gba_clock_ns() + PATIENT;
    uint32_t entered = 0, left = 0;

    for (uint32_t turn = 0; left != (1u << size) - 1; turn++) {
        uint32_t next = turn / 4 < size ? (last + 1 + turn / 4) % size : last;

        assert_true(gba_clock_ns() < end);
        if (0 == (entered & 1u << next)) {
            entered |= 1u << next;
            assert_int_equal(GBA_OK, algorithm->start(&algo[next], transport[next], seq));
        }
        for (uint32_t i = 0; i < size; i++) {
            gba_status_t status;

            if (0 == (entered & ~left & 1u << i))
                continue;
            assert_int_equal(GBA_OK, transport[i]->ops->progress(transport[i]));
            status = algorithm->test(&algo[i], transport[i]);
            if (GBA_OK == status) {
                assert_int_equal((1u << size) - 1, entered);
                left |= 1u << i;
            } else {
                assert_int_equal(GBA_INPROGRESS, status);
            }
        }
    }
}

/* Also: two transports on one channel, one after the other, and a second channel. */
TEST(test_barriers)
{
    static const struct gba_algorithm *const algorithms[] = {&gba_algorithms[GBA_ALGORITHM_V1],
                                                             &gba_algorithms[GBA_ALGORITHM_V2],
                                                             &gba_algorithms[GBA_ALGORITHM_TREE]};

    for (uint32_t size = 2; size <= MEMBERS; size++) {
        open_all(size);
        for (uint32_t a = 0; a < 6; a++) {
            for (uint32_t i = 0; i < size; i++) {
                if (transport[i] != NULL)
                    transport[i]->ops->destroy(transport[i]);
                open_transport(i, size, algorithms[a % 3], a / 3);
            }
            for (uint32_t round = 1; round <= 8; round++)
                barrier(algorithms[a % 3], size, FIRST + round, round % size);
        }
        close_all();
    }
}

/* A member that has left its last barrier closes everything; the others still complete theirs. */
TEST(test_leaves_at_once)
{
    uint64_t end = gba_clock_ns() + PATIENT;
    gba_status_t status = GBA_INPROGRESS;

    open_all(2);
    for (uint32_t i = 0; i < 2; i++)
        open_transport(i, 2, v1, 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(GBA_OK, v1->start(&algo[i], transport[i], FIRST + 1));
    /* Rank 1 connects. Rank 0 sends its signal, and is not asked again until rank 1 has closed. */
    for (; 0 != mesh[0]->links[1]->out_len || 1 != mesh[0]->links[1]->state;
         assert_true(gba_clock_ns() < end)) {
        gba_boot_mesh_accept(mesh[0]);
        assert_int_not_equal(GBA_ERR_IO, gba_boot_mesh_flush(mesh[0], mesh[0]->links[1]));
    }
    for (; GBA_INPROGRESS == status; assert_true(gba_clock_ns() < end)) {
        assert_int_equal(GBA_OK, transport[1]->ops->progress(transport[1]));
        status = v1->test(&algo[1], transport[1]);
    }
    assert_int_equal(GBA_OK, status);
    gba_boot_mesh_destroy(mesh[1]);
    mesh[1] = NULL;
    for (status = GBA_INPROGRESS; GBA_INPROGRESS == status; assert_true(gba_clock_ns() < end)) {
        assert_int_equal(GBA_OK, transport[0]->ops->progress(transport[0]));
        status = v1->test(&algo[0], transport[0]);
    }
    assert_int_equal(GBA_OK, status);
    /* The next barrier fails. */
    status = v1->start(&algo[0], transport[0], FIRST + 2);
    for (; GBA_ERR_IO != status; assert_true(gba_clock_ns() < end))
        status = transport[0]->ops->progress(transport[0]);
    assert_non_null(strstr(cause[0], "rank 1"));
    close_all();
}

/* The program replaces the descriptors of a member: its next barrier fails. */
TEST(test_descriptors_of_the_program)
{
    uint64_t end = gba_clock_ns() + PATIENT;
    gba_status_t status = GBA_OK;
    int own[2];

    open_all(2);
    for (uint32_t i = 0; i < 2; i++)
        open_transport(i, 2, v1, 0);
    barrier(v1, 2, FIRST + 1, 0);
    own[0] = own_file_put(&mesh[0]->listener);
    own[1] = own_file_put(&mesh[0]->links[1]->socket);
    gba_boot_mesh_accept(mesh[0]);
    (void)v1->start(&algo[0], transport[0], FIRST + 2);
    for (; GBA_ERR_IO != status; assert_true(gba_clock_ns() < end))
        status = transport[0]->ops->progress(transport[0]);
    assert_non_null(strstr(cause[0], "rank 1"));
    close_all();
    own_file_check(own[0]);
    own_file_check(own[1]);
}

/* ------------------------------------------------------------- a peer that the test plays ----- */

#define PEER_BYTES (GBA_BOOT_HELLO_BYTES + GBA_BOOT_SIGNAL_BYTES)

static int raw_connect(void)
{
    const struct gba_boot_address *to = &mesh[0]->addresses[0];
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(0, connect(fd, &to->socket.any, to->len));
    return fd;
}

/* The hello of a rank, with the secret of rank 0, and a signal. */
static void words_of(uint8_t bytes[PEER_BYTES], uint32_t rank, uint32_t channel, uint32_t seq)
{
    struct gba_boot_hello hello = {.rank = rank, .size = 2};
    const struct gba_boot_signal signal = {.channel = channel, .sequence = seq, .epoch = EPOCH};

    memcpy(hello.secret, mesh[0]->addresses[0].secret, sizeof hello.secret);
    gba_boot_hello_pack(&hello, bytes);
    gba_boot_signal_pack(&signal, bytes + GBA_BOOT_HELLO_BYTES);
}

/* Rank 0 of two is a member in its first barrier, and the test is rank 1. */
static void begin_rank0(uint8_t bytes[PEER_BYTES], uint32_t channel, uint32_t seq)
{
    open_all(2);
    open_transport(0, 2, v1, 0);
    assert_int_equal(GBA_OK, v1->start(&algo[0], transport[0], FIRST + 1));
    words_of(bytes, 1, channel, seq);
}

static void say(int fd, const uint8_t *bytes, size_t count)
{
    assert_int_equal(count, send(fd, bytes, count, MSG_NOSIGNAL));
}

static void stays_in_barrier(int tests)
{
    while (tests-- > 0) {
        assert_int_equal(GBA_OK, transport[0]->ops->progress(transport[0]));
        assert_int_equal(GBA_INPROGRESS, v1->test(&algo[0], transport[0]));
    }
}

/* Progress and test, until the barrier ends. */
static gba_status_t outcome(uint32_t rank)
{
    uint64_t end = gba_clock_ns() + PATIENT;
    gba_status_t status = GBA_INPROGRESS;

    while (GBA_INPROGRESS == status && gba_clock_ns() < end) {
        status = transport[rank]->ops->progress(transport[rank]);
        if (GBA_OK == status)
            status = v1->test(&algo[rank], transport[rank]);
    }
    return status;
}

static void ends_with(gba_status_t expected, const char *text)
{
    assert_int_equal(expected, outcome(0));
    if (text != NULL && strstr(cause[0], text) == NULL)
        fail_msg("%s", cause[0]);
}

/* Byte by byte: the barrier ends with the last byte, not before. */
TEST(test_partial)
{
    uint8_t bytes[PEER_BYTES];
    int fd;

    begin_rank0(bytes, 0, FIRST + 1);
    fd = raw_connect();
    for (unsigned i = 0; i < sizeof bytes; i++) {
        stays_in_barrier(20);
        say(fd, bytes + i, 1);
    }
    ends_with(GBA_OK, NULL);
    close(fd);
    close_all();
}

/* Silent and noisy strangers, and connections with a wrong secret or rank, change nothing. */
TEST(test_strangers)
{
    uint8_t bytes[PEER_BYTES];
    char noise[1000] = "GET / HTTP/1.0", byte;
    int strangers[300], fd;

    begin_rank0(bytes, 0, FIRST + 1);
    for (unsigned i = 0; i < 300; i++) {
        strangers[i] = raw_connect();
        if (0 != i % 2)
            (void)!send(strangers[i], noise, sizeof noise, MSG_NOSIGNAL);
        stays_in_barrier(1);
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        words_of(bytes, 0 == kind ? 1 : 1 == kind ? 0 : 2, 0, FIRST + 1);
        bytes[4] ^= 0 == kind; /* the secret; else the rank: its own; out of range */
        fd = raw_connect();
        say(fd, bytes, sizeof bytes);
        while (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && EAGAIN == errno)
            stays_in_barrier(1);
        close(fd);
    }
    words_of(bytes, 1, 0, FIRST + 1);
    fd = raw_connect();
    say(fd, bytes, sizeof bytes);
    ends_with(GBA_OK, NULL);
    close(fd);
    for (unsigned i = 0; i < 300; i++)
        close(strangers[i]);
    close_all();
}

/* What a connected peer does wrong is an error, never an arrival: a wrong signal, or its death
 * after the hello or in the middle of a signal. */
TEST(test_wrong_peers)
{
    static const struct {
        uint32_t channel, seq;
        size_t bytes;
        const char *text;
    } wrong[] = {{0, FIRST + 2, PEER_BYTES, "another barrier"},
                 {0, FIRST, PEER_BYTES, "another barrier"},
                 {1, FIRST + 1, PEER_BYTES, "no signal"},
                 {2, FIRST + 1, PEER_BYTES, "invalid"},
                 {0, FIRST + 1, GBA_BOOT_HELLO_BYTES, "rank 1"},
                 {0, FIRST + 1, GBA_BOOT_HELLO_BYTES + 5, "rank 1"},
                 {0, FIRST + 1, PEER_BYTES - 1, "rank 1"}};

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t bytes[PEER_BYTES];
        int fd;

        begin_rank0(bytes, wrong[i].channel, wrong[i].seq);
        fd = raw_connect();
        say(fd, bytes, wrong[i].bytes);
        shutdown(fd, SHUT_WR);
        ends_with(GBA_ERR_IO, wrong[i].text);
        close(fd);
        close_all();
    }
}

/* Signals of paths that members have left in the middle of a barrier, more than a member keeps, end
 * no barrier, and do not disturb the one whose signal comes behind them. */
TEST(test_signals_of_other_paths)
{
    uint8_t bytes[PEER_BYTES], *const signal = bytes + GBA_BOOT_HELLO_BYTES;
    int fd;

    begin_rank0(bytes, 0, FIRST + 1);
    fd = raw_connect();
    say(fd, bytes, GBA_BOOT_HELLO_BYTES);
    for (unsigned i = 0; i < 12; i++) {
        const struct gba_boot_signal stale = {.sequence = FIRST + i % 3, .epoch = 3 + i / 3};
        uint8_t packed[GBA_BOOT_SIGNAL_BYTES];

        gba_boot_signal_pack(&stale, packed);
        say(fd, packed, sizeof packed);
        stays_in_barrier(100);
    }
    say(fd, signal, GBA_BOOT_SIGNAL_BYTES);
    ends_with(GBA_OK, NULL);
    close(fd);
    close_all();
}

/* Rank 1 connects to a process that does not know its secret, to one that closes, and to none. */
TEST(test_wrong_listener)
{
    uint8_t bytes[PEER_BYTES];

    for (unsigned kind = 0; kind < 3; kind++) {
        gba_status_t status;
        int fd = -1;

        open_all(2);
        open_transport(1, 2, v1, 0);
        if (2 == kind)
            gba_descriptor_close(&mesh[0]->listener);
        status = v1->start(&algo[1], transport[1], FIRST + 1);
        while (kind < 2 && fd < 0)
            fd = accept(mesh[0]->listener.number, NULL, NULL);
        words_of(bytes, 0, 0, FIRST + 1); /* with its own secret, in place of rank 1's */
        if (0 == kind)
            say(fd, bytes, sizeof bytes);
        else if (1 == kind)
            close(fd);
        if (GBA_OK == status)
            status = outcome(1);
        assert_int_equal(GBA_ERR_IO, status);
        assert_non_null(strstr(cause[1], "rank 0"));
        if (0 == kind)
            close(fd);
        close_all();
    }
}

TEST_MAIN()
