/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers: xoshiro256** of Blackman and Vigna ("Scrambled Linear Pseudorandom Number
 * Generators", 2021), seeded by splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
 * Number Generators", 2014). The same seed gives the same numbers. They are counted.
 */
#ifndef GBA_PREDICT_RANDOM_H
#define GBA_PREDICT_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "gba/base/cluster.h"

struct predict_random {
    uint64_t state[4];
    uint64_t drawn;
};

static inline void predict_random_seed(struct predict_random *random, uint64_t seed)
{
    random->drawn = 0;
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
    random->drawn++;
    return result;
}

/* A number above 0 and at most 1. */
static inline double predict_random_unit(struct predict_random *random)
{
    return (double)((predict_random_next(random) >> 11) + 1) * 0x1p-53;
}

/* A time of this mean, ps. shape: enum gba_shape_of_times. */
static inline uint64_t predict_random_time(struct predict_random *random, uint64_t shape,
                                           uint64_t mean)
{
    const double m = (double)mean;
    double normal;

    if (0 == mean || GBA_TIMES_FIXED == shape)
        return mean;
    switch (shape) {
    case GBA_TIMES_UNIFORM:
        return (uint64_t)(2 * m * predict_random_unit(random));
    case GBA_TIMES_EXPONENTIAL:
        return (uint64_t)(-m * log(predict_random_unit(random)));
    case GBA_TIMES_NORMAL: /* Box and Muller, 1958 */
        normal = sqrt(-2 * log(predict_random_unit(random))) *
                 cos(2 * 3.14159265358979323846 * predict_random_unit(random));
        return normal < -4 ? 0 : (uint64_t)(m + m / 4 * normal);
    default: /* Pareto, of index 1.5: the least time is a third of the mean */
        return (uint64_t)(m / 3 * pow(predict_random_unit(random), -1 / 1.5));
    }
}

#endif
