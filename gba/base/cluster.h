/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a cluster: what gba_predict simulates, and what the expected cost of a
 * candidate is computed from. A text file of lines `key = value`; `#` begins a comment. Each key is
 * a field of gba_cluster with the same name. gba_predict(1) explains the keys.
 */
#ifndef GBA_BASE_CLUSTER_H
#define GBA_BASE_CLUSTER_H

#include "gba/types.h"

#define GBA_CLUSTER_TEXT 200u

/*
 * The keys with a number: name, unit, least, most, default. TIME: in the file ns with up to three
 * decimals, in the structure ps; the limits and the default are in ps. COUNT: an integer.
 */
#define GBA_CLUSTER_NUMBERS(X)                           \
    X(extrapolated, COUNT, 0, 1, 0)                      \
    X(hosts, COUNT, 1, 1u << 24, 2)                      \
    X(ranks, COUNT, 1, 65536, 1)                         \
    X(cores, COUNT, 1, 65536, 64)                        \
    X(sockets, COUNT, 1, 64, 2)                          \
    X(hosts_per_machine, COUNT, 1, 65536, 1)             \
    X(store, TIME, 0, GBA_CLUSTER_SECOND, 60000)         \
    X(store_issue, TIME, 0, GBA_CLUSTER_SECOND, 2000)    \
    X(atomic, TIME, 0, GBA_CLUSTER_SECOND, 20000)        \
    X(turn, TIME, 1, GBA_CLUSTER_SECOND, 1500000)        \
    X(turn_more, TIME, 0, GBA_CLUSTER_SECOND, 0)         \
    X(L, TIME, 0, GBA_CLUSTER_SECOND, 900000)            \
    X(o_send, TIME, 0, GBA_CLUSTER_SECOND, 200000)       \
    X(o_recv, TIME, 0, GBA_CLUSTER_SECOND, 200000)       \
    X(poll, TIME, 0, GBA_CLUSTER_SECOND, 50000)          \
    X(poll_more, TIME, 0, GBA_CLUSTER_SECOND, 0)         \
    X(o_next, TIME, 0, GBA_CLUSTER_SECOND, 0)            \
    X(o_local, TIME, 0, GBA_CLUSTER_SECOND, 200000)      \
    X(g, TIME, 0, GBA_CLUSTER_SECOND, 20000)             \
    X(G, TIME, 0, GBA_CLUSTER_SECOND, 80)                \
    X(leaf, COUNT, 1, 1u << 24, 20)                      \
    X(pod, COUNT, 1, 1u << 24, 400)                      \
    X(pod_hops, COUNT, 0, 100, 2)                        \
    X(far_hops, COUNT, 0, 100, 4)                        \
    X(hop, TIME, 0, GBA_CLUSTER_SECOND, 130000)          \
    X(device_issue, TIME, 0, GBA_CLUSTER_SECOND, 100000) \
    X(device_up, TIME, 0, GBA_CLUSTER_SECOND, 500000)    \
    X(device_accept, TIME, 0, GBA_CLUSTER_SECOND, 2000)  \
    X(device_match, TIME, 0, GBA_CLUSTER_SECOND, 50000)  \
    X(device_release, TIME, 0, GBA_CLUSTER_SECOND, 0)    \
    X(device_down, TIME, 0, GBA_CLUSTER_SECOND, 500000)  \
    X(noise_rate, COUNT, 0, 1000000, 0)                  \
    X(noise_length, TIME, 0, GBA_CLUSTER_SECOND, 0)

#define GBA_CLUSTER_SECOND UINT64_C(1000000000000)

/* The length of a message, bytes; between two pollers that load one line, ps. */
#define GBA_CLUSTER_BYTES  64u
#define GBA_CLUSTER_RELOAD 10000u

struct gba_cluster {
#define GBA_CLUSTER_FIELD(name, unit, least, most, value) uint64_t name;
    GBA_CLUSTER_NUMBERS(GBA_CLUSTER_FIELD)
#undef GBA_CLUSTER_FIELD
    char source[GBA_CLUSTER_TEXT]; /* where the numbers are from */
};

/*
 * Times that are a part of `store`, as on the cores that were measured (test_predict_memory), ps:
 * between two stores of a core to lines that other cores poll; the first load of a line that
 * another core has written; of several such loads, which overlap if no third core reads the lines;
 * a store to a core of another socket.
 */
static inline uint64_t gba_cluster_store_next(const struct gba_cluster *cluster)
{
    return cluster->store / 3;
}

static inline uint64_t gba_cluster_load(const struct gba_cluster *cluster)
{
    return 2 * cluster->store / 3;
}

static inline uint64_t gba_cluster_load_next(const struct gba_cluster *cluster)
{
    return cluster->store / 15;
}

static inline uint64_t gba_cluster_store_far(const struct gba_cluster *cluster)
{
    return 13 * cluster->store / 6;
}

/* Set all fields to their defaults. Thread-safe. Not collective. */
void gba_cluster_default(struct gba_cluster *cluster);

/*
 * Set the fields that a file has, by its path, or by its path or the name of an installed one; or
 * one field, as a line `key = value` does. cluster: set before; changed by a file also on an error.
 * message, len: on an error one line with file, line and cause (len bytes at most, terminated).
 * Return GBA_OK, GBA_ERR_IO (the file cannot be read) or GBA_ERR_PARAM. Thread-safe on different
 * structures. Not collective.
 */
gba_status_t gba_cluster_read(const char *path, struct gba_cluster *cluster, char *message,
                              size_t len);
gba_status_t gba_cluster_named(const char *name, struct gba_cluster *cluster, char *message,
                               size_t len);
gba_status_t gba_cluster_set(struct gba_cluster *cluster, const char *key, const char *value,
                             char *message, size_t len);

/* Set the fields of the file of the parameter `cluster`. Returns whether there is a file that is
 * right. message: set to what is wrong with it, else "" (len bytes at most, terminated). */
bool gba_cluster_described(const char *name, struct gba_cluster *cluster, char *message,
                           size_t len);

/* Set all fields as the parameter `cluster` says: its file, if there is one, and what that leaves
 * open as on this host. Logs what is wrong with the file. Thread-safe. Not collective. */
void gba_cluster_find(const char *name, struct gba_cluster *cluster);

#endif
