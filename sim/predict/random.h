/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers: xoshiro256** of Blackman and Vigna ("Scrambled Linear Pseudorandom Number
 * Generators", 2021), seeded by splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
 * Number Generators", 2014). The same seed gives the same numbers.
 */
#ifndef GBA_PREDICT_RANDOM_H
#define GBA_PREDICT_RANDOM_H

#include <math.h>
#include <stdint.h>

struct predict_random {
    uint64_t state[4];
};

static inline void predict_random_seed(struct predict_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        random->state[i] = z ^ z >> 31;
    }
}

static inline uint64_t predict_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t predict_random_next(struct predict_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = predict_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = predict_rotate(s[3], 45);
    return result;
}

/* A number above 0 and at most 1. */
static inline double predict_random_unit(struct predict_random *random)
{
    return (double)((predict_random_next(random) >> 11) + 1) * 0x1p-53;
}

/* A time of an exponential distribution with this mean, ps. */
static inline uint64_t predict_random_time(struct predict_random *random, uint64_t mean)
{
    return 0 == mean ? 0 : (uint64_t)(-(double)mean * log(predict_random_unit(random)));
}

#endif
