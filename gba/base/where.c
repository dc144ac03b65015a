/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status pages: where each process is. A page is an anonymous file, which its process keeps open
 * and mapped. Readers find it in /proc by its name, so nothing has to be announced, and nothing
 * outlives the process. A reader copies the page with one read: no other process can hinder it by
 * changing the size of the file.
 */
#define _GNU_SOURCE /* fallocate, F_ADD_SEALS */
#include "gba/base/where.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/base/memory_file.h"
#include "gba/base/open_files.h"
#include "gba/base/order.h"
#include "gba/base/printable.h"
#include "gba/base/process.h"
#include "gba/base/system_status.h"

#define PAGE_NAME  "gba_where"
#define PAGE_LINK  "/memfd:" PAGE_NAME " (deleted)"
#define PAGE_MAGIC UINT64_C(0x3245524548574247) /* "GBWHERE2", the layout of struct page */

/* A place. Both sequences are odd while it is written; a reader takes it if they are equal and
 * even. The writer changes `after` first and `before` last, and a reader reads them in the order of
 * the memory. */
struct slot {
    gba_word_t before;
    gba_where_t where;
    gba_word_t after;
};

struct page {
    uint64_t magic;
    uint32_t pid, rank; /* as the process sees itself */
    gba_word_t looked;
    char job[64], program[16];
    struct slot last, slots[GBA_WHERE_MOST];
};
_Static_assert(sizeof(struct page) <= 4096, "GBA_WHERE_MOST is too large for a page");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the writers in this process */
static struct page *page;                                /* NULL: none */

/* Under the lock. Acquire: no store to the place precedes that to `after`. Release: pairs with the
 * kernel's copy for a reader. */
static void slot_write(struct slot *slot, const gba_where_t *where)
{
    const uint64_t sequence = gba_word_load_relaxed(&slot->before) + 2;

    (void)gba_word_add_acq_rel(&slot->after, 1);
    slot->where = *where;
    gba_word_store_release(&slot->before, sequence);
    gba_word_store_release(&slot->after, sequence);
}

/* The page of a process that has forked is in both processes, and belongs to the first. */
static bool page_is_own(void)
{
    return page != NULL && page->pid == (uint32_t)getpid();
}

/* What a page has of the name of a job: its end, where launchers put what distinguishes jobs. */
static const char *job_end(const char *job)
{
    const size_t length = strlen(job), room = sizeof page->job - 1;

    return job + (length > room ? length - room : 0);
}

static void page_fill(struct page *made, const char *job, uint32_t rank)
{
    FILE *file = fopen("/proc/self/comm", "re");

    made->pid = (uint32_t)getpid();
    made->rank = rank;
    snprintf(made->job, sizeof made->job, "%s", job_end(job));
    if (file != NULL) {
        if (fgets(made->program, sizeof made->program, file) != NULL)
            made->program[strcspn(made->program, "\n")] = '\0';
        fclose(file);
    }
    made->magic = PAGE_MAGIC; /* the page has no other reader yet that could find it half made */
}

/* Whether the process may have a file of a page's size: beyond that limit fallocate would kill it
 * with SIGXFSZ. */
static bool file_allowed(void)
{
    struct rlimit limit;

    return 0 == getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= sizeof(struct page);
}

void gba_where_join(const char *job, uint32_t rank)
{
    struct page *made = MAP_FAILED;
    int file = -1;

    pthread_mutex_lock(&lock);
    if (page_is_own() || !file_allowed())
        goto unlock;
    file = gba_memory_file(PAGE_NAME);
    /* Memory that is missing, or that another process takes away, must be no SIGBUS in a barrier.
     */
    if (file < 0 || 0 != fallocate(file, 0, 0, sizeof *made) ||
        0 != fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        goto close_file;
    made = gba_map_shared(sizeof *made, PROT_READ | PROT_WRITE, 0, file, 0);
    if (MAP_FAILED == made)
        goto close_file;
    page_fill(made, job, rank);
    page = made;
    file = -1; /* open as long as the process */
close_file:
    if (file >= 0)
        close(file);
unlock:
    pthread_mutex_unlock(&lock);
}

const char *gba_where_own(uint32_t *rank)
{
    const char *job = NULL;

    pthread_mutex_lock(&lock);
    if (page_is_own()) {
        *rank = page->rank;
        job = page->job;
    }
    pthread_mutex_unlock(&lock);
    return job;
}

int gba_where_enter(const gba_where_t *where)
{
    int number = -1;

    pthread_mutex_lock(&lock);
    for (int i = 0; page != NULL && i < (int)GBA_WHERE_MOST && number < 0; i++)
        if (GBA_WHERE_NONE == page->slots[i].where.kind)
            number = i;
    if (number >= 0 && !page_is_own())
        number = -1;
    if (number >= 0) {
        slot_write(&page->slots[number], where);
        gba_word_store_relaxed(&page->looked, gba_clock_ns());
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void gba_where_look(void)
{
    pthread_mutex_lock(&lock);
    if (page_is_own())
        gba_word_store_relaxed(&page->looked, gba_clock_ns());
    pthread_mutex_unlock(&lock);
}

static void place_leave(int number, bool complete)
{
    static const gba_where_t none = {.kind = GBA_WHERE_NONE};
    gba_where_t last;

    if (number < 0)
        return;
    pthread_mutex_lock(&lock);
    if (page_is_own()) {
        last = page->slots[number].where;
        last.since = gba_clock_ns();
        if (complete && GBA_WHERE_CALL != last.kind)
            slot_write(&page->last, &last);
        slot_write(&page->slots[number], &none);
    }
    pthread_mutex_unlock(&lock);
}

void gba_where_leave(int number)
{
    place_leave(number, true);
}

void gba_where_give_up(int number)
{
    place_leave(number, false);
}

/* --------------------------------------------------------------------------------- readers --- */

struct search {
    const char *job;
    gba_status_t (*take)(void *ctx, const gba_where_process_t *process);
    void *ctx;
    int proc;        /* the open directory /proc */
    const char *pid; /* of the process, as a name in it */
};

/* Another process has written it, and need not have terminated it. */
static void text_take(char *to, const char *from, size_t bytes)
{
    snprintf(to, bytes, "%.*s", (int)bytes - 1, from);
    gba_printable(to);
}

static bool slot_take(gba_where_t *to, const struct slot *slot)
{
    if (slot->before != slot->after || 0 != slot->before % 2 ||
        GBA_WHERE_NONE == slot->where.kind || slot->where.kind > GBA_WHERE_AGREEMENT)
        return false;
    *to = slot->where;
    text_take(to->name, slot->where.name, sizeof to->name);
    return true;
}

static void page_take(gba_where_process_t *process, const struct page *copy)
{
    memset(process, 0, sizeof *process);
    text_take(process->job, copy->job, sizeof process->job);
    text_take(process->program, copy->program, sizeof process->program);
    process->rank = copy->rank;
    process->looked = copy->looked;
    (void)slot_take(&process->last, &copy->last);
    for (int calls = 0; calls < 2; calls++)
        for (uint32_t i = 0; i < GBA_WHERE_MOST; i++)
            if (calls == (GBA_WHERE_CALL == copy->slots[i].where.kind))
                process->count += slot_take(&process->places[process->count], &copy->slots[i]);
}

/* The number of a process in its own PID namespace, the last one of NSpid; 0: it has ended. */
static uint32_t own_number(int proc, const char *pid)
{
    char path[32], line[256];
    uint32_t number = 0;
    FILE *file = NULL;
    int fd;

    snprintf(path, sizeof path, "%.16s/status", pid);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        file = fdopen(fd, "r");
    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (0 == strncmp(line, "NSpid:", 6))
            number = (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
    fclose(file);
    return number;
}

static gba_status_t file_take(void *ctx, const struct gba_open_file *file)
{
    const struct search *search = ctx;
    gba_where_process_t process;
    struct page copy = {.magic = 0};
    struct stat st = {.st_uid = 0};
    ssize_t got;
    int fd;

    if (0 != strcmp(file->target, PAGE_LINK))
        return GBA_INPROGRESS;
    fd = openat(file->directory, file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return GBA_INPROGRESS;
    got = pread(fd, &copy, sizeof copy, 0);
    (void)fstat(fd, &st);
    close(fd);
    /* Another user could name the job, too. */
    if ((search->job != NULL && st.st_uid != geteuid()) || got != (ssize_t)sizeof copy ||
        PAGE_MAGIC != copy.magic || copy.pid != own_number(search->proc, search->pid))
        return GBA_INPROGRESS;
    page_take(&process, &copy);
    if (search->job != NULL && 0 != strcmp(process.job, job_end(search->job)))
        return GBA_INPROGRESS;
    process.pid = (uint32_t)strtoul(search->pid, NULL, 10);
    process.user = st.st_uid;
    return search->take(search->ctx, &process);
}

gba_status_t gba_where_read(const char *job,
                            gba_status_t (*take)(void *ctx, const gba_where_process_t *process),
                            void *ctx)
{
    struct search search = {.job = job, .take = take, .ctx = ctx};
    gba_status_t status = GBA_INPROGRESS;
    const struct dirent *entry;
    DIR *proc = opendir("/proc");

    if (proc == NULL)
        return gba_system_status(errno);
    search.proc = dirfd(proc);
    while (GBA_INPROGRESS == status && (entry = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        search.pid = entry->d_name;
        status = gba_open_files(search.proc, search.pid, file_take, &search);
    }
    closedir(proc);
    return status;
}

static gba_status_t job_take(void *ctx, const gba_where_process_t *process)
{
    struct gba_where_job *list = ctx;

    if (list->count == list->room) {
        uint32_t room = list->room > 0 ? 2 * list->room : 16;
        gba_where_process_t *more = realloc(list->processes, room * sizeof *more);

        if (more == NULL)
            return GBA_ERR_NOMEM;
        list->processes = more;
        list->room = room;
    }
    list->processes[list->count++] = *process;
    return GBA_INPROGRESS;
}

void gba_where_job_read(const char *job, struct gba_where_job *list)
{
    *list = (struct gba_where_job){.count = 0};
    if (job != NULL)
        (void)gba_where_read(job, job_take, list);
}

void gba_where_job_free(struct gba_where_job *list)
{
    free(list->processes);
}

const gba_where_process_t *gba_where_job_find(const struct gba_where_job *list, uint32_t rank)
{
    for (uint32_t i = 0; i < list->count && UINT32_MAX != rank; i++)
        if (list->processes[i].rank == rank)
            return &list->processes[i];
    return NULL;
}

bool gba_where_away(const gba_where_process_t *process)
{
    return process->looked + GBA_WHERE_AWAY_NS < gba_clock_ns();
}

/* ----------------------------------------------------------------------------------- words --- */

static size_t add(char *text, size_t len, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t len, size_t used, const char *format, ...)
{
    va_list list;
    int wrote;

    if (used >= len)
        return used;
    va_start(list, format);
    wrote = vsnprintf(text + used, len - used, format, list);
    va_end(list);
    return wrote < 0 ? used : used + (size_t)wrote;
}

/* Times of other processes may be in the future, or nonsense. */
static unsigned long long seconds_since(uint64_t since)
{
    const uint64_t now = gba_clock_ns();

    return since < now ? (now - since) / 1000000000u : 0;
}

/* Whether an earlier place is the same call, of another thread, or the same barrier, which its team
 * and its runtime watch. */
static bool is_again(const gba_where_process_t *process, const gba_where_t *where)
{
    const gba_where_t *other = process->places;

    while (other != where &&
           (other->kind != where->kind || other->id != where->id || other->number != where->number))
        other++;
    return (0 != where->id || GBA_WHERE_CALL == where->kind) && other != where;
}

void gba_where_text(const gba_where_process_t *process, char *text, size_t len)
{
    const gba_where_t *last = &process->last;
    unsigned long long ago;
    struct gba_process state;
    size_t used = 0;

    text[0] = '\0';
    gba_process_read(process->pid, &state);
    if (GBA_PROCESS_GONE == state.state || GBA_PROCESS_STOPPED == state.state)
        used = add(text, len, used, "%s, ",
                   GBA_PROCESS_GONE == state.state ? "has ended" : "is stopped");
    for (uint32_t i = 0; i < process->count; i++) {
        const gba_where_t *where = &process->places[i];

        if (is_again(process, where))
            continue;
        used = add(text, len, used, "%s", 0 == i ? "" : ", and ");
        ago = seconds_since(where->since);
        if (GBA_WHERE_CALL == where->kind)
            used = add(text, len, used, "is in %s for %llu s", where->name, ago);
        else
            used = add(text, len, used,
                       GBA_WHERE_NONBLOCKING == where->kind
                           ? "has begun nonblocking barrier %llu of %s %llu s ago"
                           : "waits in barrier %llu of %s for %llu s",
                       (unsigned long long)where->number, where->name, ago);
    }
    /* Nobody looks at calls other than barriers. */
    if (process->count > 0 && GBA_WHERE_CALL != process->places[0].kind && gba_where_away(process))
        used =
            add(text, len, used, ", without progress for %llu s", seconds_since(process->looked));
    if (0 == process->count)
        used = add(text, len, used, "waits in no barrier");
    if (0 == process->count && GBA_WHERE_NONE != last->kind)
        (void)add(text, len, used, "; it has waited last %s barrier %llu of %s, until %llu s ago",
                  GBA_WHERE_AGREEMENT == last->kind ? "before" : "in",
                  (unsigned long long)last->number, last->name, seconds_since(last->since));
}
