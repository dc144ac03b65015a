/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of all models: words that stores reach late and in any order, and the two
 * properties.
 *
 * Sequences are modulo 4, compared by the sign of their difference. So a member runs through any
 * number of barriers and over any number of wraps in a finite space, and the search covers all
 * rounds. Four is enough, because compared sequences differ by -2 to 1.
 *
 * A store waits in the channel of its word until the network delivers it. Words are independent of
 * each other, which is weaker than the order of any CPU and as weak as a network's. With ONE_WORD
 * both parities share a word, and its stores keep their order, as in shared memory (coherence).
 * REORDER removes that order.
 *
 * N members; SLOTS slots for each.
 */
#ifndef SPACE
#define SPACE 4
#endif
#ifdef WIDENED /* the fault of comparing sequences as plain numbers */
#define REACHED(a, b) ((a) >= (b))
#else
#define REACHED(a, b) (((a) + SPACE - (b)) % SPACE < SPACE / 2)
#endif

#ifdef ONE_WORD
#define WORDS               SLOTS
#define DEPTH               2
#define CELL(m, slot, seq)  ((m) * WORDS + (slot))
#else
#define WORDS               (2 * SLOTS)
#define DEPTH               1
#define CELL(m, slot, seq)  ((m) * WORDS + (slot) * 2 + (seq) % 2)
#endif
#define CELLS (N * WORDS)

byte word[CELLS];                      /* the value that a reader sees */
chan flight[CELLS] = [DEPTH] of { byte } /* stores that have not landed */
byte flying;                           /* how many */
byte entered[N];                       /* the barrier that each has begun */

/* A full channel would be a set of round n + 2 with the set of n in flight (signal_ops.h, 4). */
inline set(cell, seq)
{
	assert(nfull(flight[cell]));
	flight[cell] ! seq;
	flying++
}

/* The first property: no member leaves a round that another member has not begun. The second
 * property, no deadlock, is checked by Spin itself. */
inline leave(seq)
{
	d_step {
		i = 0;
		do
		:: i < N ->
			assert((entered[i] + SPACE - seq) % SPACE < SPACE / 2);
			i++
		:: else ->
			break
		od;
		i = 0
	}
}

/* It stops only when no store is in flight. If all members wait as well, that is a deadlock. */
active proctype network()
{
	byte c, v;

	do
	:: atomic {
		flying > 0;
		select (c : 0 .. CELLS - 1);
		if
		:: nempty(flight[c]) ->
			flight[c] ? word[c];
			flying--
#ifdef REORDER
		:: len(flight[c]) == 2 -> /* the younger one first */
			flight[c] ? v;
			flight[c] ? word[c];
			flight[c] ! v;
			flying--
#endif
		:: empty(flight[c]) ->
			skip
		fi;
		c = 0;
		v = 0
	}
	od
}
