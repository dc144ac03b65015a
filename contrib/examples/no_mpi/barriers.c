/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of libgba in a program without MPI: join the other processes, make a team, and prove
 * that no process leaves a barrier before all have arrived. See README.md and --help.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gba/bootstrap.h>
#include <gba/gba.h>

static const char help[] =
    "usage: barriers [--rounds N] [--make FILE] [--proof FILE [--until FILE]]\n"
    "                [--members LIST]\n"
    "\n"
    "Run N barriers (default 1000) with the other processes of the job.\n"
    "\n"
    "  --make FILE   make a unique id and write it to FILE, which must not exist\n"
    "  --proof FILE  a file that all processes map, for the proof that nobody leaves early\n"
    "  --until FILE  run barriers until rank 0 finds FILE, then N with another team\n"
    "  --members R,R...  only these ranks, which get the ranks 0, 1 and so on of a team, run "
    "barriers\n"
    "\n"
    "Started by mpirun, or with GBA_BOOTSTRAP_UID, GBA_BOOTSTRAP_RANK and GBA_BOOTSTRAP_SIZE.\n"
    "GBA_BOOTSTRAP chooses the bootstrap: pmix, uid or mpi.\n"
    "The parameters of libgba come from the environment: GBA_DEVICE_PATH=sim and so on.\n";

struct options {
    unsigned long rounds;
    const char *make, *proof, *until, *members;
};

struct job {
    gba_bootstrap_root_t *root, *some_root;
    gba_bootstrap_t *all;       /* of all processes */
    gba_bootstrap_t *some;      /* of those that run barriers, if these are not all */
    gba_bootstrap_t *bootstrap; /* one of the two; NULL: this process runs none */
    const gba_oob_t *oob;       /* of bootstrap */
    gba_team_t *team;
    gba_path_t path;           /* as printed last */
    _Atomic uint32_t *entered; /* [size] the round that each member has entered; NULL: no proof */
    _Atomic uint32_t *last;    /* the last round before the other team; 0: not known yet */
    uint32_t round;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "barriers: %s: %s\n", what, why);
    return 1;
}

/* The file gets its name when it is complete, and other users cannot read it. */
static int write_id(const char *path, const gba_bootstrap_uid_t *uid)
{
    char name[4096];
    int fd, wrong;

    snprintf(name, sizeof name, "%s.new", path);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(name, strerror(errno));
    wrong = dprintf(fd, "%s\n", uid->text) < 0;
    wrong |= 0 != close(fd);
    wrong |= 0 != rename(name, path);
    return wrong ? fail(path, "cannot be written") : 0;
}

/* Join the other members, with the id that this process made, or as the environment sets. */
static int join(struct job *job, const struct options *options)
{
    gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_AUTO};
    gba_bootstrap_uid_t uid;
    char message[256];

    if (options->make != NULL) {
        if (GBA_OK != gba_bootstrap_uid_get(&uid, &job->root, message, sizeof message))
            return fail("no unique id", message);
        if (0 != write_id(options->make, &uid))
            return 1;
        attr.kind = GBA_BOOTSTRAP_UID;
        attr.uid = &uid;
    }
    if (GBA_OK != gba_bootstrap_init(&attr, &job->all, message, sizeof message))
        return fail("cannot join", message);
    job->bootstrap = job->all;
    return 0;
}

/* A bootstrap of any processes: the first of them makes a unique id, which the exchange of all
 * processes passes on. */
static int join_members(struct job *job, const char *list)
{
    const gba_oob_t *all = gba_bootstrap_oob(job->all);
    uint32_t first = (uint32_t)strtoul(list, NULL, 10), rank = UINT32_MAX, size = 0;
    gba_bootstrap_uid_t uid = {.text = ""};
    gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_UID, .uid = &uid};
    char message[256];

    for (const char *next = list; next != NULL; size++) {
        if ((uint32_t)strtoul(next, NULL, 10) == all->rank)
            rank = size;
        next = strchr(next, ',');
        next = next == NULL ? NULL : next + 1;
    }
    /* If that fails, all members find that the id is empty. */
    if (first == all->rank &&
        GBA_OK != gba_bootstrap_uid_get(&uid, &job->some_root, message, sizeof message))
        fail("no unique id", message);
    if (GBA_OK != gba_bootstrap_bcast(job->all, &uid, sizeof uid, first))
        return fail("cannot pass the id on", gba_bootstrap_message(job->all));
    if (UINT32_MAX == rank)
        return 0;
    attr.rank = rank;
    attr.size = size;
    if (GBA_OK != gba_bootstrap_init(&attr, &job->some, message, sizeof message))
        return fail("cannot join the members", message);
    return 0;
}

/* Choose the processes that run barriers. */
static int join_some(struct job *job, const struct options *options)
{
    int status = options->members != NULL ? join_members(job, options->members) : 0;

    if (options->members != NULL)
        job->bootstrap = job->some;
    if (0 == status && job->bootstrap != NULL)
        job->oob = gba_bootstrap_oob(job->bootstrap);
    return status;
}

static void print_path(struct job *job)
{
    job->path = gba_team_path(job->team);
    if (0 != job->oob->rank)
        return;
    printf("path %s: %s\n", gba_path_name(job->path), gba_team_why(job->team));
    fflush(stdout);
}

static int make_team(struct job *job)
{
    char message[256];

    gba_team_destroy(job->team);
    job->team = NULL;
    if (GBA_OK !=
        gba_bootstrap_team_create(job->bootstrap, NULL, &job->team, message, sizeof message))
        return fail("no team", message);
    print_path(job);
    return 0;
}

/* Rank 0 makes the file before the others open it. */
static int open_proof(struct job *job, const char *path)
{
    size_t bytes = (job->oob->size + 1) * sizeof *job->entered;
    void *memory = MAP_FAILED;
    int fd = -1;

    if (0 == job->oob->rank) {
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd >= 0 && 0 != ftruncate(fd, (off_t)bytes))
            return fail(path, strerror(errno));
    }
    if (GBA_OK != gba_bootstrap_barrier(job->bootstrap))
        return fail("no barrier", gba_bootstrap_message(job->bootstrap));
    if (fd < 0)
        fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == memory)
        return fail(path, strerror(errno));
    close(fd);
    job->entered = memory;
    job->last = job->entered + job->oob->size;
    return 0;
}

/* One barrier, and the proof. */
static int run_round(struct job *job)
{
    const struct timespec late = {.tv_nsec = 1000000};
    const uint32_t round = ++job->round;
    const char *const why = gba_bootstrap_message(job->bootstrap);
    gba_status_t status;

    /* Sometimes one member is late; the others must wait for it. */
    if (0 == round % 16 && round / 16 % job->oob->size == job->oob->rank)
        nanosleep(&late, NULL);
    if (job->entered != NULL)
        atomic_store(&job->entered[job->oob->rank], round);
    status = gba_barrier(job->team);
    if (GBA_OK != status)
        return fail("a barrier failed", '\0' != *why ? why : gba_status_text(status));
    if (job->path != gba_team_path(job->team))
        print_path(job);
    for (uint32_t i = 0; i < job->oob->size && job->entered != NULL; i++)
        if (atomic_load(&job->entered[i]) < round)
            return fail("PROOF", "a barrier was left before all had entered it");
    return 0;
}

/* Rounds until rank 0 finds the file. All members learn of it before they end the round after. */
static int run_until(struct job *job, const char *path)
{
    int status = 0;

    while (0 == status && (0 == *job->last || job->round < *job->last)) {
        if (0 == job->oob->rank && 0 == *job->last && 0 == access(path, F_OK))
            atomic_store(job->last, job->round + 2);
        status = run_round(job);
    }
    return 0 == status ? make_team(job) : status;
}

static int run_team(struct job *job, const struct options *options)
{
    int status = options->proof != NULL ? open_proof(job, options->proof) : 0;

    if (0 == status)
        status = make_team(job);
    if (0 == status && options->until != NULL)
        status = run_until(job, options->until);
    for (unsigned long i = 0; 0 == status && i < options->rounds; i++)
        status = run_round(job);
    if (0 == status && 0 == job->oob->rank)
        printf("%lu barriers of %u members%s; path %s: %s\n", options->rounds,
               (unsigned)job->oob->size, job->entered == NULL ? "" : ", none left early",
               gba_path_name(job->path), gba_team_why(job->team));
    return status;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (more && 0 == strcmp(argv[i], "--rounds"))
            options->rounds = strtoul(argv[++i], NULL, 10);
        else if (more && 0 == strcmp(argv[i], "--make"))
            options->make = argv[++i];
        else if (more && 0 == strcmp(argv[i], "--proof"))
            options->proof = argv[++i];
        else if (more && 0 == strcmp(argv[i], "--until"))
            options->until = argv[++i];
        else if (more && 0 == strcmp(argv[i], "--members"))
            options->members = argv[++i];
        else
            return 2;
    }
    return options->until != NULL && options->proof == NULL ? 2 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.rounds = 1000};
    struct job job = {.root = NULL};
    int status;

    if (2 == argc && 0 == strcmp(argv[1], "--help"))
        return fputs(help, stdout) < 0;
    if (0 != parse(argc, argv, &options)) {
        fputs(help, stderr);
        return 2;
    }
    status = join(&job, &options);
    if (0 == status)
        status = join_some(&job, &options);
    if (0 == status && job.bootstrap != NULL)
        status = run_team(&job, &options);
    gba_team_destroy(job.team);
    gba_bootstrap_destroy(job.some);
    gba_bootstrap_destroy(job.all);
    /* The process that made an id serves until the others have left. */
    gba_bootstrap_root_close(job.some_root, 0 == status);
    gba_bootstrap_root_close(job.root, 0 == status);
    return status;
}
