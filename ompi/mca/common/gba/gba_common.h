/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the components of coll and of scoll need alike: code that knows Open MPI's opal layer and
 * libgba, and neither communicators nor active sets. The PML is the only part of
 * ompi in here. Each component has its own copy, by a
 * convenience library with hidden symbols, so "static" in here is per component.
 *
 * compat.h      what differs between releases of Open MPI
 * companions.c  other components, when the user selected one of ours alone
 * params.c      MCA parameters and performance variables
 * signals.c     the signals of software barriers between hosts, as messages of the PML
 * notices.c     what members of a team tell each other when the device has died
 * report.c      the log, and the totals
 */
#ifndef GBA_COMMON_H
#define GBA_COMMON_H

#include "ompi/mca/common/gba/compat.h"

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

#include "gba/gba.h"

#define GBA_COMMON_PATHS   (GBA_PATH_CALLER + 1)
#define GBA_COMMON_REASONS (-GBA_STATUS_LAST + 1)

/* What one module, or all of them, have done. */
struct gba_common_counts {
    unsigned long long barriers[GBA_COMMON_PATHS]; /* by gba_path_t */
    unsigned long long retries_arrival, retries_release, failovers, reclaims, meetings;
    unsigned long long refused[GBA_COMMON_REASONS]; /* times that a team got no group, by -status */
};

/* What libgba does not keep of one team. */
struct gba_common_tally {
    unsigned long long rounds[GBA_COMMON_PATHS];    /* before it took its path, by gba_path_t */
    unsigned long long refused[GBA_COMMON_REASONS]; /* as above */
};

/* The device of a component; zeros before the first call. */
struct gba_common_device {
    gba_device_t *device;
    gba_status_t status;
    bool tried;
    char detail[256]; /* what libgba said of a device that could not be had, or "" */
};

/* companions.c */

/*
 * Load the other components that an exclusive selection of `self` needs. Called in the component's
 * open only.
 * needed: those that can do everything, ending with NULL; loaded when the user's list names `self`
 *         and lacks them.
 * wanted: the parameter "companions".
 */
void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed, const char *wanted);

/* params.c */

/*
 * Register libgba's parameters for a component. May run several times, and in ompi_info.
 * variables: where they are stored; gets the defaults.
 * offload_after: the default of that one.
 * Returns the index of device_path, for gba_common_param_set.
 */
int gba_common_params_register(const mca_base_component_t *component, gba_params_t *variables,
                               int offload_after);

/* Register the parameter "companions", with the default "all". */
void gba_common_companions_register(const mca_base_component_t *component, const char *help,
                                    char **companions);

/* Register a performance variable for each count. sum: adds them up; called when one is read. */
void gba_common_counts_register(const mca_base_component_t *component,
                                void (*sum)(struct gba_common_counts *sum));

/*
 * Copy what the user has set and check it.
 * message: what is wrong with a parameter, or "".
 * Returns whether the component takes part: all is right, and it is not disabled.
 */
bool gba_common_params_check(const gba_params_t *variables, gba_params_t *params, char *message,
                             size_t len);

/* Whether the user has set this variable, rather than left it at its default. */
bool gba_common_param_set(int index);

/* Add what a team has done, which goes through `path`. team: NULL is allowed. */
void gba_common_counts_add(struct gba_common_counts *sum, const gba_team_t *team, gba_path_t path,
                           const struct gba_common_tally *tally);

/* The members of a team have agreed. path: the one before that. */
void gba_common_tally_note(struct gba_common_tally *tally, const gba_team_t *team, gba_path_t path);

/*
 * What the name of a communicator begins with that belongs to an active set which scoll/gba serves.
 * scoll/mpi makes one for each, and its barrier is in use until the set has agreed on a path of its
 * own: it must not take a barrier group for that.
 */
#define GBA_COMMON_SET_NAME "active set of "

/*
 * Tags of our own, on communicators over which others send as well. Those from 0 on are the user's,
 * and -1 is MPI_ANY_TAG, which matches no negative tag. Open MPI's own begin at -10 in 4.1;
 * from 5.0 on at -7, with those that make communicators (ompi/mca/coll/base/coll_tags.h). So -2 to
 * -6 are left. Other components use tags of their own on communicators of their own.
 */
#define GBA_COMMON_TAG_INTERIM (-4)
#define GBA_COMMON_TAG_SIGNALS (-5)
#define GBA_COMMON_TAG_NOTICES (-6)

/* signals.c */

struct ompi_communicator_t;

/* Where the messages of a team go. */
struct gba_common_messages {
    struct ompi_communicator_t *comm; /* outlives the team */
    int tag[2];                       /* by channel, see gba_remote_group_t */
    const uint32_t *ranks; /* in comm, of each member of the team; NULL: the same numbers */
    const char *label;     /* for people: what messages of ours begin with; a constant */
};

/*
 * The messages of software barriers, for gba_team_create. messages: as long as remote is in use,
 * and that is while a team is created or recovered.
 */
void gba_common_remote_init(gba_remote_t *remote, struct gba_common_messages *messages);

/* notices.c */

/* The high bit of a team's id: which component it belongs to. libgba has the teams of both, and a
 * rank, the next 31 bits, is positive. */
#define GBA_COMMON_IDS_COLL  UINT64_C(0)
#define GBA_COMMON_IDS_SCOLL (UINT64_C(1) << 63)

/*
 * Answer notices from now on: before the first team that could need it.
 * lock: the component's.
 * comm: of the whole job, ranks as in MPI_COMM_WORLD; another one for each component.
 * Returns OMPI_SUCCESS or an error. Thread-safe.
 */
int gba_common_notices_start(opal_mutex_t *lock, struct ompi_communicator_t *comm);

/*
 * Before _stop, where messages still go and all members are past their last round: take in what
 * nobody needs any more, and wait for the answers that are still to come, since some PMLs complain
 * of messages that are left when they end. Half a second at most.
 */
void gba_common_notices_drain(void);

/* No more messages: that communicator ends. */
void gba_common_notices_stop(void);

/*
 * At the end of a barrier that is not on the fast path: let what this process owes others get out.
 * It may leave the round by their notices, and then compute for long, and not call Open MPI; and
 * they have none of its own yet. Where progress of a step in here has brought that end, it is done
 * when that step is over, which is before Open MPI returns to the user. Costs nothing where there
 * is nothing to answer. No lock may be held.
 */
void gba_common_notices_flush(void);

/* For gba_team_attr_t: the id of a new team of which this process is rank 0. Thread-safe. */
uint64_t gba_common_notices_id(uint64_t ids);

/*
 * The device is dead: let all other members know that this one is in the round under way. Does
 * nothing in a round in which it was done; without memory it is done at the next call. Sends
 * nothing itself, so any lock may be held.
 * told: the last round of this team in which it was done; 0 at first.
 * peer: the rank of a member in the communicator.
 */
void gba_common_notices_tell(const gba_team_t *team, uint64_t *told, uint32_t size,
                             int (*peer)(const void *ctx, uint32_t member), const void *ctx);

/* report.c */

/*
 * Open the log of a component and send libgba's there.
 * label: what its lines begin with; a constant. Returns the output stream.
 */
int gba_common_log_open(const char *label, int verbose);

/*
 * Whether the user should be told why a team has this path, and has not been.
 * told: bit -status: the user knows of this reason; covered by the lock.
 * asked: the user wants a device.
 */
bool gba_common_reason_due(uint32_t *told, opal_mutex_t *lock, gba_status_t reason, bool asked);

/*
 * The device of the process, opened at the first call; the outcome of that call is remembered. All
 * components of a process get the same device for the same path.
 * Returns the device, or NULL and the reason in *status. Thread-safe by the lock.
 */
gba_device_t *gba_common_device_get(struct gba_common_device *device, opal_mutex_t *lock,
                                    const char *path, gba_status_t *status);

/* Give it back. */
void gba_common_device_put(struct gba_common_device *device);

/* Show what this process and the device have done. who: "rank 0". */
void gba_common_totals(int output, const char *who, const struct gba_common_counts *sum,
                       const struct gba_common_device *device);

#endif
