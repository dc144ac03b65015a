/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include "gba/bootstrap/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/bootstrap/settings.h"

#define PREFIX     "gba1/"
#define PREFIX_LEN 5u
#define HEX_LEN    (2u * GBA_BOOT_SECRET)

/* AF_UNSPEC if the variable is unset. */
static gba_status_t family_of(int *family, char *message, size_t len)
{
    const char *text = gba_boot_env("GBA_BOOTSTRAP_FAMILY");

    *family = AF_UNSPEC;
    if (text == NULL)
        return GBA_OK;
    if (0 == strcmp(text, "inet"))
        *family = AF_INET;
    else if (0 == strcmp(text, "inet6"))
        *family = AF_INET6;
    else {
        snprintf(message, len, "GBA_BOOTSTRAP_FAMILY=%.32s is invalid; allowed: inet, inet6", text);
        return GBA_ERR_PARAM;
    }
    return GBA_OK;
}

static void set_address(struct gba_boot_address *address, const struct sockaddr *found)
{
    address->len =
        AF_INET == found->sa_family ? sizeof address->socket.inet : sizeof address->socket.inet6;
    memcpy(&address->socket, found, address->len);
    if (AF_INET == found->sa_family)
        address->loopback = 127 == ntohl(address->socket.inet.sin_addr.s_addr) >> 24;
    else
        address->loopback = IN6_IS_ADDR_LOOPBACK(&address->socket.inet6.sin6_addr);
}

static void set_loopback(struct gba_boot_address *address, int family)
{
    const struct sockaddr_in inet = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    if (AF_INET6 == family)
        set_address(address, (const struct sockaddr *)&inet6);
    else
        set_address(address, (const struct sockaddr *)&inet);
}

/* Whether the address can be used; those of one link mean something else on each host. name: NULL:
 * any interface that other hosts can reach. */
static bool usable(const struct ifaddrs *entry, const char *name, int family)
{
    const unsigned outward = IFF_UP | IFF_RUNNING;
    const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)(const void *)entry->ifa_addr;

    if (entry->ifa_addr == NULL || 0 == (entry->ifa_flags & IFF_UP))
        return false;
    if (name != NULL ? 0 != strcmp(entry->ifa_name, name)
                     : outward != (entry->ifa_flags & (outward | IFF_LOOPBACK)))
        return false;
    if (AF_INET6 == entry->ifa_addr->sa_family && IN6_IS_ADDR_LINKLOCAL(&inet6->sin6_addr))
        return false;
    return entry->ifa_addr->sa_family == family;
}

static bool set_interface(struct gba_boot_address *address, const struct ifaddrs *list,
                          const char *name, int family)
{
    for (const struct ifaddrs *entry = list; entry != NULL; entry = entry->ifa_next)
        if (usable(entry, name, family)) {
            set_address(address, entry->ifa_addr);
            return true;
        }
    return false;
}

/* name: NULL: any interface that other hosts can reach. */
static gba_status_t choose_interface(struct gba_boot_address *address, const char *name, int family,
                                     char *message, size_t len)
{
    const char *of_family = AF_INET == family    ? " of family inet"
                            : AF_INET6 == family ? " of family inet6"
                                                 : "";
    struct ifaddrs *list;
    bool found;

    if (0 != getifaddrs(&list)) {
        snprintf(message, len, "cannot list the network interfaces: %s", strerror(errno));
        return GBA_ERR_IO;
    }
    found = (AF_INET6 != family && set_interface(address, list, name, AF_INET)) ||
            (AF_INET != family && set_interface(address, list, name, AF_INET6));
    freeifaddrs(list);
    if (found)
        return GBA_OK;
    if (name == NULL)
        snprintf(message, len, "no interface other than loopback is up and has an address%s",
                 of_family);
    else
        snprintf(message, len,
                 "GBA_BOOTSTRAP_IFNAME=%.32s: no interface of that name is up and has an address%s",
                 name, of_family);
    return GBA_ERR_PARAM;
}

gba_status_t gba_boot_address_choose(struct gba_boot_address *address, bool outward, char *message,
                                     size_t len)
{
    const char *name = gba_boot_env("GBA_BOOTSTRAP_IFNAME");
    int family;

    if (GBA_OK != family_of(&family, message, len))
        return GBA_ERR_PARAM;
    if (name != NULL || outward)
        return choose_interface(address, name, family, message, len);
    set_loopback(address, family);
    return GBA_OK;
}

gba_status_t gba_boot_address_local(struct gba_boot_address *address, int fd)
{
    struct gba_boot_address local = {.len = sizeof local.socket};

    if (0 != getsockname(fd, &local.socket.any, &local.len))
        return GBA_ERR_IO;
    set_address(address, &local.socket.any);
    /* At the same place in both families. */
    address->socket.inet.sin_port = 0;
    return GBA_OK;
}

bool gba_boot_listen(struct gba_boot_address *address, struct gba_descriptor *listener)
{
    int fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd >= 0 && 0 == bind(fd, &address->socket.any, address->len) &&
        0 == listen(fd, SOMAXCONN) && 0 == getsockname(fd, &address->socket.any, &address->len) &&
        gba_descriptor_keep(listener, fd))
        return true;
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return false;
}

static uint16_t port_of(const struct gba_boot_address *address)
{
    return ntohs(AF_INET == address->socket.any.sa_family ? address->socket.inet.sin_port
                                                          : address->socket.inet6.sin6_port);
}

static bool host_of(const struct gba_boot_address *address, char text[INET6_ADDRSTRLEN])
{
    const void *from = AF_INET == address->socket.any.sa_family
                           ? (const void *)&address->socket.inet.sin_addr
                           : (const void *)&address->socket.inet6.sin6_addr;

    return inet_ntop(address->socket.any.sa_family, from, text, INET6_ADDRSTRLEN) != NULL;
}

gba_status_t gba_boot_address_print(const struct gba_boot_address *address,
                                    gba_bootstrap_uid_t *uid)
{
    char host[INET6_ADDRSTRLEN];
    size_t used = PREFIX_LEN;

    if (!host_of(address, host))
        return GBA_ERR_IO;
    memset(uid, 0, sizeof *uid);
    memcpy(uid->text, PREFIX, PREFIX_LEN);
    for (unsigned i = 0; i < GBA_BOOT_SECRET; i++, used += 2)
        snprintf(uid->text + used, sizeof uid->text - used, "%02x", address->secret[i]);
    snprintf(uid->text + used, sizeof uid->text - used, "/%s/%u", host, port_of(address));
    return GBA_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 to 65535, digits only; 0: not a port. */
static uint16_t parse_port(const char *text)
{
    uint32_t port = 0;

    for (; *text >= '0' && *text <= '9' && port <= UINT16_MAX; text++)
        port = 10 * port + (uint32_t)(*text - '0');
    return '\0' == *text && port <= UINT16_MAX ? (uint16_t)port : 0;
}

gba_status_t gba_boot_address_parse(const char *text, struct gba_boot_address *address)
{
    struct sockaddr_in inet = {.sin_family = AF_INET};
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6};
    char host[INET6_ADDRSTRLEN];
    const char *slash;
    uint16_t port;

    if (strnlen(text, GBA_BOOTSTRAP_UID_LEN) >= GBA_BOOTSTRAP_UID_LEN ||
        0 != strncmp(text, PREFIX, PREFIX_LEN))
        return GBA_ERR_PARAM;
    text += PREFIX_LEN;
    for (unsigned i = 0; i < GBA_BOOT_SECRET; i++, text += 2) {
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

        if (low < 0)
            return GBA_ERR_PARAM;
        address->secret[i] = (uint8_t)(high << 4 | low);
    }
    if ('/' != *text++ || (slash = strchr(text, '/')) == NULL ||
        (size_t)(slash - text) >= sizeof host || 0 == (port = parse_port(slash + 1)))
        return GBA_ERR_PARAM;
    memcpy(host, text, (size_t)(slash - text));
    host[slash - text] = '\0';
    inet.sin_port = inet6.sin6_port = htons(port);
    if (1 == inet_pton(AF_INET, host, &inet.sin_addr))
        set_address(address, (const struct sockaddr *)&inet);
    else if (1 == inet_pton(AF_INET6, host, &inet6.sin6_addr))
        set_address(address, (const struct sockaddr *)&inet6);
    else
        return GBA_ERR_PARAM;
    return GBA_OK;
}

void gba_boot_address_name(const struct gba_boot_address *address, char *text, size_t len)
{
    char host[INET6_ADDRSTRLEN] = "?";

    (void)host_of(address, host);
    snprintf(text, len, "%s port %u", host, port_of(address));
}

gba_status_t gba_bootstrap_uid_parse(const char *text, gba_bootstrap_uid_t *uid)
{
    struct gba_boot_address address;

    if (GBA_OK != gba_boot_address_parse(text, &address))
        return GBA_ERR_PARAM;
    memset(uid, 0, sizeof *uid);
    memcpy(uid->text, text, strlen(text));
    return GBA_OK;
}
