/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover in some N log N messages: a proposal, not yet what the engine does. It is to replace the
 * protocol of death.pml, where every
 * member notifies every other one. N members, 2 or 3, and ROUNDS rounds. The device, its death, late
 * releases, members that bypass it, and the agreement at the end of a blocking round are those of
 * death.pml. What differs is who notifies whom.
 *
 * A member in round n whose device has failed sends "arrived n" to a coordinator, which is member 0
 * first. Escalation: whenever it likes, it sends the same to the next coordinator, 1, 2 and so on.
 * (The implementation likes to when it has waited for long without a sign of the last one. The model
 * lets it do so at any time, so no delay is part of the proof.)
 *
 * A coordinator that has completed n answers "completed n". One that has not queries all other
 * members about n, once, whatever it does itself. A member answers a query when it has completed n
 * with "completed n", and when it is in n with "arrived n", to the coordinator, which answers that
 * in turn. So a coordinator hears from every member, and every member of the failure.
 *
 * The facts are those of death.pml, and so is the rule by which a round is complete for a member:
 * by the device, by an answer "completed n", or by "arrived n" or later from all other members.
 * Only a coordinator hears the latter. A round with one coordinator takes 5 (N - 1) messages.
 *
 * Several switch domains need one rule more, which this model does not have. A leader of nodes that
 * completes n by notifications may not have arrived at the second round of its domain's group, and the
 * others of its domain then wait for a device that is alive. Today it has notified them itself. Here a
 * coordinator that completed n by the device, or has left the team, answers without a query. So each
 * leader, when its device has failed, notifies the log2 of its domain's leaders along a binomial graph,
 * before it leaves n, and its node by the word of shared memory. If a leader of the domain completes n
 * by the device, all leaders have arrived at the second round, and nobody is left behind. If none does,
 * each of them notifies its neighbours, and the graph is connected.
 *
 * OUTSIDE: a member that has completed the last round by the device may leave MPI for good, as long
 * as one that has completed it stays: this one is enough for all others.
 *
 * DROP: a device that dies loses the releases that are in flight. (Without, they land later.)
 *
 * PROMPT: answers are made at once: for large searches.
 *
 * SILENT (a fault): a member that has completed a round does not answer.
 * GONE (a fault): a member that has left does not answer.
 * HASTY (a fault): one other member's "arrived" is taken for those of all.
 * GUESS (a fault): a member that is in a round answers for it.
 * ALONE (a fault): answers do not carry first_bypassed.
 * RASH (a fault): members meet as soon as they know that the device has failed.
 * BOLD (a fault): members that bypass the device arrive there nevertheless.
 * STALE (a fault): a member that bypassed the device arrives there in a later round.
 * NO_QUERY (a fault): a coordinator queries nobody.
 * PATIENT (a fault): nobody escalates. Found with OUTSIDE.
 * NO_QUERY and PATIENT are found with DROP only.
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
#define NONE        7 /* nobody has bypassed the device */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))
#define MOST(a, b)  ((b) > (a) -> (b) : (a))
#define BIT(r)      (1 << (r))
#define BLOCKS(r)   (BLOCKING & BIT(r))
#define AT(a, b)    ((a) * N + (b))
#define SAID(a, b, r) said[AT(a, b) * 4 + (r)]
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
bool bypassed[N];   /* it has begun a round without */
bool failed[N];
bool seen[N];       /* its watchdog knows that as well */
bool meets[N];
bool software[N];
bool outside[N];    /* it has left MPI for good */
byte first[N];      /* first_bypassed */
byte over[N];       /* the last round that somebody answered is complete */
byte told[N];       /* the last round for which it has asked a coordinator, */
byte asks[N];       /* and how many coordinators it has asked in that */
byte queried[N];    /* the last round that it has queried the others about */
byte heard[N * N];  /* [AT(me, other)]: the last round that I know the other has arrived at */
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: nobody has */

/* Messages [AT(from, to)], a bit for each round: "arrived" in flight, not yet answered, the answer in
 * flight; a query in flight, and not yet answered. And first_bypassed as it went with the first and
 * the third. A query carries none: its receivers' own facts are enough. */
byte flying[N * N];
byte asked[N * N];
byte back[N * N];
byte query[N * N];
byte owed[N * N];
byte said[N * N * 4];
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
#define STAYS(m, n)     (completed[m] == ROUNDS && !outside[m])
#ifdef GUESS
#define CAN_ANSWER(r)   (entered[me] >= r)
#else
#define CAN_ANSWER(r)   (completed[me] >= r)
#endif
#ifdef STALE
#define STAYS_ASIDE     false
#else
#define STAYS_ASIDE     bypassed[me]
#endif
#ifdef RASH
#define DUE             failed[me]
#else
#define DUE             (first[me] <= completed[me])
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
		:: failed[me] && (!BLOCKS(entered[me]) || seen[me] || STAYS_ASIDE) ->
			here[me] = false;
			bypassed[me] = true;
			first[me] = LEAST(first[me], entered[me]);
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

/* Answer an "arrived r", or a query about r, with "completed r". */
inline answer(to, r)
{
	asked[AT(to, me)] = asked[AT(to, me)] & ~BIT(r);
	owed[AT(to, me)] = owed[AT(to, me)] & ~BIT(r);
	if
#ifdef SILENT
	:: true
#endif
#ifdef GONE
	:: GONE_BY(me)
#endif
	:: GONE_BY(to) /* it takes no notification */
	:: else ->
		back[AT(me, to)] = back[AT(me, to)] | BIT(r);
#ifdef ALONE
		ANSWERED(me, to, r) = NONE
#else
		ANSWERED(me, to, r) = (GONE_BY(me) -> NONE : first[me])
#endif
	fi
}

/* "arrived n", to a coordinator. */
inline send(to)
{
	SAID(me, to, entered[me]) = first[me];
	flying[AT(me, to)] = flying[AT(me, to)] | BIT(entered[me])
}

inline answer_now(to, r)
{
	if
	:: (asked[AT(to, me)] | owed[AT(to, me)]) & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	:: else
	fi
}

inline reply(to, r)
{
	atomic {
		(asked[AT(to, me)] | owed[AT(to, me)]) & BIT(r) && CAN_ANSWER(r) -> answer(to, r)
	}
}

inline complete()
{
	atomic {
		!software[me] && entered[me] > completed[me] &&
		((here[me] && flag[me] >= sequence[me]) || over[me] >= entered[me] ||
		 (failed[me] && ALL_HEARD)) ->
		assert(ALL(ENTERED, entered[me]));
		completed[me]++;
		asks[me] = 0;
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

#ifdef PATIENT
#define ESCALATES(n) (n == 0 || (n == 1 && me == 0))
#else
#define ESCALATES(n) (n < N)
#endif

/* The watchdog of a round that lasts: it asks the first coordinator, or the next one. */
inline watch()
{
	atomic {
		entered[me] > completed[me] && !software[me] && (DEAD || failed[me]) &&
		(told[me] < entered[me] || ESCALATES(asks[me])) ->
		failed[me] = true;
		seen[me] = true;
		if
		:: told[me] < entered[me] ->
			told[me] = entered[me];
			asks[me] = 0
		:: else
		fi;
		if
		:: asks[me] == me -> asks[me]++ /* itself: it takes the next one */
		:: else
		fi;
		if
		:: asks[me] < N ->
			send(asks[me]);
			asks[me]++
		:: else
		fi
	}
}

inline learn(s)
{
	first[me] = LEAST(first[me], s);
	failed[me] = true
}

/* A coordinator that cannot answer queries the members that it has not heard from, once for each
 * round. */
inline query_one(to, r)
{
	if
	:: heard[AT(me, to)] < r -> query[AT(me, to)] = query[AT(me, to)] | BIT(r)
	:: else
	fi
}

inline query_all(r)
{
	if
#ifndef NO_QUERY
	:: !GONE_BY(me) && completed[me] < r && queried[me] < r ->
		queried[me] = r;
		query_one((me + 1) % N, r);
#if N > 2
		query_one((me + 2) % N, r)
#endif
#endif
	:: else
	fi
}

/* An "arrived r" comes, a query, an answer; and the answer to a query of a member that is in r. */
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
			learn(SAID(from, me, r))
		fi;
		SAID(from, me, r) = 0;
		query_all(r)
#ifdef PROMPT
		;
		answer_now(from, r)
#endif
	}
}

inline take_query(from, r)
{
	atomic {
		query[AT(from, me)] & BIT(r) ->
		query[AT(from, me)] = query[AT(from, me)] & ~BIT(r);
		owed[AT(from, me)] = owed[AT(from, me)] | BIT(r);
		if
		:: GONE_BY(me)
		:: else -> failed[me] = true
		fi
#ifdef PROMPT
		;
		answer_now(from, r)
#endif
	}
}

inline present(to, r)
{
	atomic {
		owed[AT(to, me)] & BIT(r) && entered[me] == r && completed[me] < r && seen[me] ->
		owed[AT(to, me)] = owed[AT(to, me)] & ~BIT(r);
		send(to)
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
	:: take_query(other, r)
	:: present(other, r)
	:: hear(other, r)
	:: reply(other, r)
	fi
}

inline serve()
{
	if
	:: service((me + 1) % N, 1)
	:: service((me + 1) % N, 2)
#if ROUNDS > 2
	:: service((me + 1) % N, 3)
#endif
#if N > 2
	:: service((me + 2) % N, 1)
	:: service((me + 2) % N, 2)
#if ROUNDS > 2
	:: service((me + 2) % N, 3)
#endif
#endif
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
	:: serve()
	od;
#ifdef OUTSIDE
	if
	:: atomic {
		(STAYS((me + 1) % N, 0) || STAYS((me + 2) % N, 0)) -> outside[me] = true;
		goto left
	}
	:: true
	fi;
#endif
end:	do
	:: serve()
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
