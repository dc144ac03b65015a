/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flags of a node (node_flags.h): their groups, and every order of the steps of the members and
 * of their stores, which land one by one in any order. Members of which one knows too little must
 * be found.
 */
#include "gba/base/place.h"
#include "gba/path/node.h"
#include "tests/suite.h"
#include "tests/unit/search.h"

#define MEMBERS    33u
#define WORDS      (MEMBERS * GBA_NODE_FLAGS_SLOTS)
#define STATES_MAX (1u << 21)

enum verdict { FINE, EARLY, DEADLOCK, TOO_BIG };

/* A node: `caches` of them, dealt out in turn or in blocks, or none is known; and how often a
 * member makes a barrier. spoil: makes one member faulty. */
struct layout {
    uint32_t members, caches, rounds, first;
    bool blocks;
    void (*spoil)(struct gba_node_flags *flags, uint32_t member);
};

/* What the search copies. The words hold what has landed. */
struct state {
    uint64_t landed[WORDS], flying[WORDS]; /* flying: 0: nothing, else 1 + the newest store */
    struct {
        uint32_t entered, left, seen, unused;
    } member[MEMBERS];
};

static struct gba_segment segment;
static struct gba_node node[MEMBERS];
static const struct layout *layout;
static struct state now;
static enum verdict verdict;

static gba_word_t *word_at(uint32_t index)
{
    return gba_segment_slots(&segment, index / GBA_NODE_FLAGS_SLOTS) +
           index % GBA_NODE_FLAGS_SLOTS * (GBA_SLOT_SIZE / sizeof(gba_word_t));
}

static uint32_t words(void)
{
    return layout->members * GBA_NODE_FLAGS_SLOTS;
}

static uint32_t cache_of(uint32_t member)
{
    return layout->blocks ? member * layout->caches / layout->members : member % layout->caches;
}

static void node_open(const struct layout *n)
{
    struct gba_segment_handle handle;

    layout = n;
    verdict = FINE;
    memset(&now, 0, sizeof now);
    assert_int_equal(
        gba_shm_segment_create(n->members, GBA_NODE_FLAGS_SLOTS, n->first, &segment, &handle),
        GBA_OK);
    for (uint32_t m = 0; m < n->members && n->caches > 0; m++)
        gba_word_store_relaxed(gba_segment_place(&segment, m),
                               gba_place_make(cache_of(m) / 2, 0, cache_of(m), 1 + m));
    for (uint32_t m = 0; m < n->members; m++) {
        node[m] = (struct gba_node){.segment = segment};
        gba_node_barrier_init(&node[m].barrier, &segment, n->first);
        assert_int_equal(gba_node_flags_open(&node[m].flags, &segment, n->first), GBA_OK);
        gba_node_join(&node[m], m);
        if (n->spoil != NULL)
            n->spoil(&node[m].flags, m);
    }
    for (uint32_t w = 0; w < words(); w++)
        now.landed[w] = gba_word_load_relaxed(word_at(w));
}

static void node_close(void)
{
    for (uint32_t m = 0; m < layout->members; m++)
        gba_node_flags_close(&node[m].flags);
    gba_shm_segment_close(&segment);
}

/* ------------------------------------------------------------------------------- groups --- */

static void expect_groups(const struct layout *n, uint32_t groups, uint32_t most)
{
    uint32_t size[MEMBERS] = {0}, found = 0;

    node_open(n);
    for (uint32_t m = 0; m < n->members; m++) {
        const uint32_t first = gba_node_flags_first(&segment, m);

        assert_true(first <= m);
        assert_int_equal(gba_node_flags_first(&segment, first), first);
        assert_true(0 == n->caches || cache_of(first) == cache_of(m));
        size[first]++;
    }
    for (uint32_t m = 0; m < n->members; m++) {
        found += size[m] > 0;
        assert_true(size[m] <= most);
    }
    assert_int_equal(found, groups);
    assert_int_equal(node[0].flags.releases, groups);
    assert_int_equal(node[0].flags.awaited, size[0] - 1 + groups - 1);
    node_close();
}

TEST(groups)
{
    expect_groups(&(struct layout){.members = 9}, 2, 8);
    expect_groups(&(struct layout){.members = 16}, 2, 8);
    expect_groups(&(struct layout){.members = 33}, 5, 8);
    expect_groups(&(struct layout){.members = 16, .caches = 1}, 1, 16);
    expect_groups(&(struct layout){.members = 33, .caches = 1}, 3, 16);
    expect_groups(&(struct layout){.members = 16, .caches = 2, .blocks = true}, 2, 8);
    expect_groups(&(struct layout){.members = 17, .caches = 2}, 2, 9);
    expect_groups(&(struct layout){.members = 33, .caches = 3}, 3, 11);
    expect_groups(&(struct layout){.members = 9, .caches = 9}, 9, 1);
    expect_groups(&(struct layout){.members = 1, .caches = 1}, 1, 1);
}

/* ------------------------------------------------------------------------------- orders --- */

/* Make the state that of the memory and of the members. */
static void state_load(void)
{
    for (uint32_t w = 0; w < words(); w++)
        gba_word_store_relaxed(word_at(w), now.landed[w]);
    for (uint32_t m = 0; m < layout->members; m++) {
        node[m].flags.seen = now.member[m].seen;
        node[m].flags.seq = node[m].barrier.seq = layout->first + now.member[m].entered;
    }
}

static void leave(uint32_t member)
{
    const uint32_t left = ++now.member[member].left;

    for (uint32_t m = 0; m < layout->members; m++)
        if (now.member[m].entered < left)
            verdict = EARLY;
}

/* A step of a member; whether it did something. Its stores do not land yet. */
static bool member_step(uint32_t member)
{
    const struct state before = now;
    const uint32_t round = now.member[member].entered;
    struct gba_node *mine = &node[member];
    bool moved;

    if (now.member[member].left == layout->rounds)
        return false;
    if (round == now.member[member].left) {
        now.member[member].entered++;
        gba_node_gather(mine, layout->first + round + 1);
    } else if (0 != member) {
        if (GBA_OK == gba_node_test(mine))
            leave(member);
    } else if (gba_node_gathered(mine)) {
        gba_node_release(mine);
        leave(member);
    }
    now.member[member].seen = mine->flags.seen;
    moved = 0 != memcmp(&before, &now, sizeof now);
    for (uint32_t w = 0; w < words(); w++)
        if (gba_word_load_relaxed(word_at(w)) != now.landed[w])
            now.flying[w] = 1 + gba_word_load_relaxed(word_at(w));
    return moved;
}

static bool land(uint32_t w)
{
    if (0 == now.flying[w])
        return false;
    now.landed[w] = now.flying[w] - 1;
    now.flying[w] = 0;
    return true;
}

static bool all_done(void)
{
    for (uint32_t m = 0; m < layout->members; m++)
        if (now.member[m].left < layout->rounds)
            return false;
    return true;
}

/* Every order. A store that nobody has seen when the next one to its word follows is as if it had
 * landed just before. */
static enum verdict search_all(const struct layout *n)
{
    struct visited visited;
    struct state from;

    node_open(n);
    visited_open(&visited, sizeof now, STATES_MAX);
    visit_bytes(&visited, &now);
    while (FINE == verdict && visited_next(&visited, &from)) {
        bool any = false;

        for (uint32_t m = 0; m < n->members && FINE == verdict; m++) {
            now = from;
            state_load();
            if (!member_step(m))
                continue;
            any = true;
            visit_bytes(&visited, &now);
        }
        for (uint32_t w = 0; w < words() && FINE == verdict; w++) {
            now = from;
            if (!land(w))
                continue;
            any = true;
            visit_bytes(&visited, &now);
        }
        now = from;
        if (FINE == verdict && !any && !all_done())
            verdict = DEADLOCK;
        if (visited.states >= STATES_MAX)
            verdict = TOO_BIG;
    }
    visited_close(&visited);
    node_close();
    return verdict;
}

TEST(every_order)
{
    static const struct layout layouts[] = {
        {.members = 1, .caches = 1, .rounds = 3},
        {.members = 2, .caches = 1, .rounds = 4, .first = UINT32_MAX - 1},
        {.members = 2, .caches = 2, .rounds = 4, .first = INT32_MAX - 1},
        {.members = 3, .caches = 2, .rounds = 3, .first = UINT32_MAX - 1},
        {.members = 4, .caches = 2, .rounds = 3, .first = UINT32_MAX - 1},
        {.members = 4, .caches = 2, .rounds = 3, .blocks = true},
        {.members = 4, .caches = 3, .rounds = 3, .blocks = true},
        {.members = 5, .caches = 2, .rounds = 2},
        {.members = 6, .caches = 3, .rounds = 2},
    };

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        assert_int_equal(search_all(&layouts[i]), FINE);
}

/* Any order, at random, in nodes of real sizes. */
static enum verdict search_dice(const struct layout *n, uint64_t seed)
{
    const uint32_t members = n->members;
    uint32_t hurry;

    node_open(n);
    dice_seed(seed);
    hurry = dice_bits() % 100;
    while (FINE == verdict && !all_done()) {
        bool any = false;

        for (uint32_t i = 0; i < 4 * members && FINE == verdict; i++) {
            if (dice_bits() % 100 < hurry) {
                any |= land(dice_bits() % words());
            } else {
                state_load();
                any |= member_step(dice_bits() % members);
            }
        }
        for (uint32_t w = 0; w < words() && !any; w++)
            any = land(w);
        state_load();
        for (uint32_t m = 0; m < n->members && !any && FINE == verdict; m++)
            any = member_step(m);
        if (!any && FINE == verdict && !all_done())
            verdict = DEADLOCK;
    }
    node_close();
    return verdict;
}

TEST(dice)
{
    static const uint32_t sizes[] = {1, 8, 9, 16, 17, 33};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t caches = 0; caches <= 5; caches++)
            for (uint64_t seed = 0; seed < 20; seed++) {
                const struct layout n = {.members = sizes[i],
                                         .caches = caches,
                                         .rounds = 4,
                                         .first = UINT32_MAX - 2,
                                         .blocks = seed % 2};

                assert_int_equal(search_dice(&n, seed), FINE);
            }
}

/* ------------------------------------------------------------------------------- mutants --- */

static void report_at_once(struct gba_node_flags *mine, uint32_t member)
{
    if (0 != member)
        mine->awaited = 0;
}

static void report_too_early(struct gba_node_flags *mine, uint32_t member)
{
    if (0 != member && mine->awaited > 0)
        mine->awaited--;
}

/* The leader forgets a group; its releases stay where they are. */
static void gather_too_few(struct gba_node_flags *mine, uint32_t member)
{
    if (0 == member)
        mine->words[mine->awaited - 1] = mine->words[0];
}

static void release_too_few(struct gba_node_flags *mine, uint32_t member)
{
    if (0 == member)
        mine->releases--;
}

static void no_report(struct gba_node_flags *mine, uint32_t member)
{
    (void)member;
    mine->gathered = NULL;
}

/* The leader gathers what members of other groups have stored for themselves. */
static void gather_arrivals(struct gba_node_flags *mine, uint32_t member)
{
    for (uint32_t i = 0; 0 == member && i < mine->awaited; i++)
        for (uint32_t m = 0; m < layout->members; m++)
            if (mine->words[i] == word_at(m * GBA_NODE_FLAGS_SLOTS + 1))
                mine->words[i] = word_at(m * GBA_NODE_FLAGS_SLOTS);
}

TEST(mutants)
{
    static const struct {
        void (*spoil)(struct gba_node_flags *, uint32_t);
        enum verdict verdict;
    } mutants[] = {{report_at_once, EARLY}, {report_too_early, EARLY},
                   {gather_too_few, EARLY}, {release_too_few, DEADLOCK},
                   {no_report, DEADLOCK},   {gather_arrivals, EARLY}};

    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        const struct layout n = {.members = 5, .caches = 2, .rounds = 2, .spoil = mutants[i].spoil};

        assert_int_equal(search_all(&n), mutants[i].verdict);
    }
}

TEST_MAIN()
