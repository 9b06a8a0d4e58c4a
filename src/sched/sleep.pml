/* The sleep protocol of sleep.hpp for the Spin model checker: workers that are busy, searching or asleep, and those who
   publish work, from workers and from foreign threads. README.md has the protocol and why it loses no wake-up.

   Spin knows one memory that everybody sees alike: every step below is one access to it, and steps interleave in every
   way (sequential consistency). A full fence is then no step, and an order that is too weak is no error: that side is
   checked on the C++ code itself, by sleep_model.cpp. In return everything is reached here, with more workers, tasks
   and rounds than that checker can exhaust.

   With UNSURE there is one exception, the one the protocol lives with: what is published lies in its publisher's store
   buffer at first, where no other thread sees it, while that one looks for sleepers behind a light fence. It comes out
   at any time, at the publisher's next full fence or atomic operation, or at a sleeper's heavy fence. Sleepers then rest
   in two parts, with that fence and a look between them; one fence serves all who asked for it before it
   began. Without UNSURE light fences are full ones, and there is one part: the same protocol with fewer states.

   One step is one atomic operation of sleep.hpp, or one look at one queue. Not here: spinning (a searcher that looks
   again before it rests changes nothing that others see), the wake epoch, and workers that see only a part of the work,
   as patient thieves do: here all can take what is not meant for one of them alone.

   What is asserted:
   - No wake-up is lost. A task may stay in its body until all queued work is taken, or all others are in a body, too:
     so work that lies about beside a sleeper is a deadlock even while others are busy ("invalid end state").
   - The last one to fall asleep is told: when the last of all blocks, everybody_asleep has been called since the last
     of them began to fall asleep, and has seen that all words say so. Being told with nothing outstanding ends the
     program; nothing else does.
   - At the end nobody counts as searching or asleep, nothing is queued, every word says awake.
   - With ENDLESS the program does not end, its threads publish again and again, and work that is queued is taken
     at some time, if every process that can take a step takes one at some time (weak fairness).

   MUTANT is one of the errors below, made on purpose; Spin must find something wrong with each of them.
   src/base/model/spin.sh runs all this. */

#ifndef MUTANT
#define MUTANT 0
#endif
#define LOOKS_BEFORE_IT_PUBLISHES 1
#define NO_SECOND_LOOK 2
#define SECOND_LOOK_TOO_EARLY 3
#define NO_HAND_OVER 4
#define HAND_OVER_BY_AN_OLD_COUNT 5
#define LAST_TO_DOZE_NOT_TOLD 6
#define LAST_TO_SLEEP_NOT_TOLD 7
#define LAST_BY_AN_OLD_COUNT 8
#define CANCEL_ALWAYS_COUNTS 9
#define CLAIM_WITHOUT_EXCHANGE 10
#define NO_FUTEX_WAKE 11
#define NO_HEAVY_FENCE 12
#define NO_LOOK_AFTER_THE_FIRST_PART 13
#define LIGHT_FENCE_BESIDE_SLEEPERS 14
#define FENCE_THAT_HAD_BEGUN 15
#define LAST_BEFORE_ITS_WORD 16

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef FOREIGN           /* threads that publish tasks for anybody, and then wake somebody if nobody searches */
#define FOREIGN 1
#endif
#ifndef EACH              /* how many, one after the other */
#define EACH 1
#endif
#ifndef CALLERS           /* threads that publish something for one worker only, and wake that one */
#define CALLERS 0
#endif
#ifndef CHILDREN          /* tasks that tasks publish, at most */
#define CHILDREN 0
#endif
#ifndef MAY_DOZE
#define MAY_DOZE true
#endif
#ifndef UNSURE            /* 1: publishers pass a light fence, sleepers look again behind a heavy one */
#define UNSURE 0
#endif

#define AWAKE 0
#define ASLEEP 1

bit word[WORKERS];        /* the futex words, and who is blocked on his in the kernel */
bool blocked[WORKERS];
short searching, sleeping; /* the fields of state_: one word, so they are read and changed in one step */

byte pool;                /* tasks that any worker may take */
#if UNSURE
bool buffered[WORKERS + FOREIGN]; /* a task that only its publisher sees yet: workers, then foreign threads */
/* shared_fence.hpp counts beginnings and ends; what a sleeper concludes from the count is kept here instead. */
mtype = { asked, begun, served };
mtype fence[WORKERS];     /* the first fence that begins after the worker asked */
bool fencing;             /* a fence is under way */
#endif
byte own[WORKERS];        /* what only this worker sees: its inbox, or the condition of a nested wait */
byte children = CHILDREN;
byte outstanding;         /* tasks that are not done, as their creators count them: before they are queued */
bool over;                /* the program ends */

/* Only for the assertions. */
bool told;                /* everybody_asleep was called, and found that, since the last one began to fall asleep */
hidden byte all_asleep;   /* within one step */
hidden byte looked_at;
byte resting;             /* workers blocked that nobody has claimed */
byte in_body;

/* ---- Wakers. */

/* Futex wake. It may come late, and then end a later sleep of the same worker. */
inline unblock(w) {
  d_step {
    if
    :: blocked[w] && word[w] == ASLEEP -> resting--
    :: else
    fi;
    blocked[w] = false
  }
}

inline claim(w) {
#if MUTANT == CLAIM_WITHOUT_EXCHANGE
  won = (word[w] == ASLEEP);
#endif
  d_step {
#if MUTANT != CLAIM_WITHOUT_EXCHANGE
    won = (word[w] == ASLEEP);
#endif
    if
    :: word[w] == ASLEEP && blocked[w] -> resting--
    :: else
    fi;
    if
    :: won -> word[w] = AWAKE
    :: else
    fi
  }
  if
  :: won ->
    d_step { sleeping--; searching++ }
#if MUTANT != NO_FUTEX_WAKE
    unblock(w)
#endif
  :: else
  fi
}

/* Claims one sleeper, from worker `first` on. */
inline wake_from(first) {
  w = first;
  do
  :: claim(w);
    if
    :: won -> break
    :: else
    fi;
    w = (w + 1) % WORKERS;
    if
    :: w == first -> break
    :: else
    fi
  od;
  w = 0; won = false
}

inline wake_all() {
  do
  :: w < WORKERS -> claim(w); w++
  :: else -> break
  od;
  w = 0; won = false
}

inline work_published(near) {
  if
  :: sleeping > 0 && searching <= 0 -> wake_from(near)
  :: else
  fi
}

/* A store buffer is written to memory. */
inline drain(who) {
  d_step {
    if
    :: buffered[who] -> buffered[who] = false; pool++
    :: else
    fi
  }
}

/* One more task for anybody. */
inline publish(who, near) {
#if UNSURE
  if
  :: pool++
  :: buffered[who] = true
  fi;
  if
  :: sleeping > 0 ->
#if MUTANT != LIGHT_FENCE_BESIDE_SLEEPERS
    drain(who);
#endif
    work_published(near)
  :: else
  fi;
  drain(who)
#elif MUTANT == LOOKS_BEFORE_IT_PUBLISHES
  won = (sleeping > 0 && searching <= 0);
  pool++;
  if
  :: won -> wake_from(near)
  :: else
  fi
#else
  pool++;
  work_published(near)
#endif
}

/* ---- Workers. */

inline falls_asleep() {
#if MUTANT == LAST_BY_AN_OLD_COUNT
  last = (sleeping + 1 >= WORKERS);
  d_step { sleeping++; searching--; told = false }
  word[me] = ASLEEP
#elif MUTANT == LAST_BEFORE_ITS_WORD
  d_step { last = (sleeping + 1 >= WORKERS); sleeping++; searching--; told = false }
  word[me] = ASLEEP
#else
  d_step { sleeping++; searching--; told = false }
  word[me] = ASLEEP;
  last = (sleeping >= WORKERS)
#endif
}

inline look_again() {
#if CALLERS > 0
  sees_work = (own[me] > 0);
#endif
  sees_work = sees_work || pool > 0;
  sees_work = sees_work || over
}

/* In the program: the callee judges by words and by counts of its own whether there is nothing left to wait for. */
inline everybody_asleep() {
  d_step {
    all_asleep = true;
    looked_at = 0;
    do
    :: looked_at < WORKERS -> all_asleep = all_asleep && word[looked_at] == ASLEEP; looked_at++
    :: else -> break
    od;
    told = told || all_asleep
  };
#ifndef ENDLESS
  if
  :: told && outstanding == 0 -> over = true; wake_all()
  :: else
  fi
#endif
}

/* Blocks unless it was claimed before. For a time: it may end by itself. */
inline wait_on_word(for_a_time) {
  do
  :: d_step {
      word[me] == ASLEEP ->
      blocked[me] = true;
      resting++;
      assert(resting < WORKERS || (told && sleeping >= WORKERS))
    }
    if
    :: !blocked[me]
    :: for_a_time -> unblock(me)
    fi;
    if
    :: for_a_time -> break
    :: else
    fi
  :: word[me] == AWAKE -> break
  od
}

inline cancel() {
  d_step { won = (word[me] == ASLEEP); word[me] = AWAKE }
#if MUTANT == CANCEL_ALWAYS_COUNTS
  won = true;
#endif
  if
  :: won -> d_step { sleeping--; searching++ }
  :: else
  fi;
  won = false
}

#if UNSURE
/* Begins where no fence is under way, and ends the call where one is. */
inline pass_fence() {
  if
  :: atomic {
      !fencing ->
      fencing = true;
      for (w : 0 .. WORKERS - 1) {
        if
        :: fence[w] == asked -> fence[w] = begun
        :: else
        fi
      }
      w = 0
    }
    do    /* makes every thread pass a full fence, one after the other */
    :: w < WORKERS + FOREIGN -> drain(w); w++
    :: else -> break
    od;
    atomic {
      fencing = false;
      for (w : 0 .. WORKERS - 1) {
        if
        :: fence[w] == begun -> fence[w] = served
        :: else
        fi
      }
      w = 0
    }
  :: fencing
  fi
}

/* Leaves in `sees_work` whether it was given up. */
inline rest_first_part() {
  d_step {
#if MUTANT == FENCE_THAT_HAD_BEGUN
    fence[me] = (fencing -> begun : asked)
#else
    fence[me] = asked
#endif
  }
  do
  :: wait_on_word(true);
    if
    :: word[me] == AWAKE || fence[me] == served -> break
#if MUTANT == NO_HEAVY_FENCE
    :: else -> break
#else
    :: else -> pass_fence()
#endif
    fi;
    if
    :: fence[me] == served -> break
    :: fence[me] != served && dozes -> break    /* its time is up */
    :: fence[me] != served
    fi
  od;
#if MUTANT != NO_LOOK_AFTER_THE_FIRST_PART
  if
  :: word[me] == ASLEEP && (fence[me] == served || MUTANT == NO_HEAVY_FENCE) -> look_again()
  :: else
  fi;
#endif
  fence[me] = 0;
  if
  :: sees_work -> cancel()
  :: else
  fi
}
#endif

inline rest() {
  if
  :: dozes = false
  :: MAY_DOZE -> dozes = true
  fi;
#if MUTANT == SECOND_LOOK_TOO_EARLY
  look_again();
  falls_asleep();
#else
  falls_asleep();
#if MUTANT != NO_SECOND_LOOK
  look_again();
#endif
#endif
  if
  :: sees_work -> cancel()
  :: else ->
    if
#if MUTANT == LAST_TO_DOZE_NOT_TOLD
    :: last && !dozes -> everybody_asleep()
#elif MUTANT == LAST_TO_SLEEP_NOT_TOLD
    :: last && dozes -> everybody_asleep()
#else
    :: last -> everybody_asleep()
#endif
    :: else
    fi;
#if UNSURE
    rest_first_part();
    if
    :: sees_work
    :: !sees_work -> wait_on_word(dozes)
    :: !sees_work && dozes    /* for no longer than the first part */
    fi;
#else
    wait_on_word(dozes);
#endif
    if
    :: dozes -> cancel()
    :: else
    fi
  fi;
  d_step { last = false; sees_work = false; dozes = false }
}

inline stop_searching() {
#if MUTANT == HAND_OVER_BY_AN_OLD_COUNT
  hands_over = (searching <= 1 && sleeping > 0);
  searching--;
#else
  d_step { hands_over = (searching <= 1 && sleeping > 0); searching-- }
#endif
#if MUTANT == NO_HAND_OVER
  hands_over = false;
#endif
  if
  :: hands_over ->
    if
    :: true -> wake_from(0)
    :: pool == 0          /* it has looked, and found all queues empty */
    fi
  :: else
  fi;
  hands_over = false
}

/* The first look is one step, for what changes during it is what the second look is there for. */
inline take() {
  atomic {
    if
    :: over
#if CALLERS > 0
    :: !over && own[me] > 0 -> own[me]--; in_body++; has_task = true
    :: !over && own[me] == 0 && pool > 0 -> pool--; in_body++; has_task = true
    :: !over && own[me] == 0 && pool == 0
#else
    :: !over && pool > 0 -> pool--; in_body++; has_task = true
    :: !over && pool == 0
#endif
    fi
  }
}

inline run_task() {
#if CHILDREN > 0
  if
  :: atomic { children > 0 -> children--; outstanding++ }
    publish(me, me)
  :: true
  fi;
#endif
  if
  :: true
  :: true -> pool == 0 || in_body == WORKERS    /* stays until no work lies about */
  fi;
  atomic {
    in_body--;
    outstanding--;
    has_task = false;
    if
    :: true
    :: pool > 0 -> pool--; in_body++; has_task = true    /* from its own queue, without searching */
    fi
  }
}

proctype worker(byte me) {
  byte w;
  bool won, last, dozes, sees_work, hands_over, has_task;

  do
  :: over -> break
  :: atomic { !over -> searching++ }    /* start_searching */
    do
    :: take();
      if
      :: has_task || over -> break
      :: else -> rest()
      fi
    od;
    stop_searching();
    do
    :: has_task -> run_task()
    :: else -> break
    od
  od
}

/* ---- Foreign threads. */

proctype foreign(byte me) {
  byte w;
  bool won;
#ifdef ENDLESS
  do
  :: atomic { outstanding == 0 -> outstanding++; children = CHILDREN }
    publish(me, 0)
  od
#else
  byte i;
  for (i : 1 .. EACH) { publish(me, 0) }
#endif
}

proctype caller(byte whom) {
  byte w;
  bool won;
#ifdef ENDLESS
  do
  :: atomic { own[whom] == 0 -> outstanding++ }
    own[whom]++;
    claim(whom);
    won = false
  od
#else
  own[whom]++;
  claim(whom);
  won = false
#endif
}

init {
  byte i;
  atomic {
#ifndef ENDLESS
    outstanding = FOREIGN * EACH + CALLERS;
#endif
    for (i : 1 .. WORKERS) { run worker(i - 1) }
#if FOREIGN > 0
    for (i : 1 .. FOREIGN) { run foreign(WORKERS + i - 1) }
#endif
#if CALLERS > 0
    for (i : 1 .. CALLERS) { run caller(i - 1) }
#endif
    i = 0
  }
  _nr_pr == 1;
  d_step {
    assert(searching == 0 && sleeping == 0);
    assert(pool == 0 && outstanding == 0 && resting == 0);
    for (i : 0 .. WORKERS - 1) { assert(own[i] == 0 && word[i] == AWAKE) }
  }
}

#ifdef ENDLESS
ltl taken { [] ((pool > 0) -> <> (pool == 0)) }
ltl answered { [] ((own[0] > 0) -> <> (own[0] == 0)) }
#endif
