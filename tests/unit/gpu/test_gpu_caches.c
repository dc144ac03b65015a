/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba/gpu_member.h on an emulated machine whose cores have caches that are not coherent: a core
 * sees another one's store only after the one has cleaned its line and the other has invalidated
 * its own; lines are evicted at random, and a dirty one overwrites all of the line in memory. A
 * device and the evictions act within each access of a member. Each clean and each invalidate, left
 * out, breaks a barrier.
 */
#include "tests/suite.h"
#include "tests/unit/search.h"

/* ------------------------------------------------------------------------------ the machine --- */

#define MEMBERS 3u
#define LANES   2u                    /* of a member, each on a core of its own */
#define CORES   (2 * MEMBERS * LANES) /* a member's kernels take turns on two sets */
#define LINES   16u
#define WORDS   8u /* 64 bytes */

enum fault {
    NO_FAULT,
    NO_CLEAN,
    NO_INVALIDATE,
    DOORBELL_CACHED,
    FLAG_CACHED,
    COUNT_NOT_INVALIDATED,
    COUNT_NOT_CLEANED,
    FAULTS
};

struct line {
    uint64_t word[WORDS];
};

static struct {
    struct line memory[LINES];
    struct copy {
        struct line line;
        bool valid, dirty;
    } cache[CORES][LINES];
    uint32_t core, lane; /* on which the code runs */
    uint32_t
        together; /* lanes that have met: what such a lane, but the first, cleans is too late */
    bool shared;  /* before that, what such a lane invalidates is too early */
    int status;
    uint32_t round, releases; /* of the device: a bit for each member that is not released yet */
    uint64_t clock;
    enum fault fault;
    bool evicts;
    bool dies; /* the device ends the round and dies when a member is about to look at the fate */
} now;

/* The lines of each member. */
enum {
    DATA,
    DOORBELL = DATA + MEMBERS * LANES,
    FLAG = DOORBELL + MEMBERS,
    COUNT = FLAG + MEMBERS,
    FATE = COUNT + MEMBERS
};

static void cache_clean(uint32_t core, uint32_t line)
{
    struct copy *copy = &now.cache[core][line];

    if (copy->dirty)
        now.memory[line] = copy->line;
    copy->dirty = false;
}

static void cache_drop(uint32_t core, uint32_t line)
{
    cache_clean(core, line);
    now.cache[core][line].valid = false;
}

static uint32_t line_of(const uint64_t *word)
{
    return (uint32_t)((const struct line *)(const void *)word - now.memory);
}

static struct copy *cache_fill(const uint64_t *word)
{
    const uint32_t line = line_of(word);
    struct copy *copy = &now.cache[now.core][line];

    if (!copy->valid)
        *copy = (struct copy){.line = now.memory[line], .valid = true};
    return copy;
}

static uint64_t cached_load(const uint64_t *word)
{
    return cache_fill(word)->line.word[0];
}

static void cached_store(const uint64_t *word, uint64_t value)
{
    struct copy *copy = cache_fill(word);

    copy->line.word[0] = value;
    copy->dirty = true;
}

/* Each word has its line for itself. */
static uint64_t *word_at(uint32_t line)
{
    return now.memory[line].word;
}

/* The device, and the caches, between two accesses of a member. */
static void meanwhile(void)
{
    const uint32_t member = dice_bits() % MEMBERS;
    uint32_t here = 0;

    if (now.evicts && 0 == dice_bits() % 4)
        cache_drop(dice_bits() % CORES, dice_bits() % LINES);
    for (uint32_t m = 0; m < MEMBERS; m++)
        here += (uint32_t)(*word_at(DOORBELL + m) >> 32) == now.round + 1;
    if (0 != (now.releases >> member & 1)) {
        now.releases &= ~(1u << member);
        *word_at(FLAG + member) = now.round;
    } else if (MEMBERS == here && 0 == now.releases) {
        now.round++;
        now.releases = (1u << MEMBERS) - 1;
    }
}

/* ------------------------------------------------------------------------------- the port --- */

#define GBA_GPU_FN static inline

#include "gba/gpu.h"

GBA_GPU_FN void gba_gpu_store(uint64_t *to, uint64_t value, gba_gpu_order_t order, uint32_t direct)
{
    (void)order;
    (void)direct;
    meanwhile();
    if (LANES != now.together)
        return; /* the first lane has not waited for the others */
    if (DOORBELL_CACHED == now.fault)
        cached_store(to, value);
    else
        *to = value;
}

GBA_GPU_FN uint64_t gba_gpu_load(const uint64_t *from, gba_gpu_order_t order)
{
    (void)order;
    meanwhile();
    if (now.dies && word_at(FATE) == from) {
        *word_at(FLAG) = now.round + 1;
        *word_at(FATE) = (uint64_t)-GBA_ERR_DEAD << 32;
    }
    return FLAG_CACHED == now.fault ? cached_load(from) : *from;
}

GBA_GPU_FN uint32_t gba_gpu_add(uint64_t *count, uint32_t add)
{
    uint32_t sum;

    if (COUNT_NOT_INVALIDATED != now.fault)
        cache_drop(now.core, line_of(count));
    sum = (uint32_t)cached_load(count) + add;
    if (0 != add)
        cached_store(count, sum);
    if (0 != add && COUNT_NOT_CLEANED != now.fault)
        cache_clean(now.core, line_of(count));
    return sum;
}

GBA_GPU_FN void gba_gpu_clean(void)
{
    meanwhile();
    if (0 != now.lane && LANES - now.lane <= now.together)
        return;
    for (uint32_t line = 0; line < LINES && NO_CLEAN != now.fault; line++)
        cache_clean(now.core, line);
}

GBA_GPU_FN void gba_gpu_invalidate(void)
{
    meanwhile();
    if (0 != now.lane && !now.shared)
        return;
    for (uint32_t line = 0; line < LINES && NO_INVALIDATE != now.fault; line++)
        cache_drop(now.core, line);
}

GBA_GPU_FN uint64_t gba_gpu_clock(void)
{
    return ++now.clock;
}

#define GBA_GPU_GRID_SYNC()

GBA_GPU_FN uint32_t GBA_GPU_LANE(gba_gpu_coop_t coop)
{
    (void)coop;
    return now.lane;
}

/* The first lane comes last. */
GBA_GPU_FN void GBA_GPU_TOGETHER(gba_gpu_coop_t coop)
{
    (void)coop;
    now.together += 0 != now.lane || LANES - 1 == now.together;
}

/* The first lane comes first. */
GBA_GPU_FN int GBA_GPU_SHARE(gba_gpu_coop_t coop, const gba_gpu_member_t *member, int status)
{
    (void)coop;
    (void)member;
    if (0 == now.lane)
        now.status = status;
    now.shared = true;
    return now.status;
}

#include "gba/gpu_member.h"

/* ------------------------------------------------------------------------------- barriers --- */

#define ROUNDS 12u
#define KERNEL 3u /* rounds of a kernel */
#define FIRST  (UINT32_MAX - ROUNDS / 2)

enum verdict { FINE, EARLY, STALE, HANG };

struct running {
    gba_gpu_member_t gpu;
    uint32_t entered, left;
};

/* The lane goes on, on its core. */
static void resume(const struct running *me, uint32_t m, uint32_t lane)
{
    now.lane = lane;
    now.core = (2 * m + me->entered / KERNEL % 2) * LANES + lane;
    now.shared = false;
}

static void arrive(struct running *me, uint32_t m, gba_gpu_order_t order)
{
    const uint32_t round = me->entered + 1;

    now.together = 0;
    for (uint32_t lane = LANES; lane-- > 0;) {
        resume(me, m, lane);
        if (GBA_GPU_RELAXED != order)
            cached_store(word_at(DATA + m * LANES + lane), round);
        gba_gpu_arrive(&me->gpu, GBA_GPU_GRID, order);
    }
    me->entered = round;
}

/* One step of a member: it arrives, or polls for some time. */
static enum verdict step(struct running *all, uint32_t m)
{
    /* The last arrival of a kernel, for which the next one waits, orders nothing: what it left in
     * the cache stays there. */
    static const gba_gpu_order_t arrives[KERNEL] = {GBA_GPU_ACQ_REL, GBA_GPU_RELEASE,
                                                    GBA_GPU_RELAXED},
                                 waits[KERNEL] = {GBA_GPU_ACQ_REL, GBA_GPU_ACQUIRE,
                                                  GBA_GPU_RELAXED};
    struct running *me = &all[m];
    const uint32_t round = me->left % KERNEL;
    bool over = false;

    if (me->entered == me->left) {
        arrive(me, m, arrives[round]);
        return FINE;
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        resume(me, m, lane);
        if (GBA_OK != gba_gpu_wait(&me->gpu, GBA_GPU_GRID, waits[round], 1))
            continue; /* the time is over */
        over = true;
        for (uint32_t i = 0; i < MEMBERS; i++)
            if (all[i].entered <= me->left)
                return EARLY;
        for (uint32_t i = 0; i < MEMBERS * LANES && GBA_GPU_RELAXED != waits[round]; i++)
            if (cached_load(word_at(DATA + i)) <= me->left)
                return STALE;
    }
    me->left += over;
    return FINE;
}

static void begin(struct running *all, enum fault fault, uint64_t seed)
{
    dice_seed(seed);
    memset(&now, 0, sizeof now);
    now.fault = fault;
    now.evicts = 0 != seed % 2;
    now.round = FIRST;
    for (uint32_t m = 0; m < MEMBERS; m++) {
        all[m].gpu = (gba_gpu_member_t){.doorbell = word_at(DOORBELL + m),
                                        .flag = word_at(FLAG + m),
                                        .fate = word_at(FATE),
                                        .count = word_at(COUNT + m),
                                        .member = m,
                                        .direct = 1};
        *word_at(COUNT + m) = *word_at(FLAG + m) = FIRST;
        *word_at(DOORBELL + m) = (uint64_t)FIRST << 32;
    }
}

static enum verdict run(enum fault fault, uint64_t seed)
{
    struct running all[MEMBERS] = {0};
    enum verdict verdict = FINE;
    uint32_t done = 0;

    begin(all, fault, seed);
    for (uint32_t steps = 0; FINE == verdict && done < MEMBERS; steps++) {
        const uint32_t m = dice_bits() % MEMBERS;

        if (ROUNDS == all[m].left)
            continue;
        verdict = steps > 5000 ? HANG : step(all, m);
        done += ROUNDS == all[m].left;
    }
    return verdict;
}

TEST(caches_that_are_not_coherent)
{
    for (uint64_t seed = 0; seed < 400; seed++)
        assert_int_equal(run(NO_FAULT, seed), FINE);
}

TEST(each_clean_and_invalidate_is_needed)
{
    static const enum verdict expected[FAULTS] = {
        [NO_CLEAN] = STALE,   [NO_INVALIDATE] = STALE,         [DOORBELL_CACHED] = HANG,
        [FLAG_CACHED] = HANG, [COUNT_NOT_INVALIDATED] = EARLY, [COUNT_NOT_CLEANED] = EARLY,
    };

    for (enum fault fault = NO_CLEAN; fault < FAULTS; fault++)
        assert_int_equal(run(fault, 0), expected[fault]);
}

/* The flag, and then the fate: a round that the device has ended does not fail. */
TEST(a_round_that_a_dying_device_has_ended)
{
    struct running all[MEMBERS];
    const gba_gpu_member_t *gpu = &all[0].gpu;

    begin(all, NO_FAULT, 0);
    now.dies = true;
    assert_int_equal(gba_gpu_barrier(gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 1000), GBA_OK);
    assert_int_equal(gba_gpu_barrier(gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 1000), GBA_ERR_DEAD);
}

TEST_MAIN()
