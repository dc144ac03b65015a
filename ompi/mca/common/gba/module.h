/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the coll and scoll components: code that knows Open MPI's opal layer and
 * libgba, and neither communicators nor active sets. The PML is the only part of ompi in here. Each
 * component links its own copy from a convenience library with hidden symbols, so "static" is per
 * component.
 *
 * This header has modules: a module is one communicator or active set, whose barriers have a team
 * of libgba or the fallback, which is the barrier that was selected before ours. The other rooms:
 * open.h, device.h, transport.h, notifications.h, report.h, and compat.h with the differences
 * between releases of Open MPI.
 *
 * gba_common_framework is what a component supplies. The functions of it that get an owner get the
 * component's own module, see gba_common_module_init.
 */
#ifndef GBA_COMMON_MODULE_H
#define GBA_COMMON_MODULE_H

#include "ompi/mca/common/gba/compat.h"

#include "gba/base/component_params.h"
#include "gba/base/order.h"
#include "gba/base/site.h"
#include "gba/gba.h"
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/transport.h"

#define GBA_COMMON_PATHS (GBA_PATH_FALLBACK + 1)

/* The counts of one module, or of all modules. pvars.c relies on the order. */
struct gba_common_counts {
    unsigned long long barriers[GBA_COMMON_PATHS]; /* by gba_path_t */
    unsigned long long retries_arrival, retries_release, failovers, renegotiations;
    unsigned long long path; /* gba_path_t, of one module */
};

/* The counts of one team that libgba does not keep. */
struct gba_common_tally {
    unsigned long long rounds[GBA_COMMON_PATHS]; /* before the current path, by gba_path_t */
    uint64_t agreements;                         /* so far; a trial is none */
};

/* The part of a module that both components have. */
struct gba_common_module {
    /* The team, while a barrier needs only gba_barrier_wait; the only field that the fast path
     * reads. NULL: the component's slow path. */
    gba_pointer_t active;
    void *owner;      /* the component's module, which this is a part of */
    void *comm;       /* the communicator, for its performance variables; NULL in scoll */
    gba_team_t *team; /* NULL until the agreement, and if there is no team */
    gba_path_t path;  /* the agreed path, that of the team's rounds that are not in the tally */
    uint32_t rank, size;
    bool agreed;
    struct gba_common_agreement *agreement; /* in progress, or NULL */
    struct gba_common_exchange *exchange;   /* of agreements; NULL until the first one */
    gba_status_t declined;                  /* not GBA_OK: why there is no team */
    unsigned long long fallbacks;           /* barriers on the fallback */
    struct {
        const char *what; /* it waits for; NULL: it does not */
        gba_stall_t watch;
        struct gba_common_module *next; /* of those that wait */
    } stall;                            /* see stall.c; under gba_common.lock */
    struct gba_common_tally tally;
    struct gba_common_module *next, **link; /* in gba_common.modules; link NULL: not in the list */
};

/* The state of this component. */
struct gba_common {
    gba_params_t variables;          /* storage of the MCA parameters, which owns the strings */
    struct gba_component_params own; /* likewise of those that only the components have */
    char why[512]; /* why the first communicator without a device has none, on its rank 0 */
    int device_path_index, device_list_index, disable_index;
    enum gba_site site;          /* the file of the site, until the user sets disable */
    char site_why[GBA_SITE_WHY]; /* unless active: why */
    gba_params_t params;         /* checked copy, from open on */
    char job[256];               /* as gba_compat_job_name; a namespace has 255 letters at most */
    bool enabled;                /* not disabled, and all parameters are valid */
    bool device_set;             /* the user set device_path */
    bool device_asked;       /* the user set it to another value than "none", or set device_list */
    char bad_value[288];     /* the first value that is none of its parameter, or "" */
    char bad_parameter[512]; /* that, or another error in a parameter, or "" */
    int output;              /* the log; -1: closed */
    /* Protects the device, the list of modules, and the teams, paths and tallies of all modules
     * against readers in other threads. */
    opal_mutex_t lock;
    struct gba_common_device device;
    struct gba_common_module *modules;
    struct gba_common_counts retired; /* of destroyed modules */
};

extern struct gba_common gba_common;

/* An agreement: the attributes of the team, and the objects that they point to. */
struct gba_common_agreement {
    gba_due_t due;
    gba_agreement_t *running;
    gba_status_t reason; /* of the team without a group, before it */
    uint64_t trials;     /* of the team, before it */
    gba_params_t params;
    char name[64];
    struct gba_common_messages messages;
    gba_remote_t remote;
    gba_team_attr_t attr;
    gba_oob_t oob;
};

/* The high bit of a team's id: the component of the team. libgba holds the teams of both
 * components. The next 31 bits are a rank, which is positive. */
#define GBA_COMMON_IDS_COLL  UINT64_C(0)
#define GBA_COMMON_IDS_SCOLL (UINT64_C(1) << 63)

/* What its framework dictates to a component. Each component defines gba_common_framework. */
struct gba_common_framework {
    const char *label; /* the prefix of the component's lines */
    uint64_t ids;      /* GBA_COMMON_IDS_* */
    /* The name of a member for the user, "rank 3 on hostb". */
    void (*name_member)(void *owner, uint32_t rank, char *text, size_t len);
    /* The name of the communicator or set, for the user, and a number of it, the same on all
     * members, and different on the sets and communicators of one member. */
    void (*name_team)(void *owner, char *text, size_t len);
    uint64_t (*id)(const void *owner);
    /* A communicator of the whole job with the ranks of MPI_COMM_WORLD, for failure notifications;
     * a different one for each component. */
    struct ompi_communicator_t *(*world)(void);
    /* The rank of a member in it; and whether the member is of this job. NULL: all are. */
    int (*peer)(const void *owner, uint32_t member);
    bool (*of_job)(const void *owner, uint32_t member);
    /*
     * Open the exchange, and complete the attributes: name, remote, and what else differs from the
     * defaults. A device_status that is not GBA_OK is the reason why the members get no device.
     * renegotiation: the team goes on with what it has unless it gets a group. Returns GBA_OK or
     * GBA_ERR_OOB. May be collective.
     */
    gba_status_t (*prepare)(void *owner, struct gba_common_agreement *a, bool renegotiation);
    /* The fallback, for gba_runtime_t. */
    gba_status_t (*fallback)(void *owner);
    /* The members have agreed on `path`, or an agreement has failed: enable or disable the fast
     * path. */
    void (*apply)(void *owner);
    /* Report the path. reporter: the member that reports if no member knows more than the others.
     * reason, culprit: why there is no group, or GBA_OK, and the member that caused it. */
    void (*report)(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                   const char *why);
    /* Free the resources of a module, which then has the fallback. */
    void (*close)(void *owner);
};

extern const struct gba_common_framework gba_common_framework;

/* component.c */

/* Begin the component's open: reset the state, open the log, and check the parameters. */
void gba_common_open(void);

/* End the component's close: print the totals, and release the device. who: "rank", or "PE". */
void gba_common_close(const char *who);

/* modex.c */

/*
 * Get the words that another process of the job has published, `most` at most. Returns their
 * number; 0: it published none. To be called after MPI_Init's exchange only: all processes have
 * published their words by then. So all callers get the same result, and no caller waits for words
 * that never come. An error of PMIx ends the job, because this process alone would see no words.
 */
uint32_t gba_common_modex_get(opal_process_name_t *name, const char *key, uint64_t *words,
                              uint32_t most);

/* module.c */

/* In the constructor of a module, whose memory is all zero. */
void gba_common_module_init(struct gba_common_module *m, void *owner);

/* Insert it into the list. */
void gba_common_module_open(struct gba_common_module *m);

/* Leave the list and the team. Sends nothing. Later barriers take the fallback. */
void gba_common_module_close(struct gba_common_module *m);

/* Close all modules that are still in the list: those of leaked communicators or sets. */
void gba_common_modules_close(void);

/* The counts of the modules of one communicator; or with NULL, the sum over all modules, destroyed
 * ones included. Thread-safe; may lag behind other threads. */
void gba_common_counts_sum(struct gba_common_counts *sum, const void *comm);

/* messages.c */

/* The exchange for libgba, without ctx, rank and size; its ctx is a module. */
extern const gba_oob_t gba_common_oob;

/* Open the exchange of a module, on the first tag of `to`, unless it is open. Returns GBA_OK or
 * GBA_ERR_NOMEM. Not collective: sends nothing. */
gba_status_t gba_common_exchange_open(struct gba_common_module *module,
                                      const struct gba_common_messages *to);

/* Free it, unless the PML still uses its memory, which it does after a failure only. */
void gba_common_exchange_close(struct gba_common_module *module);

/* The minimum over that exchange, as gba_oob_t.min. Returns GBA_OK or GBA_ERR_OOB. Collective,
 * blocks. */
gba_status_t gba_common_min(struct gba_common_module *m, uint64_t *words, uint32_t count);

/* agree.c */

/* Record and report that there is no team. Sends nothing. text: the reason in words. */
void gba_common_decline(struct gba_common_module *m, gba_status_t reason, uint32_t reporter,
                        const char *text);

/* What the members agree on, as gba_team_due: GBA_DUE_CREATE before the first agreement. */
gba_due_t gba_common_due(const struct gba_common_module *m, bool may_block);

/*
 * Start an agreement, and advance it. due: GBA_DUE_CREATE, GBA_DUE_RECOVER or GBA_DUE_REQUEST. The
 * path is stored in the module. start returns GBA_OK: call test, until it does not return
 * GBA_INPROGRESS. Or else GBA_ERR_OOB: an exchange failed; or GBA_ERR_NOMEM. Collective.
 */
gba_status_t gba_common_agree_start(struct gba_common_module *m, gba_due_t due);
gba_status_t gba_common_agree_test(struct gba_common_module *m);

/* The first agreement, in a blocking barrier. gba_barrier_end makes the later ones, at the end of
 * such a barrier. Returns GBA_OK, GBA_ERR_OOB or GBA_ERR_NOMEM. Collective, blocks. */
gba_status_t gba_common_agree(struct gba_common_module *m);

/* Count a barrier that the fallback has completed, and agree on what is due. Returns as
 * gba_barrier_end. Collective, blocks. */
gba_status_t gba_common_fallback_end(struct gba_common_module *m);

/* The barriers so far: the number of the last one, for reports. By the thread that makes them. */
uint64_t gba_common_number(const struct gba_common_module *m);

/* For gba_runtime_t, and for reports: the rank of a member in the job, and its name. */
uint32_t gba_common_process(void *m, uint32_t member);
void gba_common_name_member(void *m, uint32_t member, char *text, size_t len);

/* stall.c */

/* Before and after a blocking barrier on the fallback, and an agreement: report it if it stalls
 * (stuck_after). what: "fallback" or "agreement". kind, number: of the barrier. Thread-safe on
 * different modules. */
void gba_common_stall_begin(struct gba_common_module *m, const char *what, gba_where_kind_t kind,
                            uint64_t number);
void gba_common_stall_end(struct gba_common_module *m, bool complete);

/* For gba_runtime_t: the place of a barrier; and end the job, because a barrier has stalled for
 * abort_after. */
void gba_common_stall_place(void *m, gba_where_t *place);
void gba_common_stall_abort(void *unused);

/* When the component closes. */
void gba_common_stall_close(void);

/* progress.c */

/* Before a barrier with a team: find what gba_common_progress counts, in the first call. further: a
 * function of an SPML that progresses; NULL: none. Thread-safe. */
void gba_common_progress_open(const char *further);

/* Calls opal_progress. Returns the number of messages that it has completed; 0: none, or only over
 * TCP; -1: unknown. For gba_runtime_t. */
int gba_common_progress(void *unused);

/* Whether processes share cores, in gba_common_progress as well: agreements run there, too. Open
 * MPI's own parameter covers what cannot be counted: the cores that other jobs need. */
bool gba_common_oversubscribed(void);

#endif
