/* SPDX-License-Identifier: BSD-3-Clause */
/* A real gba-switchd as a child process, and clients that send it messages one by one. Every wait
 * ends after PEER_TIMEOUT_MS, as a failure. */
#ifndef GBA_TESTS_PEER_H
#define GBA_TESTS_PEER_H

#include <sys/types.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/core/protocol.h"
#include "tests/limit.h"
#include "tests/suite.h"

#define PEER_TIMEOUT_MS test_limit(60000)

#define PEER_KEY       "000102030405060708090a0b0c0d0e0f" /* of peer_start_tcp */
#define PEER_OTHER_KEY "000102030405060708090a0b0c0d0e0e"

struct daemon_process {
    pid_t pid;
    int out;          /* its standard output, after the ready line */
    char socket[108]; /* path of its Unix socket */
    char key[80];     /* path of the key file, if it was made */
    char directory[32];
    uint16_t tcp_port; /* 0: no TCP */
};

/* Make a directory for sockets and keys in the current one. peer_clean kills the daemon, if it
 * still runs, and removes the directory with all in it. */
void peer_directory(struct daemon_process *process);
void peer_clean(struct daemon_process *process);

/* A test of cmocka with a setup and a teardown of these, on `process`. */
#define PEER_TEST(test, setup, teardown) TEST_WITH(test, setup, teardown, &process)
int peer_begin(void **state);         /* a directory, and no daemon yet */
int peer_begin_started(void **state); /* a daemon on its Unix socket */
int peer_end(void **state);
int peer_end_alive(void **state); /* fails if a daemon that runs has not survived the test */

/* Write a key file with that text and mode into the directory. */
void peer_write_key(struct daemon_process *process, const char *text, unsigned mode);

/* Start gba-switchd, or the program that GBA_TEST_SWITCHD in the environment names, with --listen
 * and these options (the last one NULL), and wait until it is ready. */
void peer_start(struct daemon_process *process, const char *const *options);
/* The same with PEER_KEY, and with TCP on any free port of the loopback interface. The options
 * end with the first NULL. */
void peer_start_tcp(struct daemon_process *process, const char *first, const char *second,
                    const char *third);
/* Start a daemon that ends before it is ready. Returns its exit code. */
int peer_start_fails(struct daemon_process *process, const char *const *options);
/* Send it the signal and wait for it. Returns the exit code, or -1 if a signal ended it. */
int peer_stop(struct daemon_process *process, int signal);

/* Connect, or fail the test. */
int peer_unix(const struct daemon_process *process);
int peer_tcp(const struct daemon_process *process);

/* Connect to the Unix socket as a client, with the greeting. *port: its number. */
int peer_client(const struct daemon_process *process, uint32_t *port);
/* Connect by TCP as a client, with that key. */
int peer_tcp_client(const struct daemon_process *process, const char *key, uint32_t *port);

void peer_send(int fd, const struct gba_switch_message *message);
/* Receive the next message. Returns false if the connection was closed instead. */
bool peer_receive(int fd, struct gba_switch_message *message);
/* Receive a message of that type, or fail. */
struct gba_switch_message peer_expect(int fd, uint8_t type);
/* Fail unless the next message is an ERROR of that code, and then the connection is closed. */
void peer_expect_refusal(int fd, unsigned refusal);

void peer_hello(int fd);
/* One command; returns its RESULT, after which *mailbox is the new mailbox. */
uint32_t peer_command(int fd, uint32_t command, struct gba_switch_message *mailbox);
uint64_t peer_read(int fd, uint32_t address, uint8_t width);
void peer_write(int fd, uint32_t address, uint8_t width, uint64_t value);
/* group: with the number and the generation of an allocation. */
void peer_arrive(int fd, const struct gba_switch_message *group, uint32_t member,
                 uint32_t sequence);

/* Allocate a group whose member m is client m, and arm it. Round 1 is next. */
struct gba_switch_message peer_group(const int *client, uint32_t members);

/* Connect n clients to the Unix socket; close n connections. */
void peer_clients(const struct daemon_process *process, int *client, unsigned n);
void peer_close(const int *client, unsigned n);

/* Wait until the daemon has executed all messages of the connection. */
void peer_settle(int fd);

/* Request a STATUS of that form (GBA_SWITCH_STATUS_*), and receive all its text, to be freed.
 * *absent: the number in it. */
char *peer_status(int fd, uint16_t form, uint32_t *absent);

/* Resident memory of the daemon, in KiB. */
unsigned peer_memory(const struct daemon_process *process);

/* Fail if that memory has grown from `before` by more than `limit`, both in KiB. Under
 * AddressSanitizer it does not fail, because freed memory is kept there. */
void peer_expect_memory(const struct daemon_process *process, unsigned before, unsigned limit);

/* Open descriptors of the daemon. */
unsigned peer_descriptors(const struct daemon_process *process);

#endif
