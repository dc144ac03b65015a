/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials of munge: one user cannot be another, whatever the greeting states. With a munged of
 * its own, which has its own key. Skipped where munged is not installed. */
#include "tests/switch/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/switch/net/trust.h"

#define USER 65533u /* of the clients, if this is root */

static struct daemon_process process;
static pid_t munged = -1;
static char auth[256]; /* "munge:SOCKET" */

/* Other users connect to munged, and the directory of the build may be one of root alone. */
static struct daemon_process of_munged;

/* In the child: start munged. It ends with the test. */
static void run_munged(const char *directory, const char *socket)
{
    char text[4][4200];
    static const char *const names[] = {"key-file", "pid-file", "log-file", "seed-file"};
    char *argv[10] = {(char[]){"munged"}, (char[]){"--foreground"}, (char[]){"--force"}};
    char option[4200];
    int count = 3;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(text[i], sizeof(text[i]), "--%s=%.4000s/munge-%s", names[i], directory, names[i]);
        argv[count++] = text[i];
    }
    snprintf(option, sizeof(option), "--socket=%.4000s", socket);
    argv[count++] = option;
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC),
         STDERR_FILENO); /* --force warns of the directory */
    execv("/usr/sbin/munged", argv);
    _exit(127);
}

static int setup(void **state)
{
    const char *directory = of_munged.directory;
    char path[4200], key[64] = "a key of munge for this test, not a secret at all";
    int fd;

    (void)state;
    peer_directory(&process);
    if (!gba_switch_auth_valid("munge") || access("/usr/sbin/munged", X_OK) != 0)
        return 0;
    of_munged = (struct daemon_process){.pid = -1, .directory = "/tmp/gba-munge-XXXXXX"};
    assert_non_null(mkdtemp(of_munged.directory));
    assert_return_code(chmod(directory, 0755), errno);
    snprintf(path, sizeof(path), "%s/munge-key-file", directory);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, key, sizeof(key)), sizeof(key));
    close(fd);
    snprintf(path, sizeof(path), "%s/munge", directory);
    snprintf(auth, sizeof(auth), "munge:%.240s", path);
    munged = fork();
    assert_return_code(munged, errno);
    if (munged == 0)
        run_munged(directory, path);
    for (unsigned i = 0; access(path, F_OK) != 0; i++) {
        assert_true(i < PEER_TIMEOUT_MS / 10);
        assert_int_equal(waitpid(munged, NULL, WNOHANG), 0);
        usleep(10000);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (munged > 0) {
        kill(munged, SIGTERM);
        waitpid(munged, NULL, 0);
        peer_clean(&of_munged);
    }
    peer_clean(&process);
    return 0;
}

/* The user of the clients: another one than root, if that is possible. */
static uint32_t client_user(void)
{
    return geteuid() == 0 ? USER : geteuid();
}

/* Make a credential of that user. */
static void make(uint32_t user, char text[GBA_SWITCH_CREDENTIAL_MAX + 1])
{
    const uid_t own = geteuid();
    char reason[128] = "";
    bool made;

    if (user != own)
        assert_return_code(seteuid(user), errno);
    made = gba_switch_credential_make(auth, text, reason, sizeof(reason));
    if (user != own)
        assert_return_code(seteuid(own), errno);
    if (!made)
        fail_msg("%s", reason);
}

static void send_credential(int fd, const char *text)
{
    struct gba_switch_message message;
    size_t length = strlen(text), used = 0;

    while (used < length) {
        used += gba_switch_credential_set(&message, text + used, length - used);
        peer_send(fd, &message);
    }
}

/* Greet as root, with a credential. */
static int greet(const char *text)
{
    const struct gba_switch_message hello = {.type = GBA_SWITCH_HELLO,
                                             .code = GBA_SWITCH_PROTOCOL,
                                             .group = GBA_SWITCH_MAGIC,
                                             .generation = 0,
                                             .member = (uint32_t)getpid()};
    int fd = peer_tcp(&process);

    peer_send(fd, &hello);
    send_credential(fd, text);
    return fd;
}

static void start(void)
{
    const char *const options[] = {"--tcp=:0", "--log-level=error", "--auth", auth, NULL};

    if (munged < 0)
        skip(); /* no munged, or built without libmunge */
    peer_start(&process, options);
}

static struct gba_switch_message owner_of(int fd, uint32_t group)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_OWNER, .group = group};

    peer_send(fd, &message);
    return peer_expect(fd, GBA_SWITCH_OWNED);
}

/* The greeting states root. The switch takes the user of the credential. */
TEST_WITH(test_user, setup, teardown, NULL)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 2}, other = group, owned;
    char text[GBA_SWITCH_CREDENTIAL_MAX + 1];
    int client, local;
    uint32_t port;

    start();
    make(client_user(), text);
    client = greet(text);
    peer_expect(client, GBA_SWITCH_WELCOME);
    assert_int_equal(peer_command(client, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    owned = owner_of(client, group.group);
    assert_int_equal(owned.code, GBA_SWITCH_OWNED_AWAY);
    assert_int_equal(owned.generation, client_user());
    local = peer_client(&process, &port); /* on the Unix socket, the administrator */
    assert_int_equal(peer_command(local, GBA_CMD_ALLOC, &other), GBA_RESULT_OK);
    assert_int_equal(owner_of(local, group.group).generation, client_user());
    if (client_user() != geteuid())
        assert_int_equal(owner_of(client, other.group).code, GBA_SWITCH_OWNED_HIDDEN);
    close(local);
    close(client);
}

/* A credential is good once, and nothing else is good: no key, no text, no credential that is cut.
 */
TEST_WITH(test_refused, setup, teardown, NULL)
{
    const uint8_t zero[GBA_SWITCH_SECRET_BYTES] = {0};
    char text[GBA_SWITCH_CREDENTIAL_MAX + 1];
    struct gba_switch_message message;
    int fd;

    start();
    make(client_user(), text);
    fd = greet(text);
    peer_expect(fd, GBA_SWITCH_WELCOME);
    close(fd);
    fd = greet(text);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_CREDENTIAL);
    close(fd);
    make(client_user(), text);
    text[strlen(text) / 2] ^= 1;
    fd = greet(text);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_CREDENTIAL);
    close(fd);
    fd = greet("");
    gba_switch_secret_set(&message, zero); /* of a daemon without a key file */
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_CREDENTIAL);
    close(fd);
    fd = greet("");
    gba_switch_credential_set(&message, text, 1);
    message.tag = GBA_SWITCH_CREDENTIAL_MAX + 1;
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
}

/* A report shows the ports of the user of the credential. */
TEST_WITH(test_status, setup, teardown, NULL)
{
    const struct gba_switch_message status = {
        .type = GBA_SWITCH_STATUS, .code = GBA_SWITCH_PROTOCOL, .group = GBA_SWITCH_MAGIC};
    char text[GBA_SWITCH_CREDENTIAL_MAX + 1], report[4096] = "";
    struct gba_switch_message answer;
    int client, fd;
    uint32_t port;

    start();
    client = peer_client(&process, &port);
    make(client_user(), text);
    fd = peer_tcp(&process);
    peer_send(fd, &status);
    send_credential(fd, text);
    answer = peer_expect(fd, GBA_SWITCH_TEXT);
    assert_in_range(answer.value, 1, sizeof(report) - 1);
    for (size_t used = 0; used < answer.value;) {
        ssize_t count = read(fd, report + used, answer.value - used);

        assert_true(count > 0);
        used += (size_t)count;
    }
    assert_non_null(strstr(report, "\"port\":0"));
    assert_int_equal(strstr(report, "\"user\":") != NULL, client_user() == geteuid());
    close(fd);
    close(client);
}

TEST_MAIN()
