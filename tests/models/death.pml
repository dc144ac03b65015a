/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completion of the rounds of a failed device (gba/failover/failover.c): N members, 2 to 4, and ROUNDS
 * rounds, up to 3. The device may die between any two of its steps, for all members or, with LONE, for
 * member 0, which with ONLY is the only one. Releases in flight land later or, with DROP, never. Notifications arrive late and in any
 * order. A member that the others do not need runs ahead, to the next round or out of the team, where
 * it only answers.
 *
 * The graph is a chain: member m has the neighbours m - 1 and m + 1, and the parent m - 1. This is the
 * least that the argument needs: a connected graph that contains the tree, and the deepest tree. Every
 * larger graph only adds messages.
 *
 * BLOCKING has the bit of each round that may block. At the end of such a round the members that know
 * that a member has bypassed the device agree on another path, after which they take no notification.
 * All must find the same, or some wait for the others for ever.
 *
 * OUTSIDE: a member that has completed the last round and knew of the failure then has sent what the
 * others need. It may leave MPI for good: it receives and answers nothing any more.
 *
 * PROMPT: answers are made at once, and only then may take their time: for large searches.
 *
 * DEGRADED: degraded mode (gba/failover/failover.c). From the round on at whose start a member knows that
 * the agreement is due, its rounds run by dissemination over messages, past the device and without
 * notifications, until a round that blocks ends. This needs three rounds: one of the failure, one that
 * is bypassed, and one that is degraded. A set bit of `signals` is a message; that it arrives late is
 * that its receiver reads it late. The device dies before it completes the second round: a later death
 * leaves no round to degrade, and is searched without this option. AT_ONCE: it dies before the first.
 *
 * SOON (a fault): a member is degraded as soon as it knows of the failure.
 * OWN (a fault): only a member that has bypassed the device itself is degraded.
 * BACK (a fault): a degraded member that begins a round that blocks arrives at the device.
 * UNREAD (a fault): a member leaves a degraded round before the last message to it.
 * SILENT (a fault): a member that has completed a round does not answer.
 * GONE (a fault): a member that has left does not answer.
 * HASTY (a fault): one other member's arrival is taken for those of all.
 * GUESS (a fault): a member that is in a round answers for it.
 * ALONE (a fault): answers do not carry first_bypassed.
 * RASH (a fault): members agree as soon as they know that the device has failed.
 * BOLD (a fault): members that bypass the device arrive there nevertheless.
 * STALE (a fault): a member that bypassed the device arrives there in a later round.
 * NO_PUSH (a fault): a member that completes a round only answers; it sends nothing unasked.
 * NO_COVER (a fault): no member notifies its parent that its subtree has arrived.
 * RASH_COVER (a fault): a member does so before the subtree has arrived.
 * BARE_COVER (a fault): that notification does not carry first_bypassed.
 * UPWARD (a fault): a member notifies its parent only, not its other neighbours.
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
#define NONE        7 /* no member has bypassed the device */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))
#define MOST(a, b)  ((b) > (a) -> (b) : (a))
#define BIT(r)      (1 << (r))
#define BLOCKS(r)   (BLOCKING & BIT(r))

/* Of two neighbours: an index for each direction. */
#define AT(a, b)    (2 * (a) + ((b) > (a) -> 1 : 0))
#define CARRIED(a, b, r) carried[AT(a, b) * 4 + (r)]
#define COVERED(a, r) covering[(a) * 4 + (r)]
#define ANSWERED(a, b, r) answered[AT(a, b) * 4 + (r)]
#define KNOWN(a, b) known[(a) * N + (b)]

/* The device, and its stores that land late. */
bool dead;          /* for all */
bool dead_0;        /* for member 0 */
byte ended;         /* the last round that it has completed */
byte taken[N];      /* the last arrival of each that it has counted */
byte flag[N];       /* the last release that has landed */

/* What each member has. */
byte sequence[N];   /* of its last arrival at the device */
byte entered[N];    /* the round that it has begun */
byte completed[N];  /* the last round that it has completed */
bool here[N];       /* it has arrived at the device in this round */
bool bypassed[N];   /* it has begun a round without */
bool failed[N];
bool seen[N];       /* its watchdog has detected that as well */
bool agrees[N];
bool software[N];
bool pushed[N];     /* it has completed the last round, and has sent "completed" */
bool outside[N];    /* it has left MPI for good */
byte first[N];      /* first_bypassed */
byte done[N];       /* the last round that a member answered is complete */
byte notified[N];   /* the last round of which it has notified its neighbours, */
byte covers[N];     /* and its parent for its subtree */
byte known[N * N];  /* KNOWN(me, other): the last round at which the other is known to have arrived */
#ifdef DEGRADED
bool degraded[N];
byte step[N];        /* of the current degraded round: the messages received */
byte count[N];       /* degraded rounds begun, which is the sequence of their messages */
byte signals[2 * N]; /* (receiver, step): a bit for each sequence */
#define IS_DEGRADED   degraded[me]
#else
#define IS_DEGRADED   false
#endif
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: none has */

/* Notifications between neighbours, a bit for each round: "arrived" in flight, taken and not
 * answered; "completed" in flight; the last round for which "completed" was sent. "Arrived" for a
 * subtree, in flight to the parent. And first_bypassed as it went with each. */
byte flying[2 * N + 2];
byte asked[2 * N + 2];
byte back[2 * N + 2];
byte sent[2 * N + 2];
byte covering_flies[N + 1];
byte carried[8 * N + 8];
byte answered[8 * N + 8];
byte covering[4 * N + 4];

#if N == 2
#define ALL(condition, n) (condition(0, n) && condition(1, n))
#elif N == 3
#define ALL(condition, n) (condition(0, n) && condition(1, n) && condition(2, n))
#else
#define ALL(condition, n) (condition(0, n) && condition(1, n) && condition(2, n) && condition(3, n))
#endif
#define ENTERED(m, n)   (entered[m] >= n)
#define TAKEN(m, n)     (taken[m] >= n)
#define AGREED(m, n)    (software[m] || (agrees[m] && completed[m] == n))
#define ARRIVED(m, n)   (m == me || KNOWN(me, m) >= n)
#define BELOW(m, n)     (m <= me || KNOWN(me, m) >= n)
#ifdef HASTY
#define ALL_ARRIVED     (KNOWN(me, (me + 1) % N) >= entered[me])
#else
#define ALL_ARRIVED     ALL(ARRIVED, entered[me])
#endif
#ifdef RASH_COVER
#define ALL_BELOW       true
#else
#define ALL_BELOW       ALL(BELOW, entered[me])
#endif
#define DEAD            (dead || (me == 0 && dead_0))
#define HAS_LEFT(m)     (software[m] || (completed[m] == ROUNDS && !agrees[m]))
#ifdef GUESS
#define CAN_ANSWER(r)   (entered[me] >= r)
#else
#define CAN_ANSWER(r)   (completed[me] >= r)
#endif
#ifdef STALE
#define STAYS_BYPASSING false
#else
#define STAYS_BYPASSING bypassed[me]
#endif
#ifdef RASH
#define DUE             failed[me]
#else
#define DUE             (first[me] <= completed[me])
#endif

/* Whether a round that begins is degraded; step r is from the member 2^r behind, to that 2^r ahead. */
#ifdef SOON
#define DEGRADES      failed[me]
#elif defined(OWN)
#define DEGRADES      (bypassed[me] && first[me] <= completed[me])
#elif defined(BACK)
#define DEGRADES      (failed[me] && first[me] <= completed[me] && !BLOCKS(entered[me]))
#else
#define DEGRADES      (degraded[me] || (failed[me] && first[me] <= completed[me]))
#endif
#if N == 2
#define STEPS         1
#else
#define STEPS         2
#endif
#ifdef UNREAD
#define READS         (STEPS - 1)
#else
#define READS         STEPS
#endif
#define SIGNALS(m, r) signals[(m) * 2 + (r)]

/* The neighbours. Number N stands for one that does not exist; it sends nothing. */
#define UP   ((me + N) % (N + 1))
#define DOWN (me + 1)

#ifdef AT_ONCE
#define MAY_DIE ended == 0
#elif defined(DEGRADED)
#define MAY_DIE ended <= 1
#else
#define MAY_DIE true
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
#if N > 3
	:: land(3)
#endif
#ifndef ONLY
	:: atomic { !dead && MAY_DIE -> dead = true }
#endif
#ifdef LONE
	:: atomic { !dead && !dead_0 && MAY_DIE -> dead_0 = true }
#endif
	od
}

/* An arrival reaches the device at once, or never: a late arrival is equivalent to a late
 * release. */
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

#ifdef DEGRADED
inline signal(r)
{
	SIGNALS((me + 1 + r) % N, r) = SIGNALS((me + 1 + r) % N, r) | BIT(count[me])
}

/* Receive the message of a step, and send that of the next one. */
inline receive_signal()
{
	atomic {
		degraded[me] && entered[me] > completed[me] && step[me] < STEPS &&
		SIGNALS(me, step[me]) & BIT(count[me]) ->
		step[me]++;
		if
		:: step[me] < STEPS -> signal(step[me])
		:: else
		fi
	}
}
#endif

inline begin()
{
	atomic {
		!software[me] && !agrees[me] && entered[me] == completed[me] &&
		completed[me] < ROUNDS ->
		entered[me]++;
		if
#ifdef DEGRADED
		:: DEGRADES ->
			here[me] = false;
			degraded[me] = true;
			count[me]++;
			step[me] = 0;
			signal(0)
		:: !(DEGRADES) && failed[me] && (!BLOCKS(entered[me]) || seen[me] || STAYS_BYPASSING) ->
#else
		:: failed[me] && (!BLOCKS(entered[me]) || seen[me] || STAYS_BYPASSING) ->
#endif
			here[me] = false;
			bypassed[me] = true;
			first[me] = LEAST(first[me], entered[me]);
#ifdef BOLD
			arrive(entered[me])
#endif
		:: else ->
			here[me] = true;
#ifdef BACK
			degraded[me] = false;
#endif
			sequence[me]++;
			arrive(sequence[me])
		fi
	}
}

/* Send "completed r", unless this member has left and keeps no state, or has sent it before. */
inline send(to, r)
{
	if
	:: HAS_LEFT(to) /* it takes no notification */
	:: else ->
		if
		:: HAS_LEFT(me) || sent[AT(me, to)] < r ->
			sent[AT(me, to)] = MOST(sent[AT(me, to)], r);
			back[AT(me, to)] = back[AT(me, to)] | BIT(r);
#ifdef ALONE
			ANSWERED(me, to, r) = NONE
#else
			ANSWERED(me, to, r) = (HAS_LEFT(me) && !pushes -> NONE : first[me])
#endif
		:: else
		fi
	fi
}

inline answer(to, r)
{
	asked[AT(to, me)] = asked[AT(to, me)] & ~BIT(r);
	if
#ifdef SILENT
	:: true
#endif
#ifdef GONE
	:: HAS_LEFT(me)
#endif
	:: else -> send(to, r)
	fi
}

inline reply(to, r)
{
	atomic {
		asked[AT(to, me)] & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	}
}

inline answer_now(to, r)
{
	if
	:: asked[AT(to, me)] & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	:: else
	fi
}

/* A member that completes a round of a failed device sends "completed" to its neighbours. */
inline push(to)
{
	if
	:: to < N -> send(to, completed[me])
	:: else
	fi
}

inline complete()
{
	atomic {
		!software[me] && entered[me] > completed[me] &&
#ifdef DEGRADED
		(degraded[me] -> step[me] >= READS :
		 ((here[me] && flag[me] >= sequence[me]) || done[me] >= entered[me] ||
		  (failed[me] && ALL_ARRIVED))) ->
#else
		((here[me] && flag[me] >= sequence[me]) || done[me] >= entered[me] ||
		 (failed[me] && ALL_ARRIVED)) ->
#endif
		assert(ALL(ENTERED, entered[me]));
		completed[me]++;
#ifndef NO_PUSH
		if
		:: failed[me] && !IS_DEGRADED ->
			pushes = true;
			push(UP);
			push(DOWN);
			pushes = false
		:: else
		fi;
#endif
		pushed[me] = failed[me];
		if
		:: BLOCKS(completed[me]) ->
			assert(verdict[completed[me]] == 2 || verdict[completed[me]] == DUE);
			verdict[completed[me]] = DUE;
			agrees[me] = DUE
		:: else
		fi
#ifdef PROMPT
		;
		if
		:: me > 0 -> answer_now(UP, completed[me])
		:: else
		fi;
		if
		:: me + 1 < N -> answer_now(DOWN, completed[me])
		:: else
		fi
#endif
	}
}

/* The agreement, and rounds after it. */
inline go_on()
{
	atomic {
		agrees[me] && ALL(AGREED, completed[me]) ->
		agrees[me] = false;
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

inline notify(to)
{
	CARRIED(me, to, notified[me]) = first[me];
	flying[AT(me, to)] = flying[AT(me, to)] | BIT(notified[me])
}

/* The watchdog of a round that lasts, and the runtime then. */
inline watch()
{
	atomic {
		entered[me] > completed[me] && !software[me] && !IS_DEGRADED && (DEAD || failed[me]) &&
		notified[me] < entered[me] ->
		failed[me] = true;
		seen[me] = true;
		notified[me] = entered[me];
		if
		:: me > 0 -> notify(UP)
		:: else
		fi;
#ifndef UPWARD
		if
		:: me + 1 < N -> notify(DOWN)
		:: else
		fi
#endif
	}
}

/* The whole subtree has arrived. */
inline cover()
{
	atomic {
		me > 0 && notified[me] == entered[me] && entered[me] > completed[me] && !software[me] &&
		!IS_DEGRADED && covers[me] < entered[me] && ALL_BELOW ->
		covers[me] = entered[me];
#ifdef BARE_COVER
		COVERED(me, covers[me]) = NONE;
#else
		COVERED(me, covers[me]) = first[me];
#endif
		covering_flies[me] = covering_flies[me] | BIT(covers[me])
	}
}

inline learn(s)
{
	first[me] = LEAST(first[me], s);
	failed[me] = true
}

/* Receive "arrived r", of one member or of a subtree, and "completed r". */
inline take(from, r)
{
	atomic {
		flying[AT(from, me)] & BIT(r) ->
		flying[AT(from, me)] = flying[AT(from, me)] & ~BIT(r);
		asked[AT(from, me)] = asked[AT(from, me)] | BIT(r);
		if
		:: HAS_LEFT(me)
		:: else ->
			KNOWN(me, from) = MOST(KNOWN(me, from), r);
			learn(CARRIED(from, me, r))
		fi;
		CARRIED(from, me, r) = 0
#ifdef PROMPT
		;
		answer_now(from, r)
#endif
	}
}

inline take_cover(from, r)
{
	atomic {
		covering_flies[from] & BIT(r) ->
		covering_flies[from] = covering_flies[from] & ~BIT(r);
		if
		:: HAS_LEFT(me)
		:: else ->
			KNOWN(me, from) = MOST(KNOWN(me, from), r);
#if N > 2
			if
			:: from < 2 -> KNOWN(me, 2) = MOST(KNOWN(me, 2), r)
			:: else
			fi;
#endif
#if N > 3
			KNOWN(me, 3) = MOST(KNOWN(me, 3), r);
#endif
			learn(COVERED(from, r))
		fi;
		COVERED(from, r) = 0
	}
}

inline receive_completed(from, r)
{
	atomic {
		back[AT(from, me)] & BIT(r) && !HAS_LEFT(me) ->
		back[AT(from, me)] = back[AT(from, me)] & ~BIT(r);
		done[me] = MOST(done[me], r);
		learn(ANSWERED(from, me, r));
		ANSWERED(from, me, r) = 0
	}
}

inline service(other, r)
{
	if
	:: take(other, r)
	:: receive_completed(other, r)
	:: reply(other, r)
	fi
}

#ifndef NO_COVER
#define SERVE_ROUND(r) :: service(UP, r) :: service(DOWN, r) :: take_cover(DOWN, r)
#else
#define SERVE_ROUND(r) :: service(UP, r) :: service(DOWN, r)
#endif
#if ROUNDS == 1
#define SERVE SERVE_ROUND(1)
#elif ROUNDS == 2
#define SERVE SERVE_ROUND(1) SERVE_ROUND(2)
#else
#define SERVE SERVE_ROUND(1) SERVE_ROUND(2) SERVE_ROUND(3)
#endif

proctype member(byte me)
{
	bool pushes; /* an answer made before it left: it still has first_bypassed */

	do
	:: completed[me] == ROUNDS && !agrees[me] -> break
	:: begin()
	:: complete()
	:: go_on()
	:: in_software()
	:: watch()
	:: cover()
#ifdef DEGRADED
	:: receive_signal()
#endif
	SERVE
	od;
#ifdef OUTSIDE
	if
	:: atomic { pushed[me] && !software[me] -> outside[me] = true; goto left }
	:: true
	fi;
#endif
end:	do
	SERVE
	od;
left:	skip
}

init
{
	byte m;

	atomic {
		do
		:: m < N ->
			first[m] = NONE;
			run member(m);
			m++
		:: else ->
			break
		od;
		m = 0
	}
}
