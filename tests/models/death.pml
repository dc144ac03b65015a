/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the rounds of a device that dies (gba/team/failover.c): N members, 2 or 3, and ROUNDS
 * rounds, up to 3. The device may die between any two of its steps, for all or, with LONE, for
 * member 0; releases that are in flight then land later or never. Notices and answers arrive late
 * and in any order. A member that the others do not need runs ahead, to the next round or out of
 * the team, where it does nothing but answer.
 *
 * BLOCKING has the bit of each round that may block. At the end of such a round the members that
 * know that somebody has been aside meet, and go on in software, where nobody hears a notice any
 * more. All must find the same, or some wait for the others for ever.
 *
 * DROP: a device that dies loses the releases that are in flight. Without it they land later, so that
 * no member waits for one for ever.
 *
 * PROMPT: answers are made at once, and only then may take their time: for large searches.
 *
 * SILENT (a fault): whoever has completed a round does not answer.
 * GONE (a fault): whoever has left does not answer.
 * HASTY (a fault): one other member's notice is taken for those of all.
 * GUESS (a fault): a member that is in a round answers for it.
 * ALONE (a fault): members go aside, and say nothing of it in their answers.
 * RASH (a fault): members meet as soon as they know that the device is lost.
 * BOLD (a fault): members that are aside arrive at the device nevertheless.
 * STALE (a fault): a member that was aside arrives at the device in a later round.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef BLOCKING
#define BLOCKING 14
#endif
#define NONE        7 /* nobody is aside */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))
#define MOST(a, b)  ((b) > (a) -> (b) : (a))
#define BIT(r)      (1 << (r))
#define BLOCKS(r)   (BLOCKING & BIT(r))
#define AT(a, b)    ((a) * N + (b))
#define SAID(a, r)  said[(a) * 4 + (r)]
#define ANSWERED(a, b, r) answered[AT(a, b) * 4 + (r)]

/* What the device has, and its stores that land late. */
bool dead;          /* for all */
bool dead_0;        /* for member 0 */
byte ended;         /* the last round that it has ended */
byte taken[N];      /* the last arrival of each that it has counted */
byte flag[N];       /* the last release that has landed */

/* What each member has. */
byte sequence[N];   /* of its last arrival at the device */
byte entered[N];    /* the round that it has begun */
byte completed[N];  /* the last round that it has completed */
bool here[N];       /* it has arrived at the device in this round */
bool aside[N];      /* it has begun a round without */
bool lost[N];
bool seen[N];       /* its watchdog knows that as well */
bool meets[N];
bool software[N];
byte since[N];
byte over[N];       /* the last round that somebody told it is over */
byte told[N];       /* the last round that it has told the others */
byte heard[N * N];  /* [AT(me, other)]: the last round that I know the other has arrived at */
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: nobody has */

/* Notices [AT(from, to)], a bit for each round: in flight, not yet answered, the answer in flight;
 * and the least since that went with them. */
byte flying[N * N];
byte asked[N * N];
byte back[N * N];
byte said[N * 4];
byte answered[N * N * 4];

#if N == 2
#define ALL(condition, n) (condition(0, n) && condition(1, n))
#else
#define ALL(condition, n) (condition(0, n) && condition(1, n) && condition(2, n))
#endif
#define ENTERED(m, n)   (entered[m] >= n)
#define TAKEN(m, n)     (taken[m] >= n)
#define MET(m, n)       (software[m] || (meets[m] && completed[m] == n))
#define HEARD(m, n)     (m == me || heard[AT(me, m)] >= n)
#ifdef HASTY
#define ALL_HEARD       (heard[AT(me, (me + 1) % N)] >= entered[me])
#else
#define ALL_HEARD       ALL(HEARD, entered[me])
#endif
#define DEAD            (dead || (me == 0 && dead_0))
#define GONE_BY(m)      (software[m] || (completed[m] == ROUNDS && !meets[m]))
#ifdef GUESS
#define CAN_ANSWER(r)   (entered[me] >= r)
#else
#define CAN_ANSWER(r)   (completed[me] >= r)
#endif
#ifdef STALE
#define STAYS_ASIDE     false
#else
#define STAYS_ASIDE     aside[me]
#endif
#ifdef RASH
#define DUE             lost[me]
#else
#define DUE             (since[me] <= completed[me])
#endif

#ifdef DROP
#define LANDS !dead
#else
#define LANDS true
#endif

inline land(m)
{
	atomic { LANDS && flag[m] < ended -> flag[m] = ended }
}

active proctype device()
{
end:	do
	:: land(0)
	:: land(1)
#if N > 2
	:: land(2)
#endif
	:: atomic { !dead -> dead = true }
#ifdef LONE
	:: atomic { !dead && !dead_0 -> dead_0 = true }
#endif
	od
}

/* An arrival gets to the device at once, or never: one that is late is as a release that is. */
inline arrive(seq)
{
	if
	:: !DEAD && seq == ended + 1 ->
		taken[me] = seq;
		if
		:: ALL(TAKEN, seq) -> ended = seq
		:: else
		fi
	:: else
	fi
}

inline begin()
{
	atomic {
		!software[me] && !meets[me] && entered[me] == completed[me] &&
		completed[me] < ROUNDS ->
		entered[me]++;
		if
		:: lost[me] && (!BLOCKS(entered[me]) || seen[me] || STAYS_ASIDE) ->
			here[me] = false;
			aside[me] = true;
			since[me] = LEAST(since[me], entered[me]);
#ifdef BOLD
			arrive(entered[me])
#endif
		:: else ->
			here[me] = true;
			sequence[me]++;
			arrive(sequence[me])
		fi
	}
}

/* Answer what has been asked of round r. */
inline answer(to, r)
{
	asked[AT(to, me)] = asked[AT(to, me)] & ~BIT(r);
	if
#ifdef SILENT
	:: true
#endif
#ifdef GONE
	:: GONE_BY(me)
#endif
	:: GONE_BY(to) /* it takes no notice */
	:: else ->
		back[AT(me, to)] = back[AT(me, to)] | BIT(r);
#ifdef ALONE
		ANSWERED(me, to, r) = NONE
#else
		ANSWERED(me, to, r) = (GONE_BY(me) -> NONE : since[me])
#endif
	fi
}

inline answer_now(to, r)
{
	if
	:: asked[AT(to, me)] & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	:: else
	fi
}

inline reply(to, r)
{
	atomic {
		asked[AT(to, me)] & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	}
}

inline complete()
{
	atomic {
		!software[me] && entered[me] > completed[me] &&
		((here[me] && flag[me] >= sequence[me]) || over[me] >= entered[me] ||
		 (lost[me] && ALL_HEARD)) ->
		assert(ALL(ENTERED, entered[me]));
		completed[me]++;
		if
		:: BLOCKS(completed[me]) ->
			assert(verdict[completed[me]] == 2 || verdict[completed[me]] == DUE);
			verdict[completed[me]] = DUE;
			meets[me] = DUE
		:: else
		fi
#ifdef PROMPT
		;
		answer_now((me + 1) % N, completed[me]);
#if N > 2
		answer_now((me + 2) % N, completed[me])
#endif
#endif
	}
}

/* The agreement, and rounds after it. */
inline go_on()
{
	atomic {
		meets[me] && ALL(MET, completed[me]) ->
		meets[me] = false;
		software[me] = true
	}
}

inline in_software()
{
	atomic {
		software[me] && completed[me] < ROUNDS ->
		if
		:: entered[me] == completed[me] -> entered[me]++
		:: entered[me] > completed[me] && ALL(ENTERED, entered[me]) -> completed[me]++
		fi
	}
}

/* The watchdog of a round that lasts, and what the runtime does then. */
inline watch()
{
	atomic {
		entered[me] > completed[me] && !software[me] && (DEAD || lost[me]) &&
		told[me] < entered[me] ->
		lost[me] = true;
		seen[me] = true;
		told[me] = entered[me];
		SAID(me, told[me]) = since[me];
		flying[AT(me, (me + 1) % N)] = flying[AT(me, (me + 1) % N)] | BIT(told[me]);
#if N > 2
		flying[AT(me, (me + 2) % N)] = flying[AT(me, (me + 2) % N)] | BIT(told[me])
#endif
	}
}

inline learn(s)
{
	since[me] = LEAST(since[me], s);
	lost[me] = true
}

/* A notice of round r comes, and an answer. */
inline take(from, r)
{
	atomic {
		flying[AT(from, me)] & BIT(r) ->
		flying[AT(from, me)] = flying[AT(from, me)] & ~BIT(r);
		asked[AT(from, me)] = asked[AT(from, me)] | BIT(r);
		if
		:: GONE_BY(me)
		:: else ->
			heard[AT(me, from)] = MOST(heard[AT(me, from)], r);
			learn(SAID(from, r))
		fi
#ifdef PROMPT
		;
		answer_now(from, r)
#endif
	}
}

inline hear(from, r)
{
	atomic {
		back[AT(from, me)] & BIT(r) && !GONE_BY(me) ->
		back[AT(from, me)] = back[AT(from, me)] & ~BIT(r);
		over[me] = MOST(over[me], r);
		learn(ANSWERED(from, me, r));
		ANSWERED(from, me, r) = 0
	}
}

inline service(other, r)
{
	if
	:: take(other, r)
	:: hear(other, r)
	:: reply(other, r)
	fi
}

proctype member(byte me)
{
	do
	:: completed[me] == ROUNDS && !meets[me] -> break
	:: begin()
	:: complete()
	:: go_on()
	:: in_software()
	:: watch()
	:: service((me + 1) % N, 1)
	:: service((me + 1) % N, 2)
	:: service((me + 1) % N, 3)
#if N > 2
	:: service((me + 2) % N, 1)
	:: service((me + 2) % N, 2)
	:: service((me + 2) % N, 3)
#endif
	od;
end:	do
	:: service((me + 1) % N, 1)
	:: service((me + 1) % N, 2)
	:: service((me + 1) % N, 3)
#if N > 2
	:: service((me + 2) % N, 1)
	:: service((me + 2) % N, 2)
	:: service((me + 2) % N, 3)
#endif
	od
}

init
{
	byte m;

	atomic {
		do
		:: m < N ->
			since[m] = NONE;
			run member(m);
			m++
		:: else ->
			break
		od;
		m = 0
	}
}
