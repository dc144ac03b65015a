/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>
#include <string.h>

size_t kv_block_bytes(const struct kv_shape *shape)
{
    return (size_t)shape->heads * (size_t)shape->tokens * (size_t)shape->dim;
}

size_t kv_cache_bytes(const struct kv_shape *shape)
{
    return (size_t)shape->blocks * kv_block_bytes(shape);
}

/*
 * A step of attention, simplified: one token's row in every head. The new value depends on the old
 * one, so a copy that comes too early or too late changes the result.
 */
static void touch(const struct kv_shape *shape, int8_t *block, int64_t round, uint64_t key)
{
    const size_t row = (size_t)shape->dim, head = (size_t)shape->tokens * row;
    const size_t token = (size_t)(round % shape->tokens);

    for (size_t h = 0; h < (size_t)shape->heads; h++)
        for (size_t i = 0; i < row; i++) {
            int8_t *byte = &block[h * head + token * row + i];

            *byte = (int8_t)(uint8_t)((unsigned)(uint8_t)*byte * 5u + (unsigned)key + h + i);
        }
}

void kv_compute_block(const struct kv_shape *shape, struct kv_cache cache, int block,
                      int32_t sequence, int64_t round)
{
    const size_t offset = (size_t)block * kv_block_bytes(shape);
    const uint64_t key = kv_hash((uint64_t)sequence, (uint64_t)round);

    touch(shape, cache.k + offset, round, key);
    touch(shape, cache.v + offset, round, key >> 8);
}

/* Content that no other block of any sequence has. */
static void fill(int8_t *block, size_t bytes, uint64_t key)
{
    for (size_t i = 0; i < bytes; i += sizeof key) {
        const uint64_t word = kv_hash(key, i);

        memcpy(block + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

static void fill_block(const struct kv_shape *shape, struct kv_cache cache, int block,
                       struct kv_block owner)
{
    const size_t bytes = kv_block_bytes(shape), offset = (size_t)block * bytes;
    const uint64_t key = kv_hash((uint64_t)owner.sequence, (uint64_t)owner.index);

    fill(cache.k + offset, bytes, key);
    fill(cache.v + offset, bytes, ~key);
}

void kv_compute(const struct kv_shape *shape, struct kv_cache cache, const struct kv_table *before,
                const struct kv_table *after, int64_t round)
{
    for (int b = 0; b < shape->blocks; b++)
        if (before->block[b].sequence != 0)
            kv_compute_block(shape, cache, b, before->block[b].sequence, round);
    for (int b = 0; b < shape->blocks; b++)
        if (after->block[b].sequence != 0 && after->block[b].sequence != before->block[b].sequence)
            fill_block(shape, cache, b, after->block[b]);
}

/* FNV-1a, by words where there are whole words. */
static uint64_t checksum(uint64_t sum, const int8_t *bytes, size_t count)
{
    uint64_t word;

    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^=
            sum >> 32; /* otherwise the upper bytes of a word would affect the upper bytes only */
    }
    for (; count > 0; bytes++, count--)
        sum = (sum ^ (uint8_t)*bytes) * 0x100000001b3u;
    return sum;
}

uint64_t kv_checksum(const struct kv_shape *shape, struct kv_cache cache)
{
    const size_t bytes = kv_cache_bytes(shape);

    return checksum(checksum(0xcbf29ce484222325u, cache.k, bytes), cache.v, bytes);
}

int kv_model_init(struct kv_model *model, const struct kv_shape *shape, int pes, uint64_t seed)
{
    const size_t n = (size_t)pes;
    int status;

    *model = (struct kv_model){.shape = *shape, .pes = pes, .seed = seed};
    status = kv_plan_init(&model->plan, pes, shape->blocks);
    model->tables = calloc(n, sizeof *model->tables);
    model->before = calloc(n, sizeof *model->before);
    model->caches = calloc(n, sizeof *model->caches);
    if (!model->tables || !model->before || !model->caches)
        status = -1;
    for (int pe = 0; pe < pes && status == 0; pe++) {
        model->caches[pe].k = calloc(1, kv_cache_bytes(shape));
        model->caches[pe].v = calloc(1, kv_cache_bytes(shape));
        if (!model->caches[pe].k || !model->caches[pe].v)
            status = -1;
    }
    if (status != 0)
        kv_model_fini(model);
    return status;
}

void kv_model_fini(struct kv_model *model)
{
    for (int pe = 0; pe < model->pes && model->caches; pe++) {
        free(model->caches[pe].k);
        free(model->caches[pe].v);
    }
    free(model->caches);
    free(model->before);
    free(model->tables);
    kv_plan_fini(&model->plan);
    *model = (struct kv_model){.pes = 0};
}

static void move_block(const struct kv_model *model, const struct kv_move *move)
{
    const size_t bytes = kv_block_bytes(&model->shape);
    const size_t from = (size_t)move->from * bytes, to = (size_t)move->to * bytes;
    const struct kv_cache source = model->caches[move->sender];
    const struct kv_cache target = model->caches[move->receiver];

    memcpy(target.k + to, source.k + from, bytes);
    memcpy(target.v + to, source.v + from, bytes);
    kv_compute_block(&model->shape, target, move->to, move->sequence, model->round);
}

const char *kv_model_round(struct kv_model *model)
{
    const int blocks = model->shape.blocks, pes = model->pes;
    const char *wrong;

    model->round++;
    memcpy(model->before, model->tables, (size_t)pes * sizeof *model->tables);
    for (int pe = 0; pe < pes; pe++) {
        kv_table_step(&model->tables[pe], blocks, pe, pes, model->seed, model->round);
        kv_compute(&model->shape, model->caches[pe], &model->before[pe], &model->tables[pe],
                   model->round);
    }
    kv_plan_make(&model->plan, model->tables, pes, blocks);
    wrong = kv_plan_check(&model->plan, model->tables, pes, blocks);
    if (wrong)
        return wrong;
    for (int i = 0; i < model->plan.count; i++)
        move_block(model, &model->plan.move[i]);
    for (int pe = 0; pe < pes; pe++)
        kv_plan_apply(&model->plan, &model->tables[pe], pe);
    return NULL;
}
