/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the rounds of a device that dies, as in death.pml, with two switch domains
 * (gba/team/path_hybrid.c): members 0 and 1 have the group of a device that may die, and member 2 is
 * alone. Members 0 and 2 are the heads; round n of this is rounds 2n - 1 and 2n of the group, and
 * between them the heads tell each other, once each.
 *
 * Nobody may leave a round that somebody has not begun; at its end all must find the same, whether
 * somebody was aside in it; and the heads' messages of it must have been sent and read.
 *
 * EAGER (a fault): a head that is lost goes on to the second round, or out, as if it were not.
 * RUDE (a fault): a head that hears by notices that n is over leaves without the other heads.
 * SILENT (a fault): whoever has completed a round does not answer.
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

/* A member enters round n: aside, if it has seen that the device is lost, and from then on always; or
 * as ever, if it was told so and has not looked yet. */
inline begin()
{
	atomic {
		entered[me] = n;
		if
		:: lost[me] ->
			aside = true;
			since[me] = LEAST(since[me], n)
		:: !aside
		fi
	}
}

/* It leaves n. */
inline complete()
{
	atomic {
		assert(entered[0] >= n && entered[1] >= n && entered[2] >= n);
		assert(verdict[n] == 2 || verdict[n] == (since[me] <= n)); /* one verdict */
		verdict[n] = (since[me] <= n);
		completed[me] = n;
		n++
	}
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
		completed[me] >= answer[me * N + to] ->
#ifndef SILENT
		FLIGHT(me, to) ! answer[me * N + to], since[me], true;
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

#define ALL_TOLD (heard[me * N + (me + 1) % N] >= n && heard[me * N + (me + 2) % N] >= n)

/* Whether notices say that n is over. */
#define NOTED (over[me] >= n || (lost[me] && ALL_TOLD))

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

byte taken[2];  /* the last arrival of each that the device has taken */
byte stored[2]; /* the last release that it has sent to each, */
byte flag[2];   /* and the last that has landed */
byte sent[N];   /* the last barrier of which each head has told the other, */
byte got[N];    /* and of which each has heard; what is between them is on its way */

active proctype device()
{
end:	do
	:: atomic { !dead && taken[0] == taken[1] && stored[0] < taken[0] -> stored[0] = taken[0] }
	:: atomic { !dead && stored[1] < stored[0] -> stored[1] = stored[0] }
	:: atomic { !dead -> dead = true }
	/* What is on its way arrives, be the device dead or not. */
	:: atomic { flag[0] < stored[0] -> flag[0] = stored[0] }
	:: atomic { flag[1] < stored[1] -> flag[1] = stored[1] }
	:: atomic { got[0] < sent[2] -> got[0]++ }
	:: atomic { got[2] < sent[0] -> got[2]++ }
	od
}

/* At a dead device nothing arrives. */
inline arrive(g)
{
	if
	:: !dead -> taken[me] = g
	:: else
	fi
}

#ifdef EAGER
#define HELD false
#else
#define HELD (told[me] >= n) /* from then on it is known to be lost, to itself as well */
#endif

/* As far as a member that is not aside gets without notices: step is what it waits for. */
#define GATHERED 1
#define HEADS    2
#define RELEASED 3

proctype member(byte me)
{
	byte n = 1, step;
	bool aside;

	do
	:: n > ROUNDS ->
		break
	:: else ->
		begin();
		atomic {
			step = 0;
			if
			:: aside
			:: !aside && me < 2 ->
				arrive(2 * n - 1);
				step = GATHERED
			:: !aside && me == 2 ->
				sent[2] = n;
				step = HEADS
			fi
		}
		do
		:: atomic { step == GATHERED && flag[me] >= 2 * n - 1 ->
			if
			:: me == 0 ->
				sent[0] = n;
				step = HEADS
			:: else ->
				arrive(2 * n);
				step = RELEASED
			fi
		}
		:: atomic { step == HEADS && got[me] >= n && !HELD ->
			if
			:: me == 0 ->
				arrive(2 * n);
				step = RELEASED
			:: else ->
				break
			fi
		}
		:: atomic { step == RELEASED && flag[me] >= 2 * n -> break }
#ifndef RUDE
		:: atomic { NOTED && me != 1 && sent[me] < n ->
			sent[me] = n;
			step = HEADS
		}
		:: atomic { NOTED && (me == 1 || (sent[me] == n && got[me] >= n)) -> break }
#else
		:: atomic { NOTED -> break }
#endif
		:: atomic { dead && me < 2 && !lost[me] -> lost[me] = true }
		:: atomic { lost[me] && told[me] < n -> told[me] = n; tell(0); tell(1); tell(2) }
		od;
		/* It may go now, and with it what it is owed. */
		assert(me == 1 || (sent[me] == n && got[me] >= n)); /* nothing is owed */
		complete()
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
