/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstraps: the exchange that a team needs (gba_oob_t), for programs without MPI. They are in a
 * library of their own, libgba_bootstrap; pkg-config knows it as gba-bootstrap.
 *
 * - PMIx, "pmix": a program that mpirun, prterun, srun or another PMIx launcher has started.
 * - Unique id, "uid": any processes that reach one of them by TCP. A process makes an id, and
 *   serves the exchange in a thread. The id is a line of text, passed to the members by any means.
 *   It contains a random secret of 128 bits. A connection that does not show the secret is closed.
 *   Any process that has the id can join, so keep the id from other users. Messages are not
 *   encrypted.
 * - An MPI communicator, "mpi", by default MPI_COMM_WORLD: a duplicate of it is used.
 *   A program of Open MPI's OpenSHMEM has MPI, too.
 *
 * The last one is a plug-in, for the Open MPI with which libgba_bootstrap was built. It is loaded
 * when it is chosen; the library itself does not link with MPI. If the program has not initialised
 * MPI, the bootstrap does, and finalizes it when the last such bootstrap is destroyed. A program
 * that uses MPI itself initialises it before. The calls of the bootstrap are calls of MPI, for
 * which the thread level of the program must allow.
 *
 * Environment variables. A program that runs with the rights of another user (AT_SECURE) ignores
 * them.
 * - GBA_BOOTSTRAP: "pmix", "uid", "mpi", or a plug-in (gba/bootstrap_plugin.h), where the
 *   program leaves the choice open.
 * - GBA_BOOTSTRAP_UID, GBA_BOOTSTRAP_RANK, GBA_BOOTSTRAP_SIZE: the id, and this member, where the
 *   program gives none.
 * - GBA_BOOTSTRAP_IFNAME: the network interface on which gba_bootstrap_uid_get listens, such as
 *   "eth0". Unset: the loopback interface, which only processes of the same host reach. Also the
 *   interface of gba_bootstrap_remote_open. Unset: that to the process that made the unique id, or
 *   with the other bootstraps the first one that is up and not loopback.
 * - GBA_BOOTSTRAP_FAMILY: "inet" or "inet6". Unset: inet, or inet6 if the interface has no address
 *   of inet. Link-local addresses of inet6 are not used.
 * - GBA_BOOTSTRAP_TIMEOUT: seconds that the members of a call wait for the last of them, 1 to
 *   2592000, by default 300; 0: no limit. The same in all processes. With a unique id the process
 *   that made it reports the missing ranks; the other processes wait 10 seconds longer for the
 *   report.
 *
 * gba_bootstrap_team_create makes a team of all members, with its device and its connections
 * between hosts, whose barriers survive the death of the device. A program that needs other
 * attributes calls gba_global_device_get with the job of gba_bootstrap_job, then
 * gba_bootstrap_remote_open and gba_team_create itself, and delivers the failure notifications of
 * gba/runtime.h.
 */
#ifndef GBA_BOOTSTRAP_H
#define GBA_BOOTSTRAP_H

#include "gba/device.h"
#include "gba/params.h"
#include "gba/runtime.h"
#include "gba/team.h"
#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which the members of a program find each other. */
typedef enum gba_bootstrap_kind {
    /* By GBA_BOOTSTRAP. If that is unset: MPI if the program gives a communicator, else by unique
     * id if there is one, else PMIx. */
    GBA_BOOTSTRAP_AUTO = 0,
    GBA_BOOTSTRAP_PMIX = 1,
    GBA_BOOTSTRAP_UID = 2,
    GBA_BOOTSTRAP_MPI = 3
} gba_bootstrap_kind_t;

#define GBA_BOOTSTRAP_UID_LEN 128

/* A unique id: printable text, terminated, the rest zeros. It can be copied and sent as it is. */
typedef struct gba_bootstrap_uid {
    char text[GBA_BOOTSTRAP_UID_LEN]; /* gba1/SECRET/ADDRESS/PORT */
} gba_bootstrap_uid_t;

/* What serves the members of one unique id, from gba_bootstrap_uid_get. */
typedef struct gba_bootstrap_root gba_bootstrap_root_t;
/* This process as a member, from gba_bootstrap_init. */
typedef struct gba_bootstrap gba_bootstrap_t;

/*
 * Make a unique id, and serve its members in a thread of this process, until all have left. The
 * process may be a member. One id is for one gba_bootstrap_init of each member.
 * gba_bootstrap_root_close ends the thread and frees the root.
 * uid, root: set on GBA_OK. message, len: set on error to one line with the cause (len bytes at
 * most, terminated). Returns GBA_OK; GBA_ERR_PARAM: an environment variable is invalid, or the
 * interface has no address of that family; GBA_ERR_NOMEM; GBA_ERR_IO: no socket, thread or random
 * numbers. Thread-safe. Not collective.
 */
GBA_EXPORT gba_status_t gba_bootstrap_uid_get(gba_bootstrap_uid_t *uid, gba_bootstrap_root_t **root,
                                              char *message, size_t len);

/*
 * Stop serving a unique id, and free its root. A member that is this process leaves
 * (gba_bootstrap_destroy) before.
 * root: may be NULL. wait: first wait until all members have joined and left, or until the exchange
 * has failed. The timeout for members that do not join begins here at the latest. false: stop now;
 * members get the rest of a reply, unless they read nothing for a second, and later calls of the
 * remaining members fail. Thread-safe on different roots. Not collective. Blocks if wait is true.
 */
GBA_EXPORT void gba_bootstrap_root_close(gba_bootstrap_root_t *root, bool wait);

/* Read an id from text. text: such as a line of a file, without its newline. uid: set on GBA_OK.
 * Returns GBA_OK; GBA_ERR_PARAM: not the text of an id. Thread-safe. Not collective. */
GBA_EXPORT gba_status_t gba_bootstrap_uid_parse(const char *text, gba_bootstrap_uid_t *uid);

/* How this process joins the other members. */
typedef struct gba_bootstrap_attr {
    gba_bootstrap_kind_t kind;
    const gba_bootstrap_uid_t *uid; /* GBA_BOOTSTRAP_UID only; NULL: from the environment */
    uint32_t rank, size; /* GBA_BOOTSTRAP_UID only; a size of 0: both from the environment */
    /* GBA_BOOTSTRAP_MPI only: an MPI_Comm, of an intracommunicator; NULL: MPI_COMM_WORLD. It is
     * used during gba_bootstrap_init only. */
    const void *mpi_comm;
    /* This member takes part by a GPU (gba/gpu.h). For messages: its name gets " (gpu)". */
    bool gpu;
} gba_bootstrap_attr_t;

/*
 * Join the other members. Makes the status page of this process [gba/stall.h] unless it has one.
 * attr: NULL is as all zeros. bootstrap: set on GBA_OK. message, len: set on error to one line with
 * the cause, and with the missing ranks if it is a unique id that timed out (len bytes at most,
 * terminated).
 * Returns GBA_OK; GBA_ERR_PARAM: no id, an invalid one, an invalid rank or environment variable, or
 * a rank that another process has, or a communicator that is none; GBA_ERR_UNSUPPORTED: the
 * bootstrap is not installed, PMIx is chosen and there is no launcher with PMIx, the program uses
 * another MPI than the plug-in, or MPI is finalized already; GBA_ERR_REFUSED: the
 * other end does not accept the secret; GBA_ERR_TIMEOUT; GBA_ERR_VERSION: members have different
 * versions of libgba (gba_wire_version); GBA_ERR_NOMEM; GBA_ERR_OOB: the connection, PMIx or
 * MPI failed.
 * Thread-safe with unique ids; else all members make their calls in the same order. Collective.
 * Blocks.
 */
GBA_EXPORT gba_status_t gba_bootstrap_init(const gba_bootstrap_attr_t *attr,
                                           gba_bootstrap_t **bootstrap, char *message, size_t len);

/*
 * Get the exchange, for gba_team_create and the program itself. Its operations are complete when
 * they return. One of them at a time; in each all members name the same operation and length, and a
 * length is at most 16 MiB. After an error all further ones fail. Returns the exchange, never NULL.
 * The pointer is valid until gba_bootstrap_destroy. Thread-safe. Not collective.
 */
GBA_EXPORT const gba_oob_t *gba_bootstrap_oob(const gba_bootstrap_t *bootstrap);

/*
 * Broadcast over the exchange. buffer: of the member `root`; set on the other members on GBA_OK.
 * bytes: 0 to 16 MiB. root: below the number of members. Returns GBA_OK or GBA_ERR_OOB. Only the
 * thread that makes the calls of the exchange calls it. Collective. Blocks.
 */
GBA_EXPORT gba_status_t gba_bootstrap_bcast(gba_bootstrap_t *bootstrap, void *buffer, size_t bytes,
                                            uint32_t root);

/* Wait for all members, over the exchange. Returns GBA_OK or GBA_ERR_OOB. Only the thread that
 * makes the calls of the exchange calls it. Collective. Blocks. */
GBA_EXPORT gba_status_t gba_bootstrap_barrier(gba_bootstrap_t *bootstrap);

/* Get the cause of the last error of the exchange (GBA_ERR_OOB), or of a connection between hosts
 * (GBA_ERR_IO of a barrier). Returns one line, with the missing ranks if a unique id timed out,
 * with the rank and the address of a member if a connection failed; "" before any error. The
 * pointer is valid until gba_bootstrap_destroy. Only the thread that makes the calls of the
 * exchange calls it. Not collective. */
GBA_EXPORT const char *gba_bootstrap_message(const gba_bootstrap_t *bootstrap);

/*
 * Advance MPI, for gba_runtime_t.progress: its networks may
 * need this process to complete a call of the exchange that another member is still in. Without it
 * that member may never arrive at the barrier. Does nothing with PMIx and unique ids. bootstrap: a
 * gba_bootstrap_t. Returns 0, or with MPI -1: MPI does not tell whether it has served another
 * process, so a waiting thread does not sleep. Only the thread that makes the calls of the exchange
 * calls it. Not collective. Never blocks.
 */
GBA_EXPORT int gba_bootstrap_progress(void *bootstrap);

/* Get a name for gba_device_attr_t.job. Returns a random name, the same on all members; never NULL,
 * valid until gba_bootstrap_destroy. Thread-safe. Not collective. */
GBA_EXPORT const char *gba_bootstrap_job(const gba_bootstrap_t *bootstrap);

/*
 * Make the transport of signals between hosts of one team, for gba_team_attr_t.remote: one TCP
 * connection between two members that signal each other, made in the first barrier that needs it.
 * Each member listens on an address of its own (GBA_BOOTSTRAP_IFNAME, GBA_BOOTSTRAP_FAMILY), and
 * accepts connections only in barriers. A connection that does not show a secret, which the members
 * exchange, is closed. Messages are not encrypted. No thread is started.
 * bootstrap: whose exchange makes the team; it lives longer than the transport, which writes
 * gba_bootstrap_message. remote: set on GBA_OK; NULL if all members are on one host, by host name,
 * user and namespaces: none is needed, and no socket is opened. It serves one team; two teams need
 * two. message, len: set on error to one line with the cause (len bytes at most, terminated).
 * Returns GBA_OK; GBA_ERR_PARAM: no such interface or address; GBA_ERR_MISMATCH: addresses of
 * different families; GBA_ERR_IO: no socket or random numbers; GBA_ERR_NOMEM; GBA_ERR_OOB: the
 * exchange failed. Thread-safe on different bootstraps. Collective. Blocks.
 */
GBA_EXPORT gba_status_t gba_bootstrap_remote_open(gba_bootstrap_t *bootstrap, gba_remote_t **remote,
                                                  char *message, size_t len);

/* Close the connections, and free the transport. The team is destroyed before. remote: may be NULL.
 * Thread-safe on different transports. Not collective. Never blocks. */
GBA_EXPORT void gba_bootstrap_remote_close(gba_remote_t *remote);

/*
 * Make a team of all members, and what it needs: open the device, which each member chooses as a
 * process of MPI does (parameters device_path, device_list, device_map), connect the hosts, and
 * agree on a path. If the devices of the members are at different switches, or a member cannot open
 * the one of its choice, the team goes to the first switch of rank 0 at which all have a device,
 * else it uses none.
 *
 * gba_barrier makes a barrier. If the device dies in it, the members complete it by the exchange,
 * and agree on another path, later perhaps at another switch at which all have a device; at other
 * times they agree on what is due (gba_team_due). If the device is dead, the barrier fails if a
 * member that has completed it makes another call of the exchange before its next barrier of the
 * team. GBA_ERR_BUSY of a barrier: a thread of another member makes barriers of another team of the
 * bootstrap. gba_bootstrap_message has more of the cause of an error than gba_status_text. Only the
 * thread that makes the calls of the exchange makes barriers, and calls gba_team_destroy. With a
 * device all members wait there for the last one, because the death of the device may keep it in
 * the last barrier; without one, and after an error of gba_barrier or of GPU members, nobody waits.
 *
 * params: NULL: gba_params_environment; else copied, and its strings live as long as the team.
 * team: set on GBA_OK; the bootstrap lives longer. message, len: set on error to one line with the
 * cause (len bytes at most, terminated). Returns GBA_OK (the path may be GBA_PATH_FALLBACK, with
 * barriers over the exchange); GBA_ERR_PARAM: an environment variable is invalid; GBA_ERR_REFUSED:
 * another member has an error of its own; GBA_ERR_NOMEM; GBA_ERR_OOB: the exchange failed. The
 * other errors are those of gba_bootstrap_remote_open. Thread-safe on different bootstraps.
 * Collective. Blocks.
 */
GBA_EXPORT gba_status_t gba_bootstrap_team_create(gba_bootstrap_t *bootstrap,
                                                  const gba_params_t *params, gba_team_t **team,
                                                  char *message, size_t len);

/* Find out whether the members on this host share processors, for gba_team_attr_t.oversubscribed.
 * Returns true if they are more than the processors that they may use together, by their affinities
 * and quotas (gba_processors_get), when gba_bootstrap_init ran. Thread-safe. Not collective. */
GBA_EXPORT bool gba_bootstrap_oversubscribed(const gba_bootstrap_t *bootstrap);

/* Make an id for gba_team_attr_t.id. Returns a random number other than 0, or 0 if the system has
 * no random numbers. Thread-safe. Not collective. */
GBA_EXPORT uint64_t gba_bootstrap_team_id(void);

/* Leave the exchange, and free it. Sends nothing to other members and does not wait for them,
 * except in PMIx_Finalize or MPI_Finalize where it calls these. With MPI it calls MPI_Comm_free,
 * unless MPI is finalized. bootstrap: may be NULL. Thread-safe on different bootstraps. Not
 * collective. */
GBA_EXPORT void gba_bootstrap_destroy(gba_bootstrap_t *bootstrap);

#ifdef __cplusplus
}
#endif

#endif
