/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of an agreement in every order of events for 2 and 3 members, and in random
 * orders for up to 17. An event is the arrival of a message, the departure of a message, or a test
 * by a member. Each member posts a minimum, an allgather and a minimum. The mail of the test
 * refuses a message for lack of memory once, or fails once, at every place. And what the busiest of
 * 64 members sends: as much as its depth in a tree asks, and not the records of all to each.
 */

#include "gba/algo/exchange.h"
#include "tests/suite.h"
#include "tests/unit/search.h"

#define MEMBERS    64
#define OPERATIONS 3
#define WORDS      3
#define EVENTS     200 /* in the exhaustive search */
#define STATES     2000000
#define POSTS      24 /* messages that three members send and receive */
#define NOWHERE    UINT32_MAX

struct lane {
    enum { FREE, SENDS, RECEIVES } kind;
    uint32_t peer;
    void *to;
    const void *from;
    size_t bytes;
    bool over; /* it has left, or has arrived */
};

struct member {
    struct gba_exchange *exchange;
    struct lane lane[GBA_EXCHANGE_LANES];
    uint32_t posted;     /* operations */
    uint32_t messages;   /* posted */
    size_t sends, bytes; /* of the allgather */
    gba_status_t status;
    uint64_t words[WORDS];
    uint32_t records[MEMBERS];
};

/* The messages on their way: one in each direction, or more if the exchange is wrong. */
static struct {
    size_t bytes; /* 0: none */
    bool arrived;
    char data[MEMBERS * sizeof(uint64_t)];
} way[MEMBERS][MEMBERS];

static struct member member[MEMBERS];
static uint32_t members, complete[OPERATIONS];
static uint32_t posts, refused, broken; /* the number of the post that is refused, or fails */

static gba_status_t post_result(struct member *m)
{
    const uint32_t post = posts++;

    m->messages++;
    if (post == broken)
        return GBA_ERR_OOB;
    return post == refused ? GBA_INPROGRESS : GBA_OK;
}

static struct lane *lane_take(struct member *m, uint32_t lane, uint32_t peer, size_t bytes)
{
    assert_true(lane < GBA_EXCHANGE_LANES);
    assert_true(m->lane[lane].kind == FREE);
    assert_true(peer < members && peer != (uint32_t)(m - member));
    m->lane[lane] = (struct lane){.peer = peer, .bytes = bytes};
    return &m->lane[lane];
}

static gba_status_t mail_receive(void *ctx, uint32_t lane, uint32_t from, void *buffer,
                                 size_t bytes)
{
    gba_status_t status = post_result(ctx);

    if (status == GBA_OK) {
        struct lane *l = lane_take(ctx, lane, from, bytes);

        l->kind = RECEIVES;
        l->to = buffer;
    }
    return status;
}

static gba_status_t mail_send(void *ctx, uint32_t lane, uint32_t to, const void *buffer,
                              size_t bytes)
{
    const uint32_t me = (uint32_t)((struct member *)ctx - member);
    gba_status_t status = post_result(ctx);

    if (status == GBA_OK) {
        struct lane *l = lane_take(ctx, lane, to, bytes);

        l->kind = SENDS;
        l->from = buffer;
        assert_true(way[me][to].bytes == 0); /* at most one in each direction */
        assert_true(bytes <= sizeof way[me][to].data);
        if (((struct member *)ctx)->posted == 2) {
            ((struct member *)ctx)->sends++;
            ((struct member *)ctx)->bytes += bytes;
        }
        way[me][to].bytes = bytes;
        way[me][to].arrived = false;
    }
    return status;
}

/* A message that has arrived goes to the receive that is posted for it. */
static void lane_match(uint32_t me, struct lane *l)
{
    if (l->kind != RECEIVES || l->over || way[l->peer][me].bytes == 0 || !way[l->peer][me].arrived)
        return;
    assert_int_equal(way[l->peer][me].bytes, l->bytes);
    memcpy(l->to, way[l->peer][me].data, l->bytes);
    way[l->peer][me].bytes = 0;
    l->over = true;
}

static gba_status_t mail_test(void *ctx)
{
    struct member *m = ctx;
    gba_status_t status = GBA_OK;

    for (uint32_t i = 0; i < GBA_EXCHANGE_LANES; i++) {
        lane_match((uint32_t)(m - member), &m->lane[i]);
        if (m->lane[i].over)
            m->lane[i] = (struct lane){.kind = FREE};
        else if (m->lane[i].kind != FREE)
            status = GBA_INPROGRESS;
    }
    return status;
}

static const struct gba_mail mail = {mail_receive, mail_send, mail_test};

/* The words of a member: a different one has the minimum of each. */
static uint64_t word_of(uint32_t operation, uint32_t rank, uint32_t word)
{
    return 1000 * operation + (rank + word) % members + (word == 0 ? UINT64_MAX / 2 : 0);
}

static void operation_post(uint32_t me)
{
    struct member *m = &member[me];
    uint32_t record = 100 * me + m->posted;

    if (m->posted == 1) {
        m->status = gba_exchange_allgather(m->exchange, &record, m->records, sizeof record);
    } else {
        for (uint32_t i = 0; i < WORDS; i++)
            m->words[i] = word_of(m->posted, me, i);
        m->status = gba_exchange_min(m->exchange, m->words, WORDS);
    }
    m->posted++;
    if (m->status == GBA_OK)
        m->status = GBA_INPROGRESS;
}

static void operation_check(uint32_t me)
{
    const struct member *m = &member[me];
    const uint32_t operation = m->posted - 1;

    for (uint32_t i = 0; i < members; i++) {
        assert_true(member[i].posted > operation); /* nobody leaves early */
        if (operation == 1)
            assert_int_equal(m->records[i], 100 * i + 1);
    }
    for (uint32_t i = 0; operation != 1 && i < WORDS; i++)
        assert_int_equal(m->words[i], 1000 * operation + (i == 0 ? UINT64_MAX / 2 : 0));
    for (uint32_t i = 0; i < GBA_EXCHANGE_LANES; i++)
        assert_true(m->lane[i].kind == FREE); /* it may leave MPI now */
    complete[operation]++;
}

static void member_test(uint32_t me)
{
    struct member *m = &member[me];

    m->status = gba_exchange_test(m->exchange);
    if (m->status == GBA_ERR_OOB) { /* from now on the memory is the caller's */
        memset(m->words, 0xee, sizeof m->words);
        memset(m->records, 0xee, sizeof m->records);
    }
    if (m->status != GBA_OK)
        return;
    operation_check(me);
    if (m->posted < OPERATIONS)
        operation_post(me);
}

static void world_open(uint32_t count)
{
    memset(member, 0, sizeof member);
    memset(complete, 0, sizeof complete);
    posts = 0;
    members = count;
    for (uint32_t i = 0; i < members; i++) {
        memset(way[i], 0, members * sizeof way[i][0]);
        member[i].exchange = gba_exchange_create(i, members, &mail, &member[i]);
        assert_true(member[i].exchange != NULL);
        assert_int_equal(gba_exchange_reserve(member[i].exchange, sizeof(uint32_t)), GBA_OK);
    }
}

static void world_free(void)
{
    for (uint32_t i = 0; i < members; i++)
        gba_exchange_destroy(member[i].exchange);
}

/* The end of a run: all operations are complete on all members, unless one has failed. */
static void world_close(void)
{
    bool failed = false;

    for (uint32_t i = 0; i < members; i++)
        failed |= member[i].status == GBA_ERR_OOB;
    for (uint32_t i = 0; i < OPERATIONS && !failed; i++)
        assert_int_equal(complete[i], members);
    for (uint32_t i = 0; i < members; i++)
        for (size_t k = 0; member[i].status == GBA_ERR_OOB && k < sizeof member[i].words; k++)
            assert_int_equal(((unsigned char *)member[i].words)[k], 0xee);
    world_free();
}

/* The events, by number: a test by each member, then the departure and the arrival of each message.
 * Returns whether it was possible. */
static bool event_run(uint32_t event)
{
    uint32_t from, to;

    if (event < members) {
        if (member[event].posted == 0)
            operation_post(event);
        else if (member[event].status == GBA_INPROGRESS)
            member_test(event);
        else
            return false;
        return true;
    }
    event -= members;
    if (event < members * members) { /* arrival */
        /* It forgets that there are members. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
        from = event / members;
        to = event % members;
        if (way[from][to].bytes == 0 || way[from][to].arrived)
            return false;
        for (uint32_t i = 0; i < GBA_EXCHANGE_LANES; i++)
            if (member[from].lane[i].kind == SENDS && member[from].lane[i].peer == to)
                memcpy(way[from][to].data, member[from].lane[i].from, way[from][to].bytes);
        way[from][to].arrived = true;
        return true;
    }
    event -= members * members; /* departure, at which the sender may use its memory again */
    from = event / GBA_EXCHANGE_LANES;
    if (member[from].lane[event % GBA_EXCHANGE_LANES].kind != SENDS ||
        member[from].lane[event % GBA_EXCHANGE_LANES].over)
        return false;
    to = member[from].lane[event % GBA_EXCHANGE_LANES].peer;
    if (way[from][to].bytes != 0 && !way[from][to].arrived)
        memcpy(way[from][to].data, member[from].lane[event % GBA_EXCHANGE_LANES].from,
               way[from][to].bytes);
    member[from].lane[event % GBA_EXCHANGE_LANES].over = true;
    return true;
}

static uint32_t events(void)
{
    return members + members * members + members * GBA_EXCHANGE_LANES;
}

/* FNV-1a of what decides about the rest of a run. */
static uint64_t world_hash(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

#define ADD(value) hash = (hash ^ (uint64_t)(value)) * UINT64_C(0x100000001b3)
    ADD(refused == NOWHERE || posts <= refused ? posts : NOWHERE);
    for (uint32_t i = 0; i < members; i++) {
        ADD(member[i].posted);
        ADD(member[i].messages);
        ADD(member[i].status);
        for (uint32_t k = 0; k < members; k++)
            ADD(2 * way[i][k].bytes + way[i][k].arrived);
        for (uint32_t k = 0; k < GBA_EXCHANGE_LANES; k++)
            ADD((member[i].lane[k].kind * 2 + member[i].lane[k].over) << 8 |
                member[i].lane[k].peer);
    }
#undef ADD
    return hash == 0 ? 1 : hash;
}

/* A run: the events that led to a state. The state itself has pointers, so it is made again. */
struct run {
    uint32_t length;
    unsigned char event[EVENTS];
};

static void run_again(const struct run *run, uint32_t count)
{
    world_open(count);
    for (uint32_t i = 0; i < run->length; i++)
        assert_true(event_run(run->event[i]));
}

/* All runs of that many members. Returns the number of states. */
static uint32_t search(uint32_t count)
{
    struct run run = {0}, next;
    struct visited seen;
    uint32_t states;
    bool last;

    visited_open(&seen, sizeof run, STATES);
    visit(&seen, &run, 1);
    while (visited_next(&seen, &run)) {
        last = true;
        next = run;
        assert_true(next.length++ < EVENTS);
        run_again(&run, count);
        uint64_t before = world_hash();
        for (uint32_t event = 0; event < events(); event++) {
            if (!event_run(event))
                continue;
            if (world_hash() != before) {
                last = false;
                next.event[run.length] = (unsigned char)event;
                visit(&seen, &next, world_hash());
            }
            world_free();
            run_again(&run, count);
        }
        if (last)
            world_close();
        else
            world_free();
        assert_true(seen.states < STATES);
    }
    states = seen.states;
    visited_close(&seen);
    return states;
}

TEST(test_every_order)
{
    refused = broken = NOWHERE;
    for (uint32_t count = 1; count <= 3; count++)
        print_message("%u members: %u states\n", count, search(count));
}

/* Of three members, each of the messages in each place of a run. */
TEST(test_refused_and_broken)
{
    refused = broken = NOWHERE;
    for (refused = 0; refused < POSTS; refused++)
        (void)search(3);
    for (broken = 0; broken < POSTS; broken++)
        (void)search(3);
}

/* A random run; faults: with refusals. */
static void dice_run(uint32_t count, bool faults)
{
    world_open(count);
    for (uint32_t last = 0; last < 20 * events();) {
        refused = faults && dice_bits() % 4 == 0 ? posts : NOWHERE;
        last = event_run(dice_bits() % events()) ? 0 : last + 1;
    }
    world_close();
}

/* Only an allgather in reserved memory, which cannot fail for lack of memory later. */
TEST(test_reserved)
{
    uint32_t record = 7, all = 0;

    refused = broken = NOWHERE;
    world_open(1);
    assert_int_equal(gba_exchange_allgather(member[0].exchange, &record, &all, 1), GBA_OK);
    assert_int_equal(gba_exchange_test(member[0].exchange), GBA_OK);
    assert_int_equal(gba_exchange_reserve(member[0].exchange, sizeof all - 1), GBA_OK);
    assert_int_equal(gba_exchange_allgather(member[0].exchange, &record, &all, sizeof all),
                     GBA_ERR_OOB);
    assert_int_equal(gba_exchange_reserve(member[0].exchange, sizeof all), GBA_OK);
    assert_int_equal(gba_exchange_allgather(member[0].exchange, &record, &all, sizeof all), GBA_OK);
    assert_int_equal(gba_exchange_test(member[0].exchange), GBA_OK);
    assert_int_equal(all, 7);
    assert_int_equal(gba_exchange_reserve(member[0].exchange, 0), GBA_OK);
    assert_int_equal(gba_exchange_allgather(member[0].exchange, &record, &all, 1), GBA_ERR_OOB);
    world_free();
}

TEST(test_dice)
{
    refused = broken = NOWHERE;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        dice_seed(seed);
        dice_run(2 + seed % 16, seed % 2 == 0);
    }
}

/* The records of the allgather are a uint32_t each. */
TEST(test_busiest)
{
    const uint32_t depth = 6; /* log2(MEMBERS) */
    bool any = true;

    refused = broken = NOWHERE;
    world_open(MEMBERS);
    while (any) {
        any = false;
        for (uint32_t event = 0; event < events(); event++)
            any |= event_run(event);
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_true(member[i].sends <= depth);
        assert_true(member[i].bytes <= depth * MEMBERS * sizeof(uint32_t));
    }
    assert_int_equal(member[0].bytes, depth * MEMBERS * sizeof(uint32_t));
    world_close();
}

TEST_MAIN()
