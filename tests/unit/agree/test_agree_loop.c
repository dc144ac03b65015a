/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of the agreement (gba/agree/loop.c) under every refusal, delay and failure. The members
 * are agreements of one thread, which tests them in any order; their exchange is memory. Each
 * exchange of each candidate is refused by each member in turn, also two of them; each exchange
 * fails; and each member is the last one. The hosts have no device, one, or devices of two switch
 * domains. All members must end on one path for one reason, after the same exchanges, and leave
 * nothing behind. Two and three members exhaustively, up to 16 by dice.
 */
#include <unistd.h>

#include "gba/agree/agree.h"
#include "gba/base/host.h"
#include "gba/failover/failover.h"
#include "gba/transport/transport.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

/* ------------------------------------------------------- a transport that sends nothing --- */

static gba_status_t no_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                           uint32_t seq)
{
    (void)transport, (void)peer, (void)slot, (void)seq;
    return GBA_OK;
}

static uint32_t no_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    (void)transport, (void)slot, (void)parity;
    return 0;
}

static void transport_free(struct gba_transport *transport)
{
    free(transport);
}

static const struct gba_transport_ops no_ops = {
    .name = "none", .set = no_set, .load = no_load, .destroy = transport_free};

static gba_status_t remote_open(void *ctx, const gba_remote_group_t *group,
                                struct gba_transport **transport)
{
    struct gba_transport *s = calloc(1, sizeof *s);

    (void)ctx, (void)group;
    if (s == NULL)
        return GBA_ERR_NOMEM;
    s->ops = &no_ops;
    *transport = s;
    return GBA_OK;
}

static const gba_remote_t some_remote = {.open = remote_open};

/* ---------------------------------------------------------------------------- the members --- */

#define MOST      16u
#define EXCHANGES 64u

/* What happens to the members. */
struct script {
    uint32_t size, hosts;
    int hierarchy, offload;
    gba_device_t *device[2];     /* of the even and of the odd hosts; NULL: none */
    uint64_t refuses[EXCHANGES]; /* the members that refuse this exchange, a bit for each */
    uint32_t fails;              /* the exchange that fails, from 1; 0: none */
    uint32_t last;               /* the member that is tested after all others */
    unsigned seed;               /* not 0: members are tested in a random order */
};

/* Two exchanges: a member posts the next one while others still read this one. */
struct slot {
    uint32_t posted, count;
    size_t bytes; /* of a record; 0: words */
    uint64_t least[GBA_OOB_WORDS];
    unsigned char all[MOST][512];
};

struct net {
    const struct script *script;
    uint32_t refusals; /* that took effect */
    struct slot slot[2];
};

struct member {
    struct net *net;
    uint32_t rank, exchanges; /* complete */
    bool posted;
    size_t reserved; /* bytes of a record */
    uint64_t *words;
    void *out;
};

static bool refuses(const struct member *self)
{
    return self->exchanges < EXCHANGES &&
           0 != (self->net->script->refuses[self->exchanges] >> self->rank & 1);
}

/* The member that is tested, and its host, by the linker. */
static const struct member *tested;

gba_status_t __wrap_gba_host_get(struct gba_host *host);
gba_status_t __wrap_gba_host_get(struct gba_host *host)
{
    *host = (struct gba_host){{1000 - tested->rank % tested->net->script->hosts}};
    return GBA_OK;
}

/* The refusals of votes and handles. */
static void words_change(const struct member *self, uint64_t *words, uint32_t count)
{
    if (refuses(self) && (1 == count || (0 == self->rank && count <= 6)))
        words[0] = gba_refusal_word(GBA_ERR_REFUSED, self->rank), self->net->refusals++;
}

static void record_change(const struct member *self, void *record, size_t bytes)
{
    if (sizeof(struct gba_node_info) == bytes && refuses(self))
        ((struct gba_node_info *)record)->status = GBA_ERR_REFUSED, self->net->refusals++;
}

/* The exchange that this member posts. All members must post the same one. */
static struct slot *slot_post(struct member *self, uint32_t count, size_t bytes)
{
    struct slot *slot = &self->net->slot[self->exchanges % 2];

    assert_false(self->posted);
    if (self->net->script->size == slot->posted)
        memset(slot, 0, sizeof *slot);
    if (0 == slot->posted++) {
        memset(slot->least, 0xff, sizeof slot->least);
        slot->count = count;
        slot->bytes = bytes;
    }
    assert_int_equal(slot->count, count);
    assert_int_equal(slot->bytes, bytes);
    self->posted = true;
    return slot;
}

static gba_status_t net_min(void *ctx, uint64_t *words, uint32_t count)
{
    struct member *self = ctx;
    struct slot *slot = slot_post(self, count, 0);

    words_change(self, words, count);
    for (uint32_t i = 0; i < count; i++)
        slot->least[i] = words[i] < slot->least[i] ? words[i] : slot->least[i];
    self->words = words;
    return GBA_OK;
}

static gba_status_t net_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    struct member *self = ctx;
    struct slot *slot = slot_post(self, 0, bytes);

    assert_true(bytes <= sizeof slot->all[0]);
    assert_true(bytes <= self->reserved);
    memcpy(slot->all[self->rank], in, bytes);
    record_change(self, slot->all[self->rank], bytes);
    self->out = out;
    return GBA_OK;
}

static gba_status_t net_reserve(void *ctx, size_t bytes)
{
    ((struct member *)ctx)->reserved = bytes;
    return GBA_OK;
}

static gba_status_t net_test(void *ctx)
{
    struct member *self = ctx;
    const struct slot *slot = &self->net->slot[self->exchanges % 2];

    if (!self->posted)
        return GBA_OK;
    if (slot->posted < self->net->script->size)
        return GBA_INPROGRESS;
    for (uint32_t r = 0; r < self->net->script->size && 0 != slot->bytes; r++)
        memcpy((char *)self->out + r * slot->bytes, slot->all[r], slot->bytes);
    if (0 == slot->bytes)
        memcpy(self->words, slot->least, slot->count * sizeof slot->least[0]);
    self->posted = false;
    return self->net->script->fails == ++self->exchanges ? GBA_ERR_OOB : GBA_OK;
}

static void net_name(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "member %u", rank);
}

/* The outcome of all members. */
struct outcome {
    gba_status_t status;
    gba_path_t path;
    gba_status_t reason;
    bool stays; /* after a failure: nobody answers that a round is complete */
    uint32_t exchanges, refusals;
    char why[600];
};

/* Test every member once, in an order of the script. */
static void pass(const struct script *script, const struct member *member,
                 gba_agreement_t **agreement, gba_team_t **team, gba_status_t *status,
                 unsigned *seed)
{
    uint32_t order[MOST];

    for (uint32_t i = 0; i < script->size; i++)
        order[i] = i;
    order[script->size - 1] = script->last;
    order[script->last] = script->size - 1;
    for (uint32_t i = script->size; 0 != script->seed && i > 1; i--) {
        const uint32_t k = (uint32_t)rand_r(seed) % i, swapped = order[i - 1];

        order[i - 1] = order[k];
        order[k] = swapped;
    }
    for (uint32_t i = 0; i < script->size; i++)
        if (GBA_INPROGRESS == status[order[i]] && (0 == script->seed || 0 != rand_r(seed) % 3)) {
            tested = &member[order[i]];
            status[order[i]] = gba_agree_test(agreement[order[i]], &team[order[i]]);
        }
}

/* Whether the teams of the failed agreements stay registered; end them here. */
static bool stays(gba_agreement_t *const *agreement, uint32_t size)
{
    const gba_notification_t question = {.team = 1, .round = 1};
    gba_notification_t answer;

    if (GBA_OK == gba_notification_answer(&question, &answer))
        return false;
    for (uint32_t r = 0; r < size; r++) {
        gba_failover_close(agreement[r]->team);
        gba_agree_free(agreement[r]->team);
    }
    return true;
}

/* The members agree. All must have the same outcome, which is returned. */
static struct outcome play(const struct script *script)
{
    static struct net net;
    struct member member[MOST] = {{.rank = 0}};
    gba_agreement_t *agreement[MOST];
    gba_team_t *team[MOST];
    gba_status_t status[MOST] = {GBA_INPROGRESS};
    struct outcome outcome = {.status = GBA_OK};
    gba_params_t params;
    gba_device_info_t info;
    unsigned seed = script->seed;
    bool running = true;

    memset(&net, 0, sizeof net);
    net.script = script;
    gba_params_default(&params);
    params.hierarchy = script->hierarchy;
    params.offload = script->offload;
    for (uint32_t r = 0; r < script->size; r++) {
        const gba_team_attr_t attr = {.name = "loop",
                                      .id = 1,
                                      .params = &params,
                                      .device = script->device[r % script->hosts % 2],
                                      .device_status = GBA_ERR_NO_DEVICE,
                                      .remote = &some_remote};
        const gba_oob_t oob = {.ctx = &member[r],
                               .rank = r,
                               .size = script->size,
                               .min = net_min,
                               .allgather = net_allgather,
                               .reserve = net_reserve,
                               .test = net_test,
                               .name_member = net_name};

        member[r] = (struct member){.net = &net, .rank = r};
        status[r] = GBA_INPROGRESS;
        assert_int_equal(gba_agree_start(NULL, GBA_DUE_CREATE, &attr, &oob, &agreement[r]), GBA_OK);
    }
    for (int i = 0; running; i++) {
        assert_true(i < 10000); /* else some members wait for others */
        pass(script, member, agreement, team, status, &seed);
        running = false;
        for (uint32_t r = 0; r < script->size; r++)
            running = running || GBA_INPROGRESS == status[r];
    }
    for (uint32_t r = 0; r < script->size; r++) {
        assert_int_equal(status[r], status[0]);
        assert_int_equal(member[r].exchanges, member[0].exchanges);
        assert_int_equal(member[r].reserved, 0);
        if (GBA_OK != status[0])
            continue;
        assert_int_equal(gba_team_path(team[r]), gba_team_path(team[0]));
        assert_int_equal(gba_team_reason(team[r]), gba_team_reason(team[0]));
        assert_string_equal(gba_team_why(team[r]), gba_team_why(team[0]));
    }
    outcome.status = status[0];
    outcome.exchanges = member[0].exchanges;
    outcome.refusals = net.refusals;
    if (GBA_OK == status[0]) {
        outcome.path = gba_team_path(team[0]);
        outcome.reason = gba_team_reason(team[0]);
        snprintf(outcome.why, sizeof outcome.why, "%s", gba_team_why(team[0]));
    }
    for (uint32_t r = 0; GBA_OK == status[0] && r < script->size; r++)
        gba_team_destroy(team[r]);
    outcome.stays = GBA_OK != status[0] && stays(agreement, script->size);
    for (int i = 0; i < 2 && script->device[i] != NULL; i++) {
        assert_int_equal(gba_device_query(script->device[i], &info), GBA_OK);
        assert_int_equal(info.groups_free, info.groups);
    }
    return outcome;
}

/* Each exchange of the run fails. If the last one does, another member may be in barriers of the
 * group, in which it must not leave without this one. */
static void fail_each(struct script script, const struct outcome *clean)
{
    struct outcome outcome = *clean;

    for (script.fails = 1; script.fails <= clean->exchanges; script.fails++) {
        outcome = play(&script);
        assert_int_equal(outcome.status, GBA_ERR_OOB);
    }
    assert_true(outcome.stays || clean->path > GBA_PATH_SIM);
}

/* Each exchange is refused by each member, and after it another one, with each member the last. A
 * refusal that took effect changes the outcome. before: without the last refusal. */
static void refuse_each(struct script script, uint32_t depth, uint32_t from,
                        const struct outcome *before)
{
    const struct outcome clean = play(&script);

    assert_int_equal(clean.status, GBA_OK);
    if (before != NULL && clean.refusals > before->refusals)
        assert_string_not_equal(clean.why, before->why);
    for (script.last = 0; script.last < script.size; script.last++)
        assert_string_equal(play(&script).why, clean.why);
    script.last = 0;
    fail_each(script, &clean);
    if (0 == depth)
        return;
    for (uint32_t k = from; k < clean.exchanges; k++)
        for (uint32_t r = 0; r < script.size; r++) {
            script.refuses[k] = UINT64_C(1) << r;
            refuse_each(script, depth - 1, k + 1, &clean);
            script.refuses[k] = 0;
        }
}

static void devices_open(gba_device_t *device[2])
{
    alarm(test_limit(300));
    for (int i = 0; i < 2; i++)
        assert_int_equal(gba_device_init("sim", NULL, &device[i]), GBA_OK);
}

static void devices_close(gba_device_t *device[2])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    while (fgets(line, sizeof line, maps) != NULL)
        assert_null(strstr(line, "gba-team")); /* the memory of a node */
    fclose(maps);
    for (int i = 0; i < 2; i++)
        gba_device_fini(device[i]);
    alarm(0);
}

/* Neither device, the first one for all hosts, or both. */
static void devices_choose(struct script *script, gba_device_t *device[2], int count)
{
    script->device[0] = 0 == count ? NULL : device[0];
    script->device[1] = 2 == count ? device[1] : script->device[0];
}

TEST(test_exhaustive)
{
    gba_device_t *device[2];

    devices_open(device);
    for (uint32_t size = 2; size <= 3; size++)
        for (uint32_t hosts = 1; hosts <= size; hosts++)
            for (int way = 0; way < 9; way++) {
                struct script script = {.size = size, .hosts = hosts, .hierarchy = way % 3};

                devices_choose(&script, device, way / 3);
                refuse_each(script, 2, 1, NULL);
            }
    devices_close(device);
}

TEST(test_dice)
{
    gba_device_t *device[2];

    devices_open(device);
    srand(7);
    for (unsigned i = 1; i <= 2000; i++) {
        struct script script = {.size = 2 + (uint32_t)rand() % (MOST - 1), .seed = i};

        script.hosts = 1 + (uint32_t)rand() % script.size;
        script.hierarchy = rand() % 3;
        devices_choose(&script, device, (1 + rand() % 4) / 2);
        script.offload = GBA_OFFLOAD_FASTEST + rand() % 3;
        for (uint32_t k = 1; k < EXCHANGES; k++)
            if (0 == rand() % 3) {
                script.refuses[k] = (uint64_t)rand() & 0xffff;
                script.refuses[k] &= (uint64_t)rand(); /* each member in one case of four */
            }
        script.fails = 0 == rand() % 4 ? 1 + (uint32_t)rand() % 9 : 0;
        (void)play(&script);
    }
    devices_close(device);
}

/* The exchanges of an agreement without refusals. */
TEST(test_exchanges)
{
    gba_device_t *device[2];

    devices_open(device);
    for (uint32_t hosts = 1; hosts <= 4; hosts++)
        for (int count = 0; count < 3; count++) {
            struct script script = {.size = 4, .hosts = hosts};

            devices_choose(&script, device, count);
            assert_in_range(play(&script).exchanges, 3, 2 == count ? 7 : 4);
        }
    devices_close(device);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
