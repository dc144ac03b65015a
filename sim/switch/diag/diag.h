/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of gba_diag to a gba-switchd. */
#ifndef GBA_SIM_SWITCH_DIAG_DIAG_H
#define GBA_SIM_SWITCH_DIAG_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "gba/dev/device_path.h"
#include "sim/switch/core/protocol.h"

/* The command line. */
struct diag {
    const char *path;
    struct gba_dev_path device; /* what the path says: GBA_DEV_SWITCH */
    const char *key_file;       /* NULL: that of the environment */
    bool json;
    unsigned timeout; /* seconds */
    unsigned late;    /* seconds after which a late member counts as absent; 0: never */
};

/* Print a message, or keep it after gba_diag_keep. Returns -1. */
int gba_diag_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on keep the first message, for JSON. */
void gba_diag_keep(void);

/* Print the kept message as JSON. Prints nothing if there is none. code: the exit status. */
void gba_diag_print_kept(int code);

/*
 * Connect to the switch and send the greeting, and over TCP the key. Returns a descriptor, or -1
 * (printed). Blocks for diag->timeout at most, and as long as the resolver does. Later sends and
 * receives fail when they make no progress for that time.
 */
int gba_diag_connect(const struct diag *diag, const struct gba_switch_message *greeting);

/* Send a message. Returns whether it was sent; prints nothing. */
bool gba_diag_send(int fd, const struct gba_switch_message *message);

/* Receive a message of that type. Returns false (printed) for another message, or none. */
bool gba_diag_receive(int fd, uint8_t type, struct gba_switch_message *message);

/* Receive so many bytes. Returns false, and prints nothing, if the connection ends or nothing comes
 * in time. */
bool gba_diag_receive_bytes(int fd, void *buffer, size_t bytes);

#endif
