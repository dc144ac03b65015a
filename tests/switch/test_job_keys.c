/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of jobs: the table, and a real gba-switchd that makes them for TCP clients. */
#define _GNU_SOURCE /* strcasestr */
#include "tests/switch/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/switch/net/job_keys.h"

#define SECOND UINT64_C(1000000000)
#define USER   1000u
#define JOB    UINT64_C(0x7777777777)

static struct daemon_process process;

/* --- The table --- */

TEST(test_table_life)
{
    static struct gba_job_keys keys;
    const uint64_t start = 5 * SECOND;
    uint8_t secret[GBA_SWITCH_SECRET_BYTES] = {0};
    const struct gba_job_key *found;
    int index;

    assert_null(gba_job_key_find(&keys, secret, start)); /* an unused entry is no key */
    index = gba_job_key_make(&keys, USER, JOB, start, NULL);
    assert_true(index >= 0);
    memcpy(secret, keys.key[index].secret, sizeof(secret));
    found = gba_job_key_find(&keys, secret, UINT64_MAX - 1); /* while the connection is open */
    assert_non_null(found);
    assert_int_equal(found->user, USER);
    assert_true(found->job == JOB);
    secret[15] ^= 1;
    assert_null(gba_job_key_find(&keys, secret, start));
    secret[15] ^= 1;
    gba_job_key_end(&keys, index, start, 60);
    assert_non_null(gba_job_key_find(&keys, secret, start + 60 * SECOND - 1));
    assert_null(gba_job_key_find(&keys, secret, start + 60 * SECOND));
}

TEST(test_table_no_time)
{
    static struct gba_job_keys keys;
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    int index = gba_job_key_make(&keys, USER, JOB, SECOND, NULL);

    assert_true(index >= 0);
    memcpy(secret, keys.key[index].secret, sizeof(secret));
    gba_job_key_end(&keys, index, SECOND, 0);
    assert_null(gba_job_key_find(&keys, secret, SECOND));
}

/* No two keys are equal. A full table has room when a key has expired. */
TEST(test_table_full)
{
    static struct gba_job_keys keys;

    for (unsigned i = 0; i < GBA_JOB_KEYS; i++) {
        assert_int_equal(gba_job_key_make(&keys, USER, JOB, SECOND, NULL), i);
        for (unsigned k = 0; k < i; k++)
            assert_memory_not_equal(keys.key[i].secret, keys.key[k].secret,
                                    GBA_SWITCH_SECRET_BYTES);
    }
    assert_int_equal(gba_job_key_make(&keys, USER, JOB, SECOND, NULL), GBA_JOB_KEYS_FULL);
    gba_job_key_end(&keys, 7, SECOND, 2);
    assert_int_equal(gba_job_key_make(&keys, USER, JOB, 2 * SECOND, NULL), GBA_JOB_KEYS_FULL);
    assert_int_equal(gba_job_key_make(&keys, USER, JOB, 3 * SECOND, NULL), 7);
}

/* --- The daemon --- */

/* Connect by TCP, with HELLO and SECRET; the answer is not read. */
static int greet(const uint8_t secret[GBA_SWITCH_SECRET_BYTES], uint32_t user, uint64_t job)
{
    const struct gba_switch_message hello = {.type = GBA_SWITCH_HELLO,
                                             .code = GBA_SWITCH_PROTOCOL,
                                             .group = GBA_SWITCH_MAGIC,
                                             .generation = user,
                                             .member = (uint32_t)getpid(),
                                             .value = job};
    struct gba_switch_message message;
    int fd = peer_tcp(&process);

    gba_switch_secret_set(&message, secret);
    peer_send(fd, &hello);
    peer_send(fd, &message);
    return fd;
}

/* The same with the key of the file. Returns an open session. *port: its number. */
static int first_process(uint64_t job, uint32_t *port)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    int fd;

    assert_true(gba_switch_secret_parse(PEER_KEY, secret));
    fd = greet(secret, USER, job);
    *port = peer_expect(fd, GBA_SWITCH_WELCOME).tag;
    return fd;
}

/* Request the key of the job. Returns the code of the answer. */
static unsigned request(int fd, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_JOB_KEY, .tag = 0x4321};
    struct gba_switch_message answer;

    peer_send(fd, &message);
    answer = peer_expect(fd, GBA_SWITCH_KEY);
    assert_int_equal(answer.tag, 0x4321);
    gba_switch_secret_get(&answer, secret);
    return answer.code;
}

static bool session_works(int fd)
{
    return peer_read(fd, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4) == GBA_GROUPS;
}

static void expect_refused(const uint8_t secret[GBA_SWITCH_SECRET_BYTES], uint32_t user,
                           uint64_t job, unsigned refusal)
{
    int fd = greet(secret, user, job);

    peer_expect_refusal(fd, refusal);
    close(fd);
}

PEER_TEST(test_job_key, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES], again[GBA_SWITCH_SECRET_BYTES];
    uint8_t file_key[GBA_SWITCH_SECRET_BYTES], other[GBA_SWITCH_SECRET_BYTES];
    int first, second, third;
    uint32_t port;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    first = first_process(JOB, &port);
    assert_int_equal(request(first, key), 0);
    assert_int_equal(request(first, again), 0);
    assert_memory_equal(key, again, sizeof(key));
    assert_true(gba_switch_secret_parse(PEER_KEY, file_key));
    assert_memory_not_equal(key, file_key, sizeof(key));
    second = greet(key, USER, JOB);
    peer_expect(second, GBA_SWITCH_WELCOME);
    assert_true(session_works(second));
    /* Each job has another key, and cannot use that of this job. */
    third = first_process(JOB + 1, &port);
    assert_int_equal(request(third, other), 0);
    assert_memory_not_equal(key, other, sizeof(key));
    expect_refused(key, USER, JOB + 1, GBA_SWITCH_REFUSED_JOB);
    expect_refused(other, USER, JOB, GBA_SWITCH_REFUSED_JOB);
    expect_refused(key, USER + 1, JOB, GBA_SWITCH_REFUSED_JOB);
    expect_refused(key, USER, 0, GBA_SWITCH_REFUSED_JOB);
    key[0] ^= 1;
    expect_refused(key, USER, JOB, GBA_SWITCH_REFUSED_SECRET);
    assert_true(session_works(first));
    close(first);
    close(second);
    close(third);
}

/* Only a TCP client with the key of the file gets a key, and only that key is good for a status. */
PEER_TEST(test_rights, peer_begin, peer_end)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_JOB_KEY};
    const struct gba_switch_message status = {
        .type = GBA_SWITCH_STATUS, .code = GBA_SWITCH_PROTOCOL, .group = GBA_SWITCH_MAGIC};
    uint8_t key[GBA_SWITCH_SECRET_BYTES], none[GBA_SWITCH_SECRET_BYTES];
    const uint8_t zero[GBA_SWITCH_SECRET_BYTES] = {0};
    struct gba_switch_message secret;
    uint32_t port;
    int first, fd;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    first = first_process(JOB, &port);
    assert_int_equal(request(first, key), 0);
    fd = greet(key, USER, JOB);
    peer_expect(fd, GBA_SWITCH_WELCOME);
    assert_int_equal(request(fd, none), GBA_SWITCH_REFUSED_SECRET);
    assert_memory_equal(none, zero, sizeof(zero));
    assert_true(session_works(fd));
    close(fd);
    fd = peer_tcp(&process);
    gba_switch_secret_set(&secret, key);
    peer_send(fd, &status);
    peer_send(fd, &secret);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_SECRET);
    close(fd);
    fd = peer_client(&process, &port);
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
    close(first);
}

/* The key outlives the connection that asked for it, so that late processes can connect. */
PEER_TEST(test_late_process, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES];
    uint32_t port, next;
    int fd;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    fd = first_process(JOB, &port);
    assert_int_equal(request(fd, key), 0);
    close(fd);
    do { /* until the port of that connection is free */
        fd = first_process(JOB, &next);
        close(fd);
    } while (next != port);
    fd = greet(key, USER, JOB);
    peer_expect(fd, GBA_SWITCH_WELCOME);
    close(fd);
}

/* The key of a job that has ended. A process that is connected keeps its connection. */
PEER_TEST(test_expired, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message answer = {.type = GBA_SWITCH_WELCOME};
    uint32_t port;
    int first, second, fd;

    peer_start_tcp(&process, "--log-level=error", "--job-key-time=0", NULL);
    first = first_process(JOB, &port);
    assert_int_equal(request(first, key), 0);
    second = greet(key, USER, JOB);
    peer_expect(second, GBA_SWITCH_WELCOME);
    close(first);
    while (answer.type == GBA_SWITCH_WELCOME) { /* until the daemon has seen that */
        fd = greet(key, USER, JOB);
        assert_true(peer_receive(fd, &answer));
        close(fd);
    }
    assert_int_equal(answer.type, GBA_SWITCH_ERROR);
    assert_int_equal(answer.code, GBA_SWITCH_REFUSED_SECRET);
    assert_true(session_works(second));
    close(second);
}

PEER_TEST(test_too_many, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES];
    uint32_t port;
    int fd;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    for (unsigned i = 0; i < GBA_JOB_KEYS; i++) {
        fd = first_process(JOB + i, &port);
        assert_int_equal(request(fd, key), 0);
        close(fd);
    }
    fd = first_process(JOB, &port);
    assert_int_equal(request(fd, key), GBA_SWITCH_REFUSED_KEYS);
    assert_true(session_works(fd));
    close(fd);
}

/* A process cannot evade the limit of its job by another number of the job. */
PEER_TEST(test_limits_bind, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES];
    int first, second;
    uint32_t port;

    peer_start_tcp(&process, "--log-level=error", "--job-ports=2", NULL);
    first = first_process(JOB, &port);
    assert_int_equal(request(first, key), 0);
    second = greet(key, USER, JOB);
    peer_expect(second, GBA_SWITCH_WELCOME);
    expect_refused(key, USER, JOB, GBA_SWITCH_REFUSED_QUOTA);
    expect_refused(key, USER, JOB + 1, GBA_SWITCH_REFUSED_JOB);
    close(first);
    close(second);
}

/* --- Owners of groups [DRV-20] --- */

/* Allocate a group. Returns its number. */
static uint32_t allocate(int fd)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 2};

    assert_int_equal(peer_command(fd, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    return group.group;
}

static struct gba_switch_message owner_of(int fd, uint32_t group)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_OWNER, .tag = 5, .group = group};

    peer_send(fd, &message);
    return peer_expect(fd, GBA_SWITCH_OWNED);
}

static void expect_hidden(int fd, uint32_t group)
{
    struct gba_switch_message owned = owner_of(fd, group);

    assert_int_equal(owned.code, GBA_SWITCH_OWNED_HIDDEN);
    assert_true(owned.generation == 0 && owned.member == 0 && owned.value == 0 && owned.key == 0);
}

static void expect_owner(int fd, uint32_t group, uint32_t user, uint64_t job)
{
    struct gba_switch_message owned = owner_of(fd, group);

    assert_in_range(owned.code, GBA_SWITCH_OWNED_AWAY, GBA_SWITCH_OWNED_HERE);
    assert_int_equal(owned.generation, user);
    assert_int_equal(owned.member, getpid());
    assert_int_equal(owned.value, job);
}

static void expect_batch_job(int fd, uint32_t group, unsigned code, const char *expected)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_OWNER, .code = 1, .tag = 6, .group = group};
    char name[GBA_SWITCH_NAME_BYTES + 1];
    struct gba_switch_message owned;

    peer_send(fd, &message);
    owned = peer_expect(fd, GBA_SWITCH_OWNED);
    gba_switch_name_get(&owned, name);
    assert_int_equal(owned.tag, 6);
    assert_int_equal(owned.code, code);
    assert_string_equal(name, expected);
}

/* With the key of a job a client sees that job only, and with the key of the file all. */
PEER_TEST(test_owner_tcp, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message name;
    int first, second, other;
    uint32_t port, own, others;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    first = first_process(JOB, &port);
    assert_int_equal(request(first, key), 0);
    second = greet(key, USER, JOB);
    peer_expect(second, GBA_SWITCH_WELCOME);
    other = first_process(JOB + 1, &port); /* of the same user */
    gba_switch_name_set(&name, GBA_SWITCH_NAME_JOB, "slurm:12");
    peer_send(first, &name);
    peer_send(other, &name);
    own = allocate(first);
    others = allocate(other);
    expect_owner(second, own, USER, JOB);
    expect_hidden(second, others);
    expect_owner(first, others, USER, JOB + 1);
    expect_batch_job(second, own, GBA_SWITCH_OWNED_AWAY, "slurm:12");
    expect_batch_job(second, others, GBA_SWITCH_OWNED_HIDDEN, "");
    expect_batch_job(second, GBA_GROUPS - 1, GBA_SWITCH_OWNED_NOT, "");
    assert_int_equal(owner_of(second, GBA_GROUPS - 1).code, GBA_SWITCH_OWNED_NOT);
    close(first);
    close(second);
    close(other);
}

/* A client on the Unix socket that the kernel identifies as that user. */
static int client_of(uid_t user)
{
    uint32_t port;
    int fd;

    assert_return_code(seteuid(user), errno);
    fd = peer_client(&process, &port);
    assert_return_code(seteuid(0), errno);
    return fd;
}

/* A user sees the groups of that user, and root all. The report shows no more. */
PEER_TEST(test_owner_unix, peer_begin, peer_end)
{
    uint32_t group[3], absent;
    int client[3], fd;
    char *text;

    if (geteuid() != 0)
        skip(); /* only root can be several users */
    assert_return_code(chmod(process.directory, 0755), errno);
    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    for (uid_t i = 0; i < 3; i++) {
        client[i] = client_of(i == 0 ? 0 : USER + i);
        group[i] = allocate(client[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        expect_owner(client[0], group[i], i == 0 ? 0 : USER + i, 0);
        if (i == 1)
            expect_owner(client[1], group[i], USER + 1, 0);
        else
            expect_hidden(client[1], group[i]);
    }
    assert_return_code(seteuid(USER + 1), errno);
    fd = peer_unix(&process);
    assert_return_code(seteuid(0), errno);
    text = peer_status(fd, GBA_SWITCH_STATUS_JSON, &absent);
    assert_non_null(strstr(text, "\"user\": 1001,"));
    assert_null(strstr(text, "\"user\": 1002"));
    assert_null(strstr(text, "\"user\": 0,"));
    free(text);
    close(fd);
    peer_close(client, 3);
}

/* Whether the text has the key, as digits. */
static bool shows(const char *text, const uint8_t key[GBA_SWITCH_SECRET_BYTES])
{
    char digits[2 * GBA_SWITCH_SECRET_BYTES + 1];

    for (unsigned i = 0; i < GBA_SWITCH_SECRET_BYTES; i++)
        snprintf(digits + 2 * i, 3, "%02x", key[i]);
    digits[8] = '\0'; /* a part of it is too much, too */
    return strcasestr(text, digits) != NULL;
}

PEER_TEST(test_log, peer_begin, peer_end)
{
    uint8_t key[GBA_SWITCH_SECRET_BYTES], file_key[GBA_SWITCH_SECRET_BYTES];
    char path[64], text[16384] = "";
    int log, saved, fd;
    uint32_t port;

    snprintf(path, sizeof(path), "%s/log", process.directory);
    log = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    saved = dup(STDERR_FILENO);
    assert_true(log >= 0 && saved >= 0 && dup2(log, STDERR_FILENO) >= 0);
    peer_start_tcp(&process, "--log-level=debug", NULL, NULL);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    fd = first_process(JOB, &port);
    assert_int_equal(request(fd, key), 0);
    expect_refused(key, USER, 0, GBA_SWITCH_REFUSED_JOB);
    close(fd);
    peer_stop(&process, SIGTERM);
    assert_true(pread(log, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "the key is that of another user or job"));
    assert_true(gba_switch_secret_parse(PEER_KEY, file_key));
    assert_false(shows(text, key) || shows(text, file_key));
    close(log);
}

TEST_MAIN()
