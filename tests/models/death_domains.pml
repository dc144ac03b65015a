/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the rounds of a device that dies, as in death.pml, with two switch domains
 * (gba/team/path_hybrid.c): members 0 and 1 have the group of a device that may die, and member 2 is
 * alone. Members 0 and 2 are the heads; round n of this is rounds 2n - 1 and 2n of the group, and
 * between them the heads tell each other, once each.
 *
 * The graph of the team is the chain 0 - 2 - 1, or with APART the chain 0 - 1 - 2, in which the heads
 * are no neighbours; and so is the tree. The leaders of an island, members 0 and 1, are neighbours of
 * each other in any case. A head tells its neighbours that a round is over while it waits for the other
 * heads. (It takes more than three members for that to be needed; see test_domains_failover.)
 *
 * LONE: the device may die for member 0 alone.
 *
 * Nobody may leave a round that somebody has not begun; at its end all must find the same, whether
 * somebody was aside in it; and the heads' messages of it must have been sent and read.
 *
 * EAGER (a fault): a head that is lost goes on to the second round, or out, as if it were not.
 * RUDE (a fault): a head that hears by notices that n is over leaves without the other heads.
 * SILENT (a fault): whoever has completed a round does not answer.
 * NO_CIRCLE (a fault): the leaders of an island are no neighbours. Found with LONE.
 */
#define N 3
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE 7 /* nobody is aside */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))

bool dead;         /* for all */
bool dead_0;       /* for member 0 */
byte entered[N];   /* the round that each has begun */
byte completed[N]; /* the last round that each has completed */
bool lost[N];
byte since[N];
byte over[N];      /* the last round that somebody told each is over */
byte told[N];      /* the last round that each has told the others */
byte heard[9];     /* [me * N + other]: the last round that I know the other has arrived at */
byte pushed[9];    /* [from * N + to]: the last round of which "completed" was sent */
byte known[N];     /* the last round that is over, as it has told all neighbours */
byte covered[N];   /* the last round of which the parent knows the whole subtree */
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: nobody has */

/* The parent of the LAST is the MIDDLE, and that of the MIDDLE is member 0. */
#ifdef APART
#define MIDDLE 1
#define LAST   2
#else
#define MIDDLE 2
#define LAST   1
#endif
#if defined(NO_CIRCLE) || defined(APART)
#define NEAR(a, b) ((a) != (b) && ((a) == MIDDLE || (b) == MIDDLE))
#else
#define NEAR(a, b) ((a) != (b))
#endif

/* Notices on their way, by sender and receiver: a round, the least since known then, and what it
 * says: that the sender has arrived, that its subtree has, or that the round is over. */
#define ARRIVED 0
#define SUBTREE 1
#define OVER    2
#define FLIGHT(a, b) flight[(a) * N + (b)]
chan flight[9] = [6] of { byte, byte, byte }

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

/* Tell a neighbour that round r is over, once. */
inline over_to(to, r)
{
	if
	:: NEAR(me, to) && pushed[me * N + to] < r ->
		pushed[me * N + to] = r;
#ifndef SILENT
		FLIGHT(me, to) ! r, since[me], OVER
#endif
	:: else
	fi
}

inline over_all(r)
{
	over_to(0, r);
	over_to(1, r);
	over_to(2, r)
}

/* It leaves n. */
inline complete()
{
	atomic {
		if
		:: lost[me] -> over_all(n)
		:: else
		fi;
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
	:: NEAR(me, to) -> FLIGHT(me, to) ! n, since[me], ARRIVED
	:: else
	fi
}

inline take(from)
{
	atomic {
		nempty(FLIGHT(from, me)) ->
		FLIGHT(from, me) ? r, s, o;
		if
		:: o == OVER -> over[me] = (r > over[me] -> r : over[me])
		:: o == SUBTREE ->
			heard[me * N + LAST] = (r > heard[me * N + LAST] -> r : heard[me * N + LAST]);
			heard[me * N + from] = (r > heard[me * N + from] -> r : heard[me * N + from])
		:: else ->
			heard[me * N + from] = (r > heard[me * N + from] -> r : heard[me * N + from]);
			/* Who is in the round tells it at its end, since it is lost then. */
			answers = completed[me] >= r
		fi;
		since[me] = LEAST(since[me], s);
		lost[me] = true;
		if
		:: answers -> over_to(from, r)
		:: else
		fi;
		answers = false;
		r = 0;
		s = 0;
		o = 0
	}
}

#define ALL_TOLD (heard[me * N + (me + 1) % N] >= n && heard[me * N + (me + 2) % N] >= n)

/* Whether notices say that n is over. */
#define NOTED (over[me] >= n || (lost[me] && ALL_TOLD))

/* The progress engine of one member. */
proctype service(byte me)
{
	byte r, s, o;
	bool answers;

end:	do
	:: take((me + 1) % N)
	:: take((me + 2) % N)
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
#ifdef LONE
	:: atomic { !dead_0 -> dead_0 = true }
#else
	:: atomic { !dead -> dead = true }
#endif
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
	:: !dead && !(me == 0 && dead_0) -> taken[me] = g
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
		:: atomic { (dead || (me == 0 && dead_0)) && me < 2 && !lost[me] -> lost[me] = true }
		:: atomic { lost[me] && told[me] < n -> told[me] = n; tell(0); tell(1); tell(2) }
		:: atomic {
			me == MIDDLE && told[me] == n && covered[me] < n &&
			heard[me * N + LAST] >= n ->
			covered[me] = n;
			FLIGHT(MIDDLE, 0) ! n, since[me], SUBTREE
		}
		/* A head that must wait for the other heads tells its neighbours now, not as it leaves. */
		:: atomic {
			NOTED && me != 1 && known[me] < n && !(sent[me] == n && got[me] >= n) ->
			known[me] = n;
			over_all(n)
		}
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
