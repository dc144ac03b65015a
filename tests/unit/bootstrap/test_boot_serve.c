/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a unique id (gba/bootstrap/root.h): a member that does not read its reply holds up
 * neither the other members nor the end of the root. The members are sockets of this test. */
#define _GNU_SOURCE /* memfd_create */
#include <endian.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/bootstrap/root.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/own_file.h"

#define MEMBERS 3u
#define BYTES   ((size_t)1 << 20) /* of a member: a reply is more than a socket takes */

static gba_bootstrap_root_t root;
static struct gba_descriptor member[1024]; /* their ends of the connections */
static uint8_t in[BYTES], out[MEMBERS * BYTES];
static int close_ms; /* replaces the root's time for members that read nothing */

int __real_poll(struct pollfd *pollers, nfds_t count, int ms);
int __wrap_poll(struct pollfd *pollers, nfds_t count, int ms);

int __wrap_poll(struct pollfd *pollers, nfds_t count, int ms)
{
    return __real_poll(pollers, count, MEMBERS == count && 1000 == ms ? close_ms : ms);
}

static void *serve(void *arg)
{
    (void)arg;
    gba_boot_serve(&root);
    for (uint32_t rank = 0; rank < root.size; rank++)
        gba_descriptor_close(&root.peers[rank].socket);
    return NULL;
}

/* Without a timeout: a root that waits for a member waits for ever. */
static void pair(struct gba_descriptor *one, struct gba_descriptor *other)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(gba_descriptor_keep(one, ends[0]) && gba_descriptor_keep(other, ends[1]));
}

static void start_of(uint32_t size)
{
    memset(&root, 0, sizeof root);
    root.size = root.present = size;
    root.peers = calloc(size, sizeof *root.peers);
    root.pollers = calloc(size + 1, sizeof *root.pollers);
    assert_true(root.peers != NULL && root.pollers != NULL);
    pair(&root.stop, &root.stopping);
    for (uint32_t rank = 0; rank < size; rank++)
        pair(&root.peers[rank].socket, &member[rank]);
    assert_int_equal(pthread_create(&root.thread, NULL, serve, NULL), 0);
}

static void start(void)
{
    start_of(MEMBERS);
}

static void leave(uint32_t rank)
{
    gba_descriptor_close(&member[rank]);
}

static void end(void)
{
    assert_int_equal(pthread_join(root.thread, NULL), 0);
    for (uint32_t rank = 0; rank < root.size; rank++)
        leave(rank);
    gba_descriptor_close(&root.stop);
    gba_descriptor_close(&root.stopping);
    free(root.peers);
    free(root.pollers);
}

static void root_stop(void)
{
    gba_descriptor_close(&root.stopping);
}

/* Send the request of a gather; the data is the rank. */
static void request(uint32_t rank, size_t bytes)
{
    const struct gba_boot_request gather = {.kind = GBA_BOOT_GATHER, .bytes = bytes};
    uint8_t packed[GBA_BOOT_REQUEST_BYTES];

    gba_boot_request_pack(&gather, packed);
    memset(in, (int)rank, bytes);
    assert_int_equal(gba_boot_write(&member[rank], packed, sizeof packed, 0), GBA_OK);
    assert_int_equal(gba_boot_write(&member[rank], in, bytes, 0), GBA_OK);
}

static struct gba_boot_reply header_of(uint32_t rank)
{
    uint8_t packed[GBA_BOOT_REPLY_BYTES];
    struct gba_boot_reply reply;

    assert_int_equal(gba_boot_read(&member[rank], packed, sizeof packed, 0), GBA_OK);
    assert_true(gba_boot_reply_unpack(packed, &reply));
    return reply;
}

static void has_reply(uint32_t rank, size_t bytes)
{
    struct gba_boot_reply reply = header_of(rank);

    assert_int_equal(reply.status, GBA_OK);
    assert_int_equal(reply.bytes, MEMBERS * bytes);
    assert_int_equal(gba_boot_read(&member[rank], out, MEMBERS * bytes, 0), GBA_OK);
    for (uint32_t of = 0; of < MEMBERS; of++)
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(out[of * bytes + i], of);
}

/* All request, and the others than member 0 read their replies. */
static void call_of_others(void)
{
    for (uint32_t rank = 0; rank < MEMBERS; rank++)
        request(rank, BYTES);
    for (uint32_t rank = 1; rank < MEMBERS; rank++)
        has_reply(rank, BYTES);
}

TEST(test_stopped_member)
{
    start();
    call_of_others();
    for (uint32_t rank = 1; rank < MEMBERS; rank++)
        request(rank, 8); /* the next call begins */
    has_reply(0, BYTES);
    request(0, 8);
    for (uint32_t rank = 0; rank < MEMBERS; rank++)
        has_reply(rank, 8);
    for (uint32_t rank = 0; rank < MEMBERS; rank++)
        leave(rank);
    end();
}

/* The others have the reason. The stopped member has a part of its data, and nothing that it could
 * take for data. */
TEST(test_timeout)
{
    const char expected[] = "timeout: ranks 0, 2 of 3 did not come to a call of the others";
    size_t bytes = 0;
    ssize_t got;

    start();
    call_of_others();
    root.timeout = 50000000u; /* ns, of the next call */
    request(1, 8);
    for (uint32_t rank = 1; rank < MEMBERS; rank++) {
        struct gba_boot_reply reply = header_of(rank);
        char text[GBA_BOOT_MESSAGE] = "";

        assert_int_equal(reply.status, GBA_ERR_TIMEOUT);
        assert_in_range(reply.bytes, 1, sizeof text - 1);
        assert_int_equal(gba_boot_read(&member[rank], text, reply.bytes, 0), GBA_OK);
        assert_memory_equal(text, expected, sizeof expected - 1);
        leave(rank);
    }
    assert_int_equal(header_of(0).status, GBA_OK);
    do {
        struct pollfd poller = {.fd = member[0].number, .events = POLLIN};

        assert_int_equal(poll(&poller, 1, -1), 1);
        got = recv(member[0].number, out, sizeof out, 0);
        for (ssize_t i = 0; i < got; i++, bytes++)
            assert_int_equal(out[i], bytes / BYTES);
    } while (got > 0);
    assert_in_range(bytes, 0, MEMBERS * BYTES - 1);
    end();
}

TEST(test_close)
{
    close_ms = 0;
    start();
    call_of_others();
    root_stop();
    end();
}

/* The member that closes the root has its reply before another one. */
TEST(test_close_while_reading)
{
    close_ms = -1;
    start();
    call_of_others();
    root_stop();
    has_reply(0, BYTES);
    end();
}

/* A member that leaves without its reply fails only a later call. */
TEST(test_leave_without_reply)
{
    start();
    call_of_others();
    leave(0);
    request(1, 8);
    assert_int_equal(header_of(1).status, GBA_ERR_OOB);
    leave(1);
    leave(2);
    end();
}

/* The program replaces the descriptor of a connection, which looks as if its member had left. */
TEST(test_descriptor_of_the_program)
{
    int own;

    start();
    for (uint32_t rank = 0; rank < MEMBERS; rank++)
        request(rank, 8);
    for (uint32_t rank = 0; rank < MEMBERS; rank++)
        has_reply(rank, 8);
    own = own_file_put(&root.peers[1].socket);
    request(2, 8);
    assert_int_equal(header_of(0).status, GBA_ERR_OOB);
    assert_int_equal(header_of(2).status, GBA_ERR_OOB);
    end();
    own_file_check(own);
}

/* A minimum costs each member its own words twice, however many members there are. */
TEST(test_minimum)
{
    static const uint32_t sizes[] = {64, 256, 1024};
    const struct gba_boot_request least = {.kind = GBA_BOOT_MIN, .bytes = 34 * sizeof(uint64_t)};
    const struct rlimit files = {4096, 4096};
    uint8_t packed[GBA_BOOT_REQUEST_BYTES];
    uint64_t words[34];

    (void)setrlimit(RLIMIT_NOFILE, &files);
    gba_boot_request_pack(&least, packed);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        start_of(sizes[i]);
        for (uint32_t rank = 0; rank < root.size; rank++) {
            for (uint32_t w = 0; w < 34; w++)
                words[w] = htobe64((rank + root.size - w) % root.size + 255); /* 255 of member w */
            assert_int_equal(gba_boot_write(&member[rank], packed, sizeof packed, 0), GBA_OK);
            assert_int_equal(gba_boot_write(&member[rank], words, sizeof words, 0), GBA_OK);
        }
        for (uint32_t rank = 0; rank < root.size; rank++) {
            assert_int_equal(header_of(rank).bytes, sizeof words);
            assert_int_equal(gba_boot_read(&member[rank], words, sizeof words, 0), GBA_OK);
            for (uint32_t w = 0; w < 34; w++)
                assert_int_equal(be64toh(words[w]), 255);
        }
        for (uint32_t rank = 0; rank < root.size; rank++)
            leave(rank);
        end();
    }
}

TEST_MAIN(alarm(test_limit(60)))
