/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the rounds of a device that dies (gba/recover.c): 3 members, ROUNDS rounds, a device
 * that may die between any two of its steps, release stores and notices that arrive late and in any
 * order. A member that has completed a round goes on or not: to be sure that it is needed for
 * nothing but answers, it may stop for good after any round in which the others do not need it, that
 * is after its last one; whoever has completed ROUNDS rounds only answers.
 *
 * At the end of each round a member knows whether somebody was aside in it; all must find the same.
 *
 * SILENT (a fault): whoever has completed a round does not answer.
 * HASTY (a fault): one other member's notice is taken for those of all.
 * GUESS (a fault): a member that is in a round answers for it.
 * ALONE (a fault): members go aside, and say nothing of it in their answers.
 */
#define N 3
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE 7 /* nobody is aside */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))

bool dead;
byte entered[N];   /* the round that each has begun */
byte completed[N]; /* the last round that each has completed */
byte taken[N];     /* the last arrival of each that the device has taken */
byte stored[N];    /* the last release that it has sent to each, */
byte flag[N];      /* and the last that has landed */
bool lost[N];
byte since[N];
byte over[N];      /* the last round that somebody told each is over */
byte told[N];      /* the last round that each has told the others */
byte heard[9];     /* [me * N + other]: the last round that I know the other has arrived at */
byte answer[9];    /* [from * N + to]: the last round that was asked for and is not answered */
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: nobody has */

/* Notices on their way, by sender and receiver: a round, the least since known then. */
#define FLIGHT(a, b) flight[(a) * N + (b)]
chan flight[9] = [4] of { byte, byte, bool }

/* All arrivals taken: release stores, one by one. */
active proctype device()
{
	byte m;

end:	do
	:: atomic {
		!dead && taken[0] == taken[1] && taken[1] == taken[2] && stored[0] < taken[0] ->
		stored[0] = taken[0]
	}
	:: atomic { !dead && stored[1] < stored[0] -> stored[1] = stored[0] }
	:: atomic { !dead && stored[2] < stored[1] -> stored[2] = stored[1] }
	:: atomic { !dead -> dead = true }
	/* Stores that were made land, be the device dead or not. */
	:: atomic { flag[0] < stored[0] -> flag[0] = stored[0] }
	:: atomic { flag[1] < stored[1] -> flag[1] = stored[1] }
	:: atomic { flag[2] < stored[2] -> flag[2] = stored[2] }
	od;
	m = 0
}

inline tell(to)
{
	if
	:: to != me -> FLIGHT(me, to) ! n, since[me], false
	:: else
	fi
}

inline reply(to)
{
	atomic {
		answer[me * N + to] > 0 &&
#ifdef GUESS
		entered[me] >= answer[me * N + to] ->
#else
		completed[me] >= answer[me * N + to] ->
#endif
#ifndef SILENT
#ifdef ALONE
		FLIGHT(me, to) ! answer[me * N + to], NONE, true;
#else
		FLIGHT(me, to) ! answer[me * N + to], since[me], true;
#endif
#endif
		answer[me * N + to] = 0
	}
}

inline take(from)
{
	atomic {
		nempty(FLIGHT(from, me)) ->
		FLIGHT(from, me) ? r, s, o;
		if
		:: o -> over[me] = (r > over[me] -> r : over[me])
		:: else ->
			heard[me * N + from] = (r > heard[me * N + from] -> r : heard[me * N + from]);
			answer[me * N + from] = (r > answer[me * N + from] -> r : answer[me * N + from])
		fi;
		since[me] = LEAST(since[me], s);
		lost[me] = true;
		r = 0;
		s = 0;
		o = false
	}
}

#ifdef HASTY
#define ALL_TOLD (heard[me * N + (me + 1) % N] >= n || heard[me * N + (me + 2) % N] >= n)
#else
#define ALL_TOLD (heard[me * N + (me + 1) % N] >= n && heard[me * N + (me + 2) % N] >= n)
#endif

/* The progress engine of one member. */
proctype service(byte me)
{
	byte r, s;
	bool o;

end:	do
	:: take((me + 1) % N)
	:: take((me + 2) % N)
	:: reply((me + 1) % N)
	:: reply((me + 2) % N)
	od
}

proctype member(byte me)
{
	byte n = 1;
	bool aside;

	do
	:: n > ROUNDS ->
		break
	:: else ->
		atomic {
			entered[me] = n;
			if
			:: lost[me] ->
				aside = true;
				since[me] = LEAST(since[me], n)
			:: else
			fi
		}
		if
		:: aside
		:: atomic { !aside && !dead -> taken[me] = n }
		:: atomic { !aside && dead } /* to a dead device */
		fi;
		do
		:: atomic { !aside && flag[me] >= n -> break }
		:: atomic { over[me] >= n || (lost[me] && ALL_TOLD) -> break }
		:: atomic { dead && !lost[me] -> lost[me] = true }
		:: atomic { lost[me] && told[me] < n -> told[me] = n; tell(0); tell(1); tell(2) }
		od;
		atomic {
			assert(entered[0] >= n && entered[1] >= n && entered[2] >= n);
			assert(verdict[n] == 2 || verdict[n] == (since[me] <= n)); /* one verdict */
			verdict[n] = (since[me] <= n);
			completed[me] = n;
			n++
		}
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
			run service(m);
			m++
		:: else ->
			break
		od
	}
}
