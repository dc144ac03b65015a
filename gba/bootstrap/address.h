/* SPDX-License-Identifier: BSD-3-Clause */
/* Unique ids and the addresses in them. */
#ifndef GBA_BOOTSTRAP_ADDRESS_H
#define GBA_BOOTSTRAP_ADDRESS_H

#include <netinet/in.h>

#include "gba/bootstrap.h"
#include "gba/bootstrap/wire.h"

struct gba_boot_address {
    uint8_t secret[GBA_BOOT_SECRET];
    union {
        struct sockaddr any;
        struct sockaddr_in inet;
        struct sockaddr_in6 inet6;
    } socket;
    socklen_t len;
    bool loopback;
};

/*
 * Choose the address to listen on, by GBA_BOOTSTRAP_IFNAME and GBA_BOOTSTRAP_FAMILY; its port is 0.
 * If GBA_BOOTSTRAP_IFNAME is unset: of the first interface that is up and not loopback (outward),
 * or loopback. Returns GBA_OK, GBA_ERR_PARAM or GBA_ERR_IO; message: set on error (len bytes at
 * most).
 */
gba_status_t gba_boot_address_choose(struct gba_boot_address *address, bool outward, char *message,
                                     size_t len);

/* Take the address of this end of a connection, with port 0. Returns GBA_OK or GBA_ERR_IO. */
gba_status_t gba_boot_address_local(struct gba_boot_address *address, int fd);

/* Listen on the address, and set its port. listener: set on success; does not block, and exec
 * closes it. Returns false, with errno set, on failure. */
bool gba_boot_listen(struct gba_boot_address *address, struct gba_descriptor *listener);

/* Print an id. Returns GBA_OK or GBA_ERR_IO. */
gba_status_t gba_boot_address_print(const struct gba_boot_address *address,
                                    gba_bootstrap_uid_t *uid);

/* Read an id. Returns GBA_OK or GBA_ERR_PARAM. */
gba_status_t gba_boot_address_parse(const char *text, struct gba_boot_address *address);

/* Print address and port without the secret, for messages. */
void gba_boot_address_name(const struct gba_boot_address *address, char *text, size_t len);

#endif
