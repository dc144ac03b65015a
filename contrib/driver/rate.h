/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The barrier rate of a group [DRV-13]. A unit test includes this file outside the kernel, and
 * defines what it uses.
 */
#ifndef GBA_DRIVER_RATE_H
#define GBA_DRIVER_RATE_H

/*
 * Set *rate to the rounds per second, from the rounds in `ns`, which is not 0. Returns false if
 * there are too many for the product with NSEC_PER_SEC: the device has disappeared, and its counter
 * is all ones. mul_u64_u64_div_u64() accepts any number of rounds, but on x86 a quotient above 64
 * bits is a fault of the kernel.
 */
static inline bool gba_rate(u64 rounds, u64 ns, u64 *rate)
{
	if (rounds > U64_MAX / NSEC_PER_SEC)
		return false;
	*rate = div64_u64(rounds * NSEC_PER_SEC, ns);
	return true;
}

#endif
