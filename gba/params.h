/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters that a user can set, the same for every plugin. From the table a runtime registers
 * them in its own way (Open MPI: as MCA parameters). The table is the only list of names, defaults,
 * ranges and help texts.
 */
#ifndef GBA_PARAMS_H
#define GBA_PARAMS_H

#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The values of all parameters. coll_gba_barrier(7) describes each. */
typedef struct gba_params {
    int priority;
    int disable;
    char *device_path;
    char *device_list;
    char *device_map;
    int min_comm_size;
    int verbose;
    int retry_after;
    int offload_after;
    int max_groups;
    int offload; /* gba_offload_t */
    int min_hosts;
    int sw_enable;
    int sw_algorithm; /* gba_algorithm_choice_t */
    int sw_radix;
    int hierarchy; /* gba_hierarchy_t */
    int wait;      /* gba_wait_t */
    int stuck_after;
    int abort_after;
    unsigned int first_sequence;
    int trial_after;
    int trial_test; /* for tests; 1: trials without a limit of cost, 2: and in rotation */
    char *switch_key_file;
    char *cluster;
} gba_params_t;

/* Values of the parameter sw_algorithm. */
typedef enum gba_algorithm_choice {
    GBA_ALGORITHM_AUTO = 0,
    GBA_ALGORITHM_V1 = 1, /* dissemination */
    GBA_ALGORITHM_V2 = 2, /* radix-k dissemination */
    GBA_ALGORITHM_V3 = 3, /* centralized, by pull */
    GBA_ALGORITHM_TREE = 4
} gba_algorithm_choice_t;

/* Values of the parameter hierarchy. */
typedef enum gba_hierarchy {
    GBA_HIERARCHY_AUTO = 0, /* NODE in software; on a device NODE if one group cannot serve all */
    GBA_HIERARCHY_FLAT = 1, /* one barrier of all members */
    GBA_HIERARCHY_NODE = 2  /* gather in the node, barrier of the leaders, release in the node */
} gba_hierarchy_t;

/* Values of the parameter offload. */
typedef enum gba_offload {
    GBA_OFFLOAD_AUTO = 0,    /* ALWAYS on a simulated device, else FASTEST */
    GBA_OFFLOAD_FASTEST = 1, /* the device first on `min_hosts` hosts; then what a trial finds */
    GBA_OFFLOAD_ALWAYS = 2,  /* the device wherever there is a group */
    GBA_OFFLOAD_NEVER = 3    /* no group */
} gba_offload_t;

/* Values of the parameter wait. */
typedef enum gba_wait {
    GBA_WAIT_AUTO = 0,  /* spin while each process has a core, else yield; sleep after a second */
    GBA_WAIT_SPIN = 1,  /* keep the core */
    GBA_WAIT_YIELD = 2, /* let other processes run between two polls */
    GBA_WAIT_SLEEP = 3  /* sleep in a wait longer than a few microseconds */
} gba_wait_t;

/* The type of the field of a parameter, and its range. */
typedef enum gba_param_type {
    GBA_PARAM_INT,   /* int in [min, max] */
    GBA_PARAM_UINT,  /* unsigned int in [min, max] */
    GBA_PARAM_BOOL,  /* int, 0 or 1 */
    GBA_PARAM_ENUM,  /* int, one of the values */
    GBA_PARAM_STRING /* char *, never NULL */
} gba_param_type_t;

/* A value of an enumerated parameter, and its name. */
typedef struct gba_param_value {
    int value;
    const char *name; /* NULL ends the list */
} gba_param_value_t;

/* A row of the table of parameters. */
typedef struct gba_param {
    const char *name; /* without the prefix of the runtime: "priority"; NULL ends the table */
    gba_param_type_t type;
    size_t offset; /* of the field in gba_params_t */
    int64_t min, max;
    int64_t value_default;
    const char *string_default;
    const gba_param_value_t
        *values;   /* GBA_PARAM_ENUM only, else NULL; a value may have two names */
    uint64_t unit; /* of a time: its nanoseconds; 0: not a time */
    int level;     /* audience: 1 to 3 users, 4 to 6 tuners, 7 to 9 developers */
    bool all_same; /* affects the path: all members must have the same value */
    bool hidden;   /* for tests: not listed */
    bool or_zero;  /* 0 is a value beside min to max */
    const char *help;
} gba_param_t;

/* Get the table of all parameters. Returns its first row; a row with a name of NULL ends it. Never
 * NULL. Thread-safe. Not collective. */
GBA_EXPORT const gba_param_t *gba_params_table(void);

/*
 * Set all fields to their defaults. String fields then point to constants. An owner that replaces a
 * string frees only its own copies. params: set. Thread-safe on different structures. Not
 * collective.
 */
GBA_EXPORT void gba_params_default(gba_params_t *params);

/*
 * Set the field of a parameter from a text, as a user writes it: a name of an enumeration; a number
 * in the range; a time also with a unit, ns, us, ms, s, m or h; a truth as 0, 1, no, yes, false,
 * true, off, on, disabled or enabled.
 * param: a row of gba_params_table, or of another table. fields: the structure that the table
 * describes; changed on success only. text: of the user; a string field then points to it, and is
 * not checked.
 * Returns whether the text is a value of the parameter. Thread-safe on different structures. Not
 * collective.
 */
GBA_EXPORT bool gba_param_set(const gba_param_t *param, void *fields, const char *text);

/*
 * Print a value of a parameter of any type but string, as gba_param_set reads it.
 * param: its row. value: the content of the field. text, len: set (len bytes at most, terminated).
 * Thread-safe. Not collective.
 */
GBA_EXPORT void gba_param_print(const gba_param_t *param, int64_t value, char *text, size_t len);

/*
 * Print the allowed values of a parameter of any type but string: "2 to 64", "auto, flat, node".
 * param: its row. text, len: set (len bytes at most, terminated). Thread-safe. Not collective.
 */
GBA_EXPORT void gba_param_allowed(const gba_param_t *param, char *text, size_t len);

/*
 * Print one line about a text that gba_param_set does not accept: the name, the text, and the
 * allowed values.
 * param: its row. name: what the user calls the parameter: an option, which begins with "-", or a
 * variable. text: the wrong one. message, len: set (len bytes at most, terminated). Thread-safe.
 * Not collective.
 */
GBA_EXPORT void gba_param_refuse(const gba_param_t *param, const char *name, const char *text,
                                 char *message, size_t len);

/*
 * Check every field against its range.
 * params: not changed. message, len: on GBA_ERR_PARAM set to one line with the first invalid
 * parameter, its value and the allowed values (len bytes at most, terminated).
 * Returns GBA_OK or GBA_ERR_PARAM. Thread-safe. Not collective.
 */
GBA_EXPORT gba_status_t gba_params_check(const gba_params_t *params, char *message, size_t len);

/*
 * Set fields from the environment: the parameter sw_radix from GBA_SW_RADIX, and so on, with the
 * values and names of the table. A variable that is not set leaves its field as it is. A program
 * that runs with the rights of another user (AT_SECURE) ignores the environment. Open MPI's
 * components do not call this; they have MCA parameters.
 * params: set before by gba_params_default; changed on GBA_OK only. A string then points into the
 * environment. message, len: set on GBA_ERR_PARAM, as by gba_params_check.
 * Returns GBA_OK or GBA_ERR_PARAM. Thread-safe while nobody changes the environment. Not
 * collective.
 */
GBA_EXPORT gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len);

#ifdef __cplusplus
}
#endif

#endif
