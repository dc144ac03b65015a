/* SPDX-License-Identifier: BSD-3-Clause */
/* The pages that the driver of the fake kernel gives to user space: doorbells and release flags. */
#define _GNU_SOURCE
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The content of a doorbell without a store: the arrival of a member that does not exist. */
#define BELL_IDLE 0xFFFFFFFFFFFFFFFFull

#define SEATS        2048
#define PAGES        256
#define SLOTS        32 /* of a page; more do not fit in the smallest page */
#define FIRST_OFFSET 0x100000000ull
#define OFFSET_STEP  0x10000u /* a multiple of every page size */

/* A page of flags, with one mapping of the kernel, and of user space one at most. */
struct page {
    int file; /* 0: the entry is not used */
    uint64_t offset;
    uint32_t used; /* bit i: slot i is taken */
    int memory;
    char *kernel, *user;
};

static struct fake_seat seats[SEATS];
static struct page pages[PAGES];
static uint64_t next_offset;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t offset_new(void)
{
    return next_offset += OFFSET_STEP;
}

static struct page *page_new(int file)
{
    for (size_t i = 0; i < PAGES; i++) {
        struct page *page = &pages[i];

        if (0 != page->file)
            continue;
        page->memory = memfd_create("flags", MFD_CLOEXEC);
        if (page->memory < 0 || 0 != ftruncate(page->memory, (off_t)page_size()))
            return NULL;
        page->kernel = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, page->memory, 0);
        if (MAP_FAILED == (void *)page->kernel)
            return NULL;
        page->file = file;
        page->offset = offset_new();
        page->used = 0;
        page->user = NULL;
        return page;
    }
    return NULL;
}

/* Free a page of a closed file that user space does not have mapped any more. */
static void page_free(struct page *page)
{
    munmap(page->kernel, page_size());
    close(page->memory);
    memset(page, 0, sizeof *page);
}

void fake_memory_start(void)
{
    memset(seats, 0, sizeof seats);
    memset(pages, 0, sizeof pages);
    next_offset = FIRST_OFFSET;
}

void fake_memory_stop(void)
{
    for (size_t i = 0; i < PAGES; i++)
        if (0 != pages[i].file)
            page_free(&pages[i]);
}

struct fake_seat *fake_seat_new(int file, uint32_t group, uint32_t generation, uint32_t member)
{
    struct fake_seat *seat = seats;
    struct page *page = pages;
    uint32_t slot;

    while (seat < seats + SEATS && 0 != seat->file)
        seat++;
    while (page < pages + PAGES && (file != page->file || UINT32_MAX == page->used))
        page++;
    if (page == pages + PAGES)
        page = page_new(file);
    if (seat == seats + SEATS || page == NULL)
        return NULL;
    slot = (uint32_t)__builtin_ctz(~page->used);
    page->used |= UINT32_C(1) << slot;
    *seat = (struct fake_seat){.file = file,
                               .group = group,
                               .generation = generation,
                               .member = member,
                               .doorbell = offset_new(),
                               .page = page->offset,
                               .position = slot * GBA_FLAG_SLOT_STRIDE};
    seat->flag = (gba_flag_t *)(void *)(page->kernel + seat->position);
    gba_flag_store_relaxed(seat->flag, 0);
    gba_flag_store_relaxed(seat->flag + 1, 0);
    fake_kernel.seen.slots++;
    return seat;
}

struct fake_seat *fake_seat_find(int file, uint32_t group, uint32_t generation, uint32_t member)
{
    struct fake_seat *seat;

    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (seat->file == file && seat->group == group && seat->generation == generation &&
            seat->member == member)
            return seat;
    return NULL;
}

struct fake_seat *fake_seat_next(size_t *i)
{
    while (*i < SEATS) {
        struct fake_seat *seat = &seats[(*i)++];

        if (0 != seat->file && !seat->left)
            return seat;
    }
    return NULL;
}

void fake_seat_revoke(struct fake_seat *seat, uint32_t reason)
{
    if (seat->revoked)
        return;
    seat->revoked = true;
    gba_flag_store_release(seat->flag + 1, reason);
    gba_flag_store_release(seat->flag, gba_flag_load_relaxed(seat->flag) | GBA_FLAG_REVOKED);
    seat->events |= GBA_EVENT_REVOKED;
}

static struct page *page_at(uint64_t offset)
{
    for (size_t i = 0; i < PAGES; i++)
        if (0 != pages[i].file && offset == pages[i].offset)
            return &pages[i];
    return NULL;
}

void fake_seat_leave(struct fake_seat *seat)
{
    page_at(seat->page)->used &= ~(UINT32_C(1) << seat->position / GBA_FLAG_SLOT_STRIDE);
    seat->revoked = true;
    seat->left = true;
    if (seat->mapping == NULL)
        seat->file = 0;
    fake_kernel.seen.slots--;
}

void fake_memory_release(int file)
{
    for (size_t i = 0; i < PAGES; i++)
        if (file == pages[i].file) {
            if (pages[i].user == NULL)
                page_free(&pages[i]);
            else
                pages[i].file = -1; /* no file's: freed with its mapping */
        }
}

/* A mapping that a child of fork does not get, as the driver's. */
static void *map_unshared(size_t size, int protection, int flags, int file)
{
    void *memory = mmap(NULL, size, protection, flags, file, 0);

    if (MAP_FAILED != memory)
        madvise(memory, size, MADV_DONTFORK);
    return memory;
}

static void *page_map(struct page *page, size_t size, int protection)
{
    void *memory;

    if (fake_planned(FAKE_MMAP_FLAG))
        return MAP_FAILED;
    if (page->user != NULL || (PROT_READ | PROT_WRITE) != protection)
        fake_violation("flag page mapped twice, or with protection %d", protection);
    memory = map_unshared(size, protection, MAP_SHARED, page->memory);
    if (MAP_FAILED != memory) {
        page->user = memory;
        fake_kernel.seen.pages++;
    }
    return memory;
}

static void *doorbell_map(struct fake_seat *seat, size_t size, int protection)
{
    void *memory;

    if (fake_planned(FAKE_MMAP))
        return MAP_FAILED;
    if (seat->mapping != NULL || PROT_WRITE != protection)
        fake_violation("doorbell mapped twice, or with protection %d", protection);
    memory = map_unshared(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (MAP_FAILED != memory) {
        memset(memory, 0xFF, 2 * sizeof(uint64_t)); /* BELL_IDLE */
        seat->mapping = memory;
        fake_kernel.seen.doorbells++;
    }
    return memory;
}

void *fake_memory_map(int file, size_t size, int protection, uint64_t offset)
{
    struct page *page = page_at(offset);
    struct fake_seat *seat;

    if (size == page_size() && page != NULL && file == page->file)
        return page_map(page, size, protection);
    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (size == page_size() && file == seat->file && offset == seat->doorbell)
            return doorbell_map(seat, size, protection);
    if (!fake_planned(FAKE_MMAP)) {
        if (!fake_kernel.probing)
            fake_violation("%zu bytes mapped at offset %#llx", size, (unsigned long long)offset);
        errno = EINVAL;
    }
    return MAP_FAILED;
}

int fake_memory_unmap(void *address, size_t size)
{
    if (size != page_size())
        fake_violation("%zu bytes unmapped", size);
    for (size_t i = 0; i < SEATS; i++)
        if (0 != seats[i].file && address == seats[i].mapping) {
            seats[i].mapping = NULL;
            if (seats[i].left)
                seats[i].file = 0;
            fake_kernel.seen.doorbells--;
            return munmap(address, size);
        }
    for (size_t i = 0; i < PAGES; i++)
        if (0 != pages[i].file && address == pages[i].user) {
            pages[i].user = NULL;
            if (-1 == pages[i].file)
                page_free(&pages[i]);
            fake_kernel.seen.pages--;
            return munmap(address, size);
        }
    fake_violation("%p unmapped, which is not mapped", address);
    errno = EINVAL;
    return -1;
}

uint32_t fake_kernel_run(void)
{
    uint32_t arrivals = 0;

    for (size_t i = 0; i < SEATS; i++) {
        gba_word_t *bell = seats[i].mapping;
        uint64_t value;

        if (0 == seats[i].file || bell == NULL)
            continue;
        if (BELL_IDLE != gba_word_load_relaxed(bell + 1))
            fake_violation("store to NOTIFY");
        /* Acquire: pairs with the arrival's release. The release stores follow it. */
        value = le64toh(gba_word_load_acquire(bell));
        if (BELL_IDLE == value)
            continue;
        gba_word_store_relaxed(bell, BELL_IDLE);
        if (!seats[i].revoked)
            fake_driver_arrive(seats[i].group, value);
        arrivals++;
    }
    return arrivals;
}
