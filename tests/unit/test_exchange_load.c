/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the busiest of many members sends in an exchange: as much as its depth in a tree asks, and
 * not the records of all members to each of them. A message arrives when it is sent.
 */
#include "gba/algo/exchange.h"
#include "tests/suite.h"

#define MEMBERS 512
#define RECORD  16 /* bytes */

/* The messages on their way, by the greater rank of the two members: to it, and from it. */
static void *way[MEMBERS][2];

static struct member {
    struct gba_exchange *exchange;
    gba_status_t status;
    uint64_t messages, bytes; /* sent */
    char all[MEMBERS][RECORD];
    struct {
        uint32_t from;
        void *to; /* NULL: no receive is posted */
        size_t bytes;
    } lane[GBA_EXCHANGE_LANES];
} member[MEMBERS];

static void **way_of(uint32_t from, uint32_t to)
{
    return from > to ? &way[from][1] : &way[to][0];
}

static gba_status_t mail_receive(void *ctx, uint32_t lane, uint32_t from, void *buffer,
                                 size_t bytes)
{
    struct member *m = ctx;

    m->lane[lane].from = from;
    m->lane[lane].to = buffer;
    m->lane[lane].bytes = bytes;
    return GBA_OK;
}

static gba_status_t mail_send(void *ctx, uint32_t lane, uint32_t to, const void *buffer,
                              size_t bytes)
{
    struct member *m = ctx;
    void **data = way_of((uint32_t)(m - member), to);

    (void)lane; /* free again at once */
    assert_true(*data == NULL);
    *data = malloc(bytes);
    if (*data == NULL)
        fail_msg("out of memory");
    else
        memcpy(*data, buffer, bytes);
    m->messages++;
    m->bytes += bytes;
    return GBA_OK;
}

static gba_status_t mail_test(void *ctx)
{
    struct member *m = ctx;
    gba_status_t status = GBA_OK;

    for (uint32_t i = 0; i < GBA_EXCHANGE_LANES; i++) {
        void **data = way_of(m->lane[i].from, (uint32_t)(m - member));

        if (m->lane[i].to == NULL)
            continue;
        if (*data == NULL) {
            status = GBA_INPROGRESS;
            continue;
        }
        memcpy(m->lane[i].to, *data, m->lane[i].bytes);
        free(*data);
        *data = NULL;
        m->lane[i].to = NULL;
    }
    return status;
}

static const struct gba_mail mail = {mail_receive, mail_send, mail_test};

static void allgather(uint32_t size)
{
    uint32_t waiting = size;
    char record[RECORD];

    memset(member, 0, sizeof member);
    for (uint32_t i = 0; i < size; i++) {
        member[i].exchange = gba_exchange_create(i, size, &mail, &member[i]);
        assert_true(member[i].exchange != NULL);
        assert_int_equal(gba_exchange_reserve(member[i].exchange, RECORD), GBA_OK);
        memset(record, (int)(i % 251), sizeof record);
        assert_int_equal(gba_exchange_allgather(member[i].exchange, record, member[i].all, RECORD),
                         GBA_OK);
        member[i].status = GBA_INPROGRESS;
    }
    while (waiting > 0)
        for (uint32_t i = 0; i < size; i++)
            if (member[i].status == GBA_INPROGRESS) {
                member[i].status = gba_exchange_test(member[i].exchange);
                waiting -= member[i].status == GBA_OK;
            }
    for (uint32_t i = 0; i < size; i++) {
        for (uint32_t k = 0; k < size; k++)
            assert_int_equal((unsigned char)member[i].all[k][RECORD - 1], k % 251);
        gba_exchange_destroy(member[i].exchange);
    }
}

/* depth: log2(size) */
static void busiest(uint32_t size, uint32_t depth)
{
    allgather(size);
    for (uint32_t i = 0; i < size; i++) {
        assert_true(member[i].messages <= depth);
        assert_true(member[i].bytes <= depth * size * RECORD);
    }
    assert_int_equal(member[0].bytes, depth * size * RECORD);
}

TEST(test_busiest)
{
    busiest(64, 6);
    busiest(512, 9);
}

TEST_MAIN()
