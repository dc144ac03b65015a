/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the coll and scoll components: code that knows Open MPI's opal layer and
 * libgba, and neither communicators nor active sets. The PML is the only part of ompi in here. Each
 * component links its own copy from a convenience library with hidden symbols, so "static" is per
 * component.
 *
 * compat.h         differences between releases of Open MPI
 * abi.c            compares this Open MPI with the one that the component was compiled with
 * companions.c     other components, when the user selected one of ours alone
 * params.c         MCA parameters and performance variables
 * transport.c      the signals of software barriers between hosts, as messages of the PML
 * notifications.c  failure notifications between the members of a team
 * device.c         the device, and the reports about it
 * once.c           lines that one process prints for all processes on its host
 * report.c         the log, and the totals
 */
#ifndef GBA_COMMON_H
#define GBA_COMMON_H

#include "ompi/mca/common/gba/compat.h"

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

#include "gba/gba.h"

#define GBA_COMMON_PATHS   (GBA_PATH_FALLBACK + 1)
#define GBA_COMMON_REASONS (-GBA_STATUS_LAST + 1)

/* The measurements of every n-th blocking barrier; n is the parameter "sample" of coll. */
struct gba_common_waits {
    unsigned long long sampled, ns, max_ns; /* max_ns: of the longest wait */
};

/* The counts of one module, or of all modules. */
struct gba_common_counts {
    unsigned long long barriers[GBA_COMMON_PATHS]; /* by gba_path_t */
    unsigned long long retries_arrival, retries_release, failovers, reclaims, renegotiations;
    unsigned long long refused[GBA_COMMON_REASONS]; /* times that a team got no group, by -status */
    struct gba_common_waits waits;
};

/* The counts of one team that libgba does not keep. */
struct gba_common_tally {
    unsigned long long rounds[GBA_COMMON_PATHS];    /* before the current path, by gba_path_t */
    unsigned long long refused[GBA_COMMON_REASONS]; /* as above */
    uint64_t agreements;                            /* whose refusals are counted */
};

/* The device of a component; all zero before the first call. */
struct gba_common_device {
    gba_device_t *device;
    gba_status_t status;
    bool tried;
    bool used;                 /* it has served a team of this process */
    uint32_t reasons_reported; /* bit -status: this reason has been reported */
    char detail[256];          /* libgba's line about a device that failed to open, or "" */
    /* Of a process that chooses among several devices; see choice.c: */
    gba_candidates_t candidates;              /* count 0 or 1: no choice */
    gba_device_t *others[GBA_CANDIDATES_MAX]; /* the open candidates, the chosen one included */
    bool others_tried;
    uint32_t others_ms; /* spent on opening them */
    uint32_t chosen;    /* index */
    bool replaced; /* the chosen device could not be opened, and `device` is another candidate */
    char why[160]; /* the reason of the choice, in words */
};

/* abi.c */

/* A class of Open MPI, and the size of its objects when the component was compiled. */
struct gba_common_class {
    const char *name;
    const opal_class_t *cls;
    size_t size; /* bytes */
};
#define GBA_COMMON_CLASS(type)               \
    {                                        \
#type, OBJ_CLASS(type), sizeof(type) \
    }

/*
 * Compare the sizes of classes; the list ends with a NULL name. To be called in a component's open,
 * before any access to such an object.
 * message: receives the first difference, or "".
 * Returns whether all sizes are equal. Thread-safe, not collective.
 */
bool gba_common_abi_check(const struct gba_common_class *classes, char *message, size_t len);

/* processors.c */

/*
 * Publish the processors of this process, if they are fewer than the processes of the job on this
 * host. To be called in a component's open, after gba_common_open, while the modex is open.
 */
void gba_common_processors_publish(void);

/*
 * Whether the job has more processes on this host than they may use processors together. To be
 * called after MPI_Init's exchange. The first call reads the modex. Thread-safe.
 */
bool gba_common_processors_shared(void);

/* choice.c: the choice among several devices of the host, if the user has not set device_path. */

/*
 * Find the candidates, and publish the distances of this process to them, if there are several.
 * A single candidate is the device. To be called in a component's open, after
 * gba_common_open. publish: the modex is still open.
 */
void gba_common_choice_open(bool publish);

/* Choose a device, after MPI_Init's exchange: set device_path of the parameters. With the lock
 * held.
 */
void gba_common_choice_make(void);

/* The chosen device cannot be opened: take the first candidate that can. Sets device, status and
 * device_path, if there is one. With the lock held. */
void gba_common_choice_replace(void);

/* The usable devices of a process with several, for gba_team_attr_t: opens them. */
uint32_t gba_common_choice_devices(void *unused, gba_device_t **list, uint32_t max);

/* Close the devices of gba_common_choice_devices. */
void gba_common_choice_close(void);

/* companions.c */

/*
 * Load the other components that an exclusive selection of `self` needs, as the parameter
 * "companions" selects. To be called in the component's open only.
 * needed: the components that together provide all collectives, ending with NULL; loaded when the
 * user's list names `self` and lacks them.
 * message: receives one line that names the parameter if one of them is still missing, or "".
 */
void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed, char *message, size_t len);

/* params.c */

/*
 * Register libgba's parameters, "companions", "journal" and a performance variable for each count.
 * May run several times, and in ompi_info. offload_after: the default of that parameter.
 */
void gba_common_params_register(const mca_base_component_t *component, int offload_after,
                                const char *companions_help);

/* Copy the user's values and check them: set params, enabled, device_asked and bad_parameter. */
void gba_common_params_check(void);

/*
 * The word that a process publishes or sends. If the words of all members are equal, the component
 * serves them.
 * protocol: 1 to 255, the version of what the component's processes send to each other outside
 * libgba. agree_after: 0 to GBA_COMMON_AGREE_AFTER_MAX, the parameter of coll; 0 in scoll.
 * Returns, from the highest bit: 8 bits protocol, 8 version of libgba's wire (its low bits), 16
 * agree_after, 7 priority, 1 for the component's own use (GBA_COMMON_OWN_BIT, clear), 24
 * min_comm_size (cut to the largest that fits, because no communicator is that large). The priority
 * is included because it decides whether our barrier or another component's is on top. Thread-safe.
 * Not collective.
 */
#define GBA_COMMON_PROTOCOL_SHIFT  56
#define GBA_COMMON_OWN_BIT         (UINT64_C(1) << 24)
#define GBA_COMMON_AGREE_AFTER_MAX 65535
uint64_t gba_common_capability(uint64_t protocol, uint64_t agree_after);

/*
 * Describe the differences between the words of two members for the user: "priority differs: 100
 * (rank 0 on hosta), 50 (rank 2 on hostb)". members: their names. text: receives all differences,
 * at most len bytes.
 */
void gba_common_capability_differ(const uint64_t words[2], const char *const members[2], char *text,
                                  size_t len);

/*
 * The prefix of the names of communicators that scoll/mpi makes, one for each active set that
 * scoll/gba serves. The barrier of such a communicator is in use until the set has agreed on its
 * own path, so it must not take a barrier group.
 */
#define GBA_COMMON_SET_NAME "active set of "

/*
 * Our own tags, on communicators that other senders use as well. Tags from 0 on belong to the user.
 * -1 is MPI_ANY_TAG, which matches no negative tag. Open MPI's own tags begin at -10 in 4.1, and
 * from 5.0 on at -7, with those that create communicators (ompi/mca/coll/base/coll_tags.h). So -2
 * to -6 are free. Other components use their tags on their own communicators.
 */
#define GBA_COMMON_TAG_AGREEMENT     (-3)
#define GBA_COMMON_TAG_DEGRADED      (-4)
#define GBA_COMMON_TAG_TRANSPORT     (-5)
#define GBA_COMMON_TAG_NOTIFICATIONS (-6)

/* transport.c */

struct ompi_communicator_t;

/* The destinations of a team's messages. */
struct gba_common_messages {
    struct ompi_communicator_t *comm; /* outlives the team */
    int tag[2];                       /* by channel, see gba_remote_group_t */
    const uint32_t *ranks;            /* [members] ranks in comm; NULL: rank n is member n */
};

/*
 * Fill in the message transport of software barriers, for gba_team_create. messages: must live as
 * long as remote is in use, that is, while a team is created or recovered.
 */
void gba_common_remote_init(gba_remote_t *remote, struct gba_common_messages *messages);

/* notifications.c */

/* The high bit of a team's id: the component of the team. libgba holds the teams of both
 * components. The next 31 bits are a rank, which is positive. */
#define GBA_COMMON_IDS_COLL  UINT64_C(0)
#define GBA_COMMON_IDS_SCOLL (UINT64_C(1) << 63)

/*
 * Answer failure notifications from now on. To be called before the first team that can need them.
 * lock: the component's.
 * comm: a communicator of the whole job with the ranks of MPI_COMM_WORLD; a different one for each
 * component.
 * Returns OMPI_SUCCESS or an error. Thread-safe.
 */
int gba_common_notifications_start(opal_mutex_t *lock, struct ompi_communicator_t *comm);

/*
 * To be called before _stop, while messages still flow and all members have completed their last
 * round. Receives the notifications that no member needs any more, and waits for the outstanding
 * answers, because some PMLs report messages that are left when they end. Blocks for half a second
 * at most.
 */
void gba_common_notifications_drain(void);

/* Stop: no messages from now on, because the communicator ends. */
void gba_common_notifications_stop(void);

/*
 * Whether all failure notifications of a team that this process owes have left it: those that it
 * has posted, and the answers to those that it has received. A barrier of a failed team completes
 * at this member only then, because the member may compute for long afterwards without a call of
 * Open MPI, while another member waits for a notification. A notification that its receiver no
 * longer needs is not waited for. Moves messages; costs nothing for a team that has not failed.
 * Never blocks. Thread-safe; to be called with the lock of ibarrier.c held, or with no lock.
 */
bool gba_common_notifications_out(const gba_team_t *team);

/* For gba_team_attr_t: the id of a new team whose rank 0 is this process. ids: GBA_COMMON_IDS_COLL
 * or GBA_COMMON_IDS_SCOLL. Thread-safe. */
uint64_t gba_common_notifications_id(uint64_t ids);

/*
 * Post the notifications that this member owes to other members of a team whose device has failed.
 * To be called again and again during a round, and after it before _out. Returns whether all are
 * posted; false: out of memory, and the next call continues. Sends nothing itself, so any lock may
 * be held. peer: the rank of a member in the communicator. By the thread that runs the team's
 * barrier.
 */
bool gba_common_notifications_post(gba_team_t *team, int (*peer)(const void *ctx, uint32_t member),
                                   const void *ctx);

/* Send what is posted, and receive what has come, now and not at the next turn of progress. To be
 * called with the lock of ibarrier.c held, or with no lock. Thread-safe. Never blocks. */
void gba_common_notifications_poll(void);

/* Call _post until all notifications are posted, and wait until _out returns true; at the end of a
 * blocking barrier. Calls opal_progress, so no lock may be held. */
void gba_common_notifications_flush(gba_team_t *team, int (*peer)(const void *ctx, uint32_t member),
                                    const void *ctx);

#define GBA_COMMON_HASH_START UINT64_C(0xcbf29ce484222325) /* the hash of no text */

/* The hash of the texts so far, `hash`, and of one more: FNV-1a, 64 bits. Thread-safe. */
static inline uint64_t gba_common_hash(uint64_t hash, const char *text)
{
    for (; '\0' != *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* once.c */

/*
 * Whether this process is the first of its job on its host to report a topic, for lines that one
 * process prints for all. True at most once per job, host and topic, so the caller must then
 * report. topic: any text. Thread-safe. Not collective. Costs a file descriptor until _close.
 */
bool gba_common_first_on_host(const char *topic);

/* Release the descriptors. Topics can be reported again. Thread-safe. */
void gba_common_first_close(void);

/* device.c */

/*
 * The device of the process, opened at the first call; later calls return the outcome of the first.
 * All components of a process get the same device for the same path. If the user did not set the
 * path, a file that exists but fails to open as a device is reported at once, in one line per job
 * and host.
 * Returns the device, or NULL with the reason in *status. Thread-safe.
 */
gba_device_t *gba_common_device_get(gba_status_t *status);

/* Release the device. */
void gba_common_device_put(void);

/* key.c */

/* The keys of the job, one for each path. */
struct gba_common_keys {
    uint64_t count;
    struct {
        uint64_t path; /* its hash; never 0 */
        uint8_t key[GBA_KEY_SIZE];
    } entry[GBA_CANDIDATES_MAX];
};

/* Whether a device at that path needs a key. Thread-safe. */
bool gba_common_key_needed(const char *path);

/* Add a key. Thread-safe. */
void gba_common_key_add(const char *path, const uint8_t key[GBA_KEY_SIZE]);

/* Publish the keys in the modex, as gba_compat_modex_put. */
void gba_common_keys_put(void);

/* Get the keys of this process, or if it has none those that rank 0 has published, after MPI_Init's
 * exchange. The caller erases the copy. Thread-safe. */
void gba_common_keys_get(struct gba_common_keys *copy);

/* Set the keys of this process, if it has none. Thread-safe. */
void gba_common_keys_set(const struct gba_common_keys *from);

/* Erase the keys. */
void gba_common_key_clear(void);

/*
 * Get the device at a path with this job's attributes: its name, and if the path needs a key, that
 * of the job, or if none was handed over that of the key file. To be called after MPI_Init's
 * exchange, except on rank 0. timeout_ms: as in gba_device_attr_t. Returns as
 * gba_global_device_get, whose reference the caller gets. With the lock held. Not collective.
 */
gba_status_t gba_common_device_open(const char *path, uint32_t timeout_ms, gba_device_t **device);

/* Connect the device of device_path again after its connection was lost, and hand the key of the
 * job to it. It is as before if that fails (not logged). Waits for half a second at most. With the
 * lock held. Not collective. */
void gba_common_device_revive(gba_device_t *device);

/* Open a candidate in `others`, unless it is open. All calls of the process together wait 10 s at
 * most for switches that do not answer. index: below the number of candidates. As
 * gba_common_device_open otherwise. */
void gba_common_candidate_open(uint32_t index);

/* job_key.c */

/* On rank 0: if device_path or a candidate is a gba-switchd over TCP, and there is a key file, open
 * it and publish the key of the job. No effect on other ranks. To be called after
 * gba_common_choice_open, and before the framework's open ends, as gba_compat_modex_put. Waits for
 * the switch as gba_device_init. */
void gba_common_key_publish(void);

/*
 * Hand the keys of the job from member 0 to those members of the exchange that have none. Member 0
 * requests keys if it has the file and none was published. All members call it, whether they need a
 * key or not, before they open a device. Returns the status of the exchange. Collective.
 */
gba_status_t gba_common_key_share(const gba_oob_t *oob);

/*
 * Whether only the member with this reason has its cause: the error of its own device. That member
 * then reports it, instead of the member that reports for all.
 */
bool gba_common_reason_own(gba_status_t reason);

/*
 * Whether a reason concerns the whole job, and not one host: the device has no free group. Rank 0
 * of the job alone reports it, of the teams of which it is a member, so that the job prints one
 * line. Nothing else elects one process of all hosts: Open MPI 4.1 loses messages that it
 * aggregates, and the data server of mpirun stores several values of one name.
 */
bool gba_common_reason_of_job(gba_status_t reason);

/*
 * Whether this process prints a line about a reason that is due (gba_common_reason_due). One
 * process of each host does. Of the reasons of gba_common_reason_of_job, rank 0 of the job does,
 * unless other teams of the job have groups of the device. component: "coll" or "scoll". Queries
 * the device. Thread-safe.
 */
bool gba_common_reason_first(const char *component, gba_status_t reason);

/*
 * The end of a line about a team without a group: the requested path, the fault of the device, and
 * what to do; or "". due: the line is for a user who requested the device. text: at most len bytes,
 * terminated.
 */
void gba_common_device_describe(gba_status_t reason, bool due, char *text, size_t len);

/* report.c */

/* Open the log of the component and send libgba's lines there. */
void gba_common_log_open(void);

/* Close the log; libgba's lines go to stderr again. */
void gba_common_log_close(void);

/*
 * Print a line at every verbosity, with the component's label. The line starts on a new line even
 * if the program has left one unfinished. format: without a newline. Cut at 1535 bytes. Thread-safe
 * after gba_common_log_open.
 */
void gba_common_alert(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a line for the user: at every verbosity like gba_common_alert, or at verbose 1. */
void gba_common_print(bool always, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Store libgba's errors of this thread in text, and do not print them. NULL: print them again. */
void gba_common_log_keep(char *text, size_t len);

/*
 * Whether a reason for a team's path is to be reported to the user and has not been. Every member
 * of the team must call this, the reporting one included, because it records the reason, and
 * whether the device serves teams. Takes the lock.
 * asked: the user requested a device.
 */
bool gba_common_reason_due(gba_status_t reason, bool asked);

/* Print the totals of this process and of the device. who: "rank", or "PE". */
void gba_common_totals(const char *who, const struct gba_common_counts *sum);

#endif
