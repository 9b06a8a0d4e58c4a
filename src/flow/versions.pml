/* The life of a version (versions.hpp, submit.cpp, task.cpp) for the Spin model checker: it is announced as its datum's
   current one, published by its producer, read by tasks and views, retired by a successor that may inherit its buffer,
   given up if its producer can never run, and buried. README.md has the protocol and why it is right.

   Spin knows one memory that everybody sees alike: every step below is one access to it, and steps interleave in every
   way (sequential consistency). An order that is too weak is no error here: that side is checked on the C++ code
   itself, by versions_model.cpp. In return everything is reached here, with more threads than that checker can exhaust.

   One step is one atomic operation, or one look at memory that others may have freed. Weights are as in
   detail::version, in a smaller word. Matching under a datum's lock, or by the sole creator, is one step where nothing
   of it can be seen before the lock is free again. Not here: streams, user memory, which failure a task is told, and who
   has the right to create (creators_model.cpp).

   With BEGINS, one of the threads becomes alone at any time (solitude.hpp): inside its visits it takes no lock, and an
   atomic operation on users or on a list of waiters is a load and a store, two steps. (On a frame's count, too, but that
   would be too many states.) A visitor's store of `inside` may then lie in its store buffer, unseen by others, until it
   leaves or somebody passes a heavy fence: the light fence holds back nothing. What it stores besides is seen at once,
   for whoever may look at it has passed such a fence and has seen it outside.

   What is asserted:
   - A version is buried once, when its producer is done with it, and nobody looks at it afterwards: not its producer,
     not a task that was matched to it, not a view, not its heir. Its frame goes once, after all its versions.
   - Whoever has subscribed is told once; nobody looks at a waiter that has gone, or at a task that has become ready.
     A task becomes ready once.
   - The heir is told once, when the version is published and all readers have left. It takes the buffer only if no
     view is left, and nobody reads what it overwrites.
   - At the end every version is buried, every task has run ("invalid end state" if one waits for ever).

   MUTANT is one of the errors below, made on purpose; Spin must find something wrong with each of them.
   src/base/model/spin.sh runs all this. */

#ifndef MUTANT
#define MUTANT 0
#endif
#define CURRENT_WEIGHS_ONE 1
#define RETIRES_IN_TWO_STEPS 2
#define HEIR_WRITTEN_AFTER_RETIRING 3
#define NEXT_READ_AFTER_TELLING 4
#define VIEWS_DO_NOT_KEEP 5
#define LAST_VIEW_ALWAYS_BURIES 6
#define HEIR_DOES_NOT_KEEP 7
#define SUBSCRIBES_BY_A_STORE 8
#define PUBLISHES_IN_TWO_STEPS 9
#define HEIR_ALWAYS_TAKES_OVER 10
#define LOOKS_AT_THE_LOW_HALF_ONLY 11
#define PENDING_IN_TWO_STEPS 12
#define NEXT_INPUT_NOTED_TOO_LATE 13
#define FRAME_COUNT_IN_TWO_STEPS 14
#define VIEW_WITHOUT_THE_LOCK 15
#define BURIED_BEFORE_IT_IS_PUBLISHED 16
#define UNWANTED_BY_A_STORE 17
#define HEIR_TOLD_BEFORE_PUBLICATION 18
#define PRODUCER_LOOKS_BACK 19
#define GIVEN_UP_UNWANTED 20
#define GIVEN_UP_COUNTS_AS_A_USER 21
#define UPDATE_COUNTED_AFTER_MATCHING 22
#define UPDATE_LOOKED_AT_AFTER_MATCHING 23
#define VISIT_ENDS_NO_SOLITUDE 24
#define BEGINS_WITHOUT_A_FENCE 25
#define BEGINS_WITHOUT_WAITING 26
#define ENDS_WITHOUT_A_FENCE 27
#define ENDS_WITHOUT_WAITING 28
#define SHARED_BEFORE_IT_IS_OUTSIDE 29
#define ALONE_BETWEEN_VISITS 30

#ifndef VERSIONS          /* each of a datum of its own; every reader reads all that are current */
#define VERSIONS 1
#endif
#ifndef PRODUCERS         /* 1: one task writes all versions, and they lie in one frame */
#define PRODUCERS VERSIONS
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef VIEWS             /* threads that take a view of version 0, and wait for it */
#define VIEWS 1
#endif
#ifndef HEIR_READS        /* the heir of version 0 also reads the last one */
#define HEIR_READS false
#endif
#ifndef GIVES_UP          /* 1: the producer waits for what will not come, and a thread that waits gives it up */
#define GIVES_UP 0
#endif
#ifndef BEGINS            /* how often somebody becomes alone, at most; 0: nobody ever is */
#define BEGINS 0
#endif
#ifndef UPDATES_AT_ONCE   /* a worker may create the successor: it is not counted while it is being created */
#define UPDATES_AT_ONCE true
#endif
#ifndef FROM_VALUES       /* a version may also be its datum's first, made from values, without a producer */
#define FROM_VALUES true
#endif

/* users[v]. Low half: readers, being current. */
#define ONE_USER 1
#if MUTANT == CURRENT_WEIGHS_ONE
#define WHILE_CURRENT 1
#else
#define WHILE_CURRENT 16
#endif
#define ONE_VIEW 64
#define HAS_HEIR 1024
#if MUTANT == GIVEN_UP_COUNTS_AS_A_USER
#define GIVEN_UP ONE_USER
#else
#define GIVEN_UP ONE_VIEW
#endif
#define LOW_HALF(u) ((u) & 63)

/* Tasks: readers first, then each version's successor. Waiters: each task's access to each version, then views. */
#define TASKS (READERS + VERSIONS)
#define WAITERS (TASKS * VERSIONS + VIEWS)
#define ACCESS(t, v) ((t) * VERSIONS + (v))
#define IS_VIEW(w) ((w) >= TASKS * VERSIONS)
#define NONE 254
#define MARK 255          /* published */
#define UNWANTED 252      /* nobody will ever use it: left for the producer to find */
#define GONE 253          /* in next[]: this waiter's memory is somebody else's */

#define BEING_CREATED 16

short users[VERSIONS];
byte head[VERSIONS];      /* of the list of waiters */
byte next[WAITERS];
bool has_heir_written[VERSIONS];
byte heir[VERSIONS];      /* the task */
byte live[PRODUCERS];     /* versions alive in a frame */

bool locked[VERSIONS];    /* the datum */
bool is_current[VERSIONS];
byte matched[VERSIONS];   /* the datum's count of readers */
byte creators;            /* that may still name the data */

byte pending[TASKS];
byte next_read[TASKS];
bool reads[TASKS * VERSIONS];
bool ready[TASKS];
bool done[WAITERS];       /* views only */

/* Only for the assertions. */
bool written[VERSIONS], overwritten[VERSIONS], buried[VERSIONS], freed;
byte using[VERSIONS];     /* readers matched */
byte views[VERSIONS];
bool inherits[VERSIONS];  /* an heir is announced and has not let go */
bool done_with[VERSIONS]; /* by its producer */
bool to_be_skipped[VERSIONS]; /* given up, and its producer has yet to be skipped */

/* ---- Being alone. Threads: producers, who creates and then is a task (readers, successors), updates, views. */

#if BEGINS > 0
#define VISITORS (PRODUCERS + TASKS + VERSIONS + VIEWS)
#define OUTSIDE 0
#define ABOUT_TO_BE_SEEN 1    /* the store is in its buffer */
#define INSIDE 2
#define SHARED 254
#define IN_BETWEEN 255        /* nobody's: who comes waits for the lock */

byte inside[VISITORS];
byte whose = SHARED;
bool changing;                /* a lock */
byte begins = BEGINS;

#define LOCALS short u, seen; byte k; bool alone

inline heavy_fence() {
  d_step {
    for (k : 0 .. VISITORS - 1) {
      if
      :: inside[k] == ABOUT_TO_BE_SEEN -> inside[k] = INSIDE
      :: else
      fi
    }
    k = 0
  }
}

inline begin(who) {
  atomic { !changing -> changing = true }
  if
  :: whose == SHARED ->
    whose = who;
#if MUTANT != BEGINS_WITHOUT_A_FENCE
    heavy_fence();
#endif
#if MUTANT != BEGINS_WITHOUT_WAITING
    do
    :: atomic { k < VISITORS && (k == who || inside[k] != INSIDE) -> k++ }
    :: k == VISITORS -> break
    od;
    k = 0
#endif
  :: else
  fi;
  changing = false
}

inline end() {
  atomic { !changing -> changing = true; k = whose }
  if
  :: k == SHARED
  :: else ->
#if MUTANT == SHARED_BEFORE_IT_IS_OUTSIDE
    whose = SHARED;
#else
    whose = IN_BETWEEN;
#endif
#if MUTANT != ENDS_WITHOUT_A_FENCE
    u = k;
    heavy_fence();
    atomic { k = u; u = 0 }
#endif
#if MUTANT != ENDS_WITHOUT_WAITING
    inside[k] != INSIDE;
#endif
    whose = SHARED
  fi;
  atomic { changing = false; k = 0 }
}

inline leave(who) {
#if MUTANT == ALONE_BETWEEN_VISITS
  inside[who] = OUTSIDE
#else
  d_step { inside[who] = OUTSIDE; alone = false }
#endif
}

inline enter(who) {
  if
  :: atomic { begins > 0 && who < PRODUCERS + TASKS + VERSIONS -> begins-- }
    begin(who)
  :: true
  fi;
  do
  :: inside[who] = ABOUT_TO_BE_SEEN;
    if
    :: true
    :: inside[who] = INSIDE
    fi;
    if
    :: atomic { whose == who -> alone = true }
      break
    :: whose == SHARED -> break
#if MUTANT == VISIT_ENDS_NO_SOLITUDE
    :: whose != SHARED && whose != who -> break
#elif MUTANT == ALONE_BETWEEN_VISITS
    :: alone -> break
    :: !alone && whose != SHARED && whose != who -> leave(who); end()
#else
    :: whose != SHARED && whose != who -> leave(who); end()
#endif
    fi
  od
}

/* Before a change of a word, and the value it then goes by. */
#define FIRST_LOOK(ver, word) if :: alone -> d_step { assert(!buried[ver]); seen = word } :: else fi;
#define NOW(word) (alone -> seen : word)
#define LOOKED seen = 0;
#define ENTER(who) enter(who);
#define LEAVE(who) leave(who);
#else
#define LOCALS short u
#define FIRST_LOOK(ver, word)
#define NOW(word) word
#define LOOKED
#define ENTER(who)
#define LEAVE(who)
#define alone false
#endif

/* ---- Burying. At once when that is decided: whoever is late to look finds it done. */

inline bury(ver) {
  assert(!buried[ver] && done_with[ver]);
  assert(using[ver] == 0 && views[ver] == 0 && !inherits[ver] && !is_current[ver] && !to_be_skipped[ver]);
  buried[ver] = true
}

/* A frame with several versions counts them. */
inline free_frame(ver) {
#if PRODUCERS < VERSIONS
  if
  :: buries ->
#if MUTANT == FRAME_COUNT_IN_TWO_STEPS
    u = live[0];
    d_step { live[0] = u - 1; u-- }
#else
    d_step { live[0]--; u = live[0] }
#endif
    if
    :: u == 0 -> d_step { assert(!freed); freed = true }
    :: else
    fi
  :: else
  fi;
#endif
  buries = false; u = 0
}

/* `less` things less that a task waits for. */
inline drop_pending(task, less) {
#if MUTANT == PENDING_IN_TWO_STEPS
  u = pending[task];
  d_step { pending[task] = u - (less); u = u - (less) }
#else
  d_step {
    u = pending[task] - (less);
    if
    :: u == 0 -> pending[task] = 0
    :: else
    fi
  }
  if
  :: u == 0
  :: else -> d_step { assert(pending[task] >= less); pending[task] = pending[task] - (less); u = pending[task] }
  fi;
#endif
  if
  :: u == 0 -> d_step { assert(!ready[task]); ready[task] = true }
  :: else -> u = 0
  fi
}

/* Leaves in `joined` whether the waiter is on the list. */
inline subscribe(ver, who) {
  d_step { assert(!buried[ver]); u = head[ver] }
  do
  :: u == MARK -> joined = false; break
  :: else ->
    d_step {
      assert(!buried[ver]);
      next[who] = u;
#if MUTANT == SUBSCRIBES_BY_A_STORE
      head[ver] = who;
      joined = true
#else
      if
      :: alone || head[ver] == u -> head[ver] = who; joined = true
      :: else -> u = head[ver]; joined = false
      fi
#endif
    }
    if
    :: joined -> break
    :: else
    fi
  od;
  u = 0
}

/* What remains to be done by who has made the low half zero, or users; u is what users is then. */
#define NOTHING 0
#define NOBODY_LEFT 1
#define HEIR_LEFT 2

inline unused(ver) {
  if
#if MUTANT == VIEWS_DO_NOT_KEEP
  :: u < HAS_HEIR -> then = NOBODY_LEFT
#else
  :: u == 0 -> then = NOBODY_LEFT
#endif
  :: u >= HAS_HEIR -> then = HEIR_LEFT
  :: else
  fi
}

/* Nobody uses the version, nobody will. If its producer is not done yet, that one buries it. */
inline unwanted(ver) {
#if MUTANT == BURIED_BEFORE_IT_IS_PUBLISHED
  d_step { bury(ver); buries = true }
#elif MUTANT == UNWANTED_BY_A_STORE
  d_step { assert(!buried[ver]); u = head[ver] }
  if
  :: u == MARK -> d_step { bury(ver); buries = true }
  :: else -> d_step { assert(!buried[ver]); head[ver] = UNWANTED }
  fi
#else
  FIRST_LOOK(ver, head[ver])
  d_step {
    assert(!buried[ver]);
    if
    :: NOW(head[ver]) != MARK -> head[ver] = UNWANTED
    :: else -> bury(ver); buries = true
    fi;
    LOOKED skip
  }
#endif
}

inline finish(ver) {
  if
  :: then == NOBODY_LEFT -> unwanted(ver)
  :: then == HEIR_LEFT ->
    d_step { assert(!buried[ver] && has_heir_written[ver]); x = heir[ver] }
#if MUTANT != HEIR_TOLD_BEFORE_PUBLICATION
    subscribe(ver, ACCESS(x, ver));
#endif
    if
    :: !joined ->
      d_step { assert(!buried[ver] && using[ver] == 0) }
      drop_pending(x, 1)
    :: else
    fi;
    x = 0;
    joined = false
#if MUTANT == HEIR_DOES_NOT_KEEP
    ;unwanted(ver)
#endif
  :: else
  fi;
  then = NOTHING;
  free_frame(ver)
}

inline drop_users(ver) {
  d_step {
    assert(!buried[ver]);
    u = users[ver];
#if MUTANT == LOOKS_AT_THE_LOW_HALF_ONLY
    u = LOW_HALF(u);
#endif
  }
  if
  :: u == ONE_USER ->    /* only if it is published need nobody be told */
    d_step {
      assert(!buried[ver]);
      if
      :: head[ver] == MARK -> using[ver]--; then = NOBODY_LEFT
      :: else
      fi
    }
  :: else
  fi;
  if
  :: then == NOTHING ->
    FIRST_LOOK(ver, users[ver])
    d_step {
      assert(!buried[ver]);
      users[ver] = NOW(users[ver]) - ONE_USER;
      LOOKED
      using[ver]--;
      u = users[ver];
      if
      :: LOW_HALF(u) == 0 -> unused(ver)
      :: else
      fi
    }
  :: else
  fi;
  finish(ver)
}

inline drop_view(ver) {
  FIRST_LOOK(ver, users[ver])
  d_step {
    assert(!buried[ver]);
    u = NOW(users[ver]);
    LOOKED
    users[ver] = u - ONE_VIEW;
    if
#if MUTANT == LAST_VIEW_ALWAYS_BURIES
    :: u < 2 * ONE_VIEW -> then = NOBODY_LEFT
#else
    :: u == ONE_VIEW -> then = NOBODY_LEFT
#endif
    :: else
    fi
  }
  finish(ver)
}

/* It has run, so the version was published. */
inline drop_heir(ver) {
  d_step { assert(!buried[ver]); u = users[ver] }
  if
  :: u == HAS_HEIR -> d_step { inherits[ver] = false; bury(ver); buries = true }    /* alone: nobody can come */
  :: else ->
    FIRST_LOOK(ver, users[ver])
    d_step {
      assert(!buried[ver]);
      u = NOW(users[ver]);
      LOOKED
      users[ver] = u - HAS_HEIR;
      inherits[ver] = false;
      if
      :: u == HAS_HEIR -> bury(ver); buries = true
      :: else
      fi
    }
  fi;
  free_frame(ver)
}

/* The readers matched since the version became current arrive, and it is current no longer. */
inline retire(ver, its_heir) {
#if MUTANT == RETIRES_IN_TWO_STEPS
  d_step {
    assert(!buried[ver]);
    users[ver] = users[ver] - WHILE_CURRENT;
    u = users[ver];
    if
    :: LOW_HALF(u) == 0 -> unused(ver)
    :: else
    fi
  }
  d_step {
    assert(!buried[ver]);
    users[ver] = users[ver] + matched[ver] * ONE_USER + its_heir;
    matched[ver] = 0
  }
#else
  FIRST_LOOK(ver, users[ver])
  d_step {
    assert(!buried[ver]);
    users[ver] = NOW(users[ver]) + matched[ver] * ONE_USER + its_heir - WHILE_CURRENT;
    LOOKED
    matched[ver] = 0;
    u = users[ver];
    if
    :: LOW_HALF(u) == 0 -> unused(ver)
    :: else
    fi
  }
#endif
  finish(ver)
}

/* ---- Telling. */

/* Goes on through a task's reads until it has to wait for one. Leaves in `all_there` whether it need not. */
inline await_reads(task) {
  d_step { x = next_read[task]; all_there = true }
  do
  :: x < VERSIONS ->
    if
    :: reads[ACCESS(task, x)] ->
#if MUTANT != NEXT_INPUT_NOTED_TOO_LATE
      d_step { assert(!ready[task]); next_read[task] = x }
#endif
      subscribe(x, ACCESS(task, x));
#if MUTANT == NEXT_INPUT_NOTED_TOO_LATE
      d_step { assert(!ready[task]); next_read[task] = x }
#endif
      if
      :: joined -> all_there = false; break
      :: else
      fi
    :: else
    fi;
    x++
  :: else -> break
  od;
  atomic { x = 0; joined = false }
}

inline tell(ver) {
  do
  :: w == NONE -> break
  :: else ->
#if MUTANT != NEXT_READ_AFTER_TELLING
    d_step { assert(next[w] != GONE); following = next[w] }
#endif
    if
    :: IS_VIEW(w) -> d_step { assert(!done[w]); done[w] = true }
    :: !IS_VIEW(w) && w / VERSIONS == READERS + ver ->    /* its heir */
      d_step { assert(using[ver] == 0) }
      drop_pending(w / VERSIONS, 1)
    :: else ->
      await_reads(w / VERSIONS);
      if
      :: all_there -> drop_pending(w / VERSIONS, 1)
      :: else
      fi
    fi;
#if MUTANT == NEXT_READ_AFTER_TELLING
    d_step { assert(next[w] != GONE); following = next[w] }
#endif
    w = following
  od;
  atomic { w = 0; following = 0; u = 0; all_there = false }
}

inline publish(ver) {
#if MUTANT == PUBLISHES_IN_TWO_STEPS
  d_step { assert(!buried[ver]); w = head[ver] }
  d_step { written[ver] = true; done_with[ver] = true; head[ver] = MARK }
#else
  FIRST_LOOK(ver, head[ver])
  d_step { assert(!buried[ver]); written[ver] = true; done_with[ver] = true; w = NOW(head[ver]); LOOKED head[ver] = MARK }
#endif
#if MUTANT == PRODUCER_LOOKS_BACK
  assert(!buried[ver]);
#endif
  if
  :: w == UNWANTED -> d_step { w = 0; bury(ver); buries = true }
    free_frame(ver)
  :: else -> tell(ver)
  fi
}

/* Its producer will never run, but be skipped, and then publish it again: until then it is kept. */
inline declare_failed(ver) {
  d_step {
    assert(!buried[ver]);
    if
#if MUTANT == GIVEN_UP_UNWANTED
    :: true
#else
    :: users[ver] > 0
#endif
      -> users[ver] = users[ver] + GIVEN_UP; to_be_skipped[ver] = true
#if MUTANT != GIVEN_UP_UNWANTED
    :: else    /* somebody is about to leave UNWANTED, and who waits for it uses it: nobody */
#endif
    fi
  }
  if
  :: to_be_skipped[ver] ->
    FIRST_LOOK(ver, head[ver])
    d_step { assert(!buried[ver]); written[ver] = true; done_with[ver] = true; w = NOW(head[ver]); LOOKED head[ver] = MARK }
    if
    :: w == UNWANTED -> w = 0
    :: else -> tell(ver)
    fi
  :: else
  fi
}

inline publish_again(ver) {
  if
  :: to_be_skipped[ver] -> to_be_skipped[ver] = false;
#if MUTANT == GIVEN_UP_COUNTS_AS_A_USER
    using[ver]++;    /* for drop_users to take away */
    drop_users(ver)
#else
    drop_view(ver)
#endif
  :: else -> publish(ver)
  fi
}

/* ---- Threads. */

/* What is done under the lock is one step where nobody could see it half done. */
#if VERSIONS == 1
#define all_unlocked (alone || !locked[0])
#else
#define all_unlocked (alone || (!locked[0] && !locked[1]))
#endif

/* Its creator has announced it. Without a producer its datum was made from values. */
proctype producer(byte first; byte last) {
  LOCALS;
  byte w, x, following, v, then;
  bool joined, all_there, buries;
  ENTER(first)
#if GIVES_UP
  for (v : first .. last) { declare_failed(v) }
  LEAVE(first)
  ENTER(first)
  for (v : first .. last) { publish_again(v) }
#else
  for (v : first .. last) { publish(v) }
#endif
  LEAVE(first)
  skip
}

/* Its creator waits for its n reads, beginning with the one it takes for the last to come, which may be any. A task
   that only reads is waited for as a whole; with others, all reads count as one. */
inline wait_for_inputs(task, inputs, only_reads) {
  all_there = true;
  if
  :: inputs > 0 ->
    do
    :: reads[ACCESS(task, w)] -> break
    :: w + 1 < VERSIONS && reads[ACCESS(task, VERSIONS - 1)] -> w++
    od;
    next_read[task] = 0;
    subscribe(w, ACCESS(task, w));
    if
    :: joined -> all_there = false
    :: else -> await_reads(task)
    fi
  :: else
  fi;
  w = 0;
  joined = false;
  if
  :: only_reads && all_there -> drop_pending(task, 1)
  :: only_reads && !all_there
  :: !only_reads && (inputs == 0 || all_there) -> drop_pending(task, BEING_CREATED + inputs)
  :: !only_reads && inputs > 0 && !all_there -> drop_pending(task, BEING_CREATED + inputs - 1)
  fi;
  all_there = false;
  u = 0
}

inline read_all(task) {
  for (v : 0 .. VERSIONS - 1) {
    if
    :: reads[ACCESS(task, v)] ->
      assert(written[v] && !buried[v] && !overwritten[v])
    :: else
    fi
  }
  v = 0
}

/* The end of a task: its frame goes. */
inline leave_all(task) {
  for (v : 0 .. VERSIONS - 1) {
    if
    :: reads[ACCESS(task, v)] -> drop_users(v)
    :: else
    fi
  }
  v = 0
}

/* Under the lock. */
inline match_read(task, ver) {
  if
  :: is_current[ver] -> matched[ver]++; using[ver]++; reads[ACCESS(task, ver)] = true; n++
  :: else
  fi
}

inline await_ready(task) {
  atomic {
    ready[task];
    next_read[task] = 0;
    for (v : 0 .. VERSIONS - 1) { next[ACCESS(task, v)] = GONE }
    v = 0
  }
}

/* Creates a task that reads all versions that are current when it is matched, and is that task when it is ready. */
proctype reader(byte me) {
  LOCALS;
  byte w, x, v, n, then;
  bool joined, all_there, only_reads, buries;
  ENTER(PRODUCERS + me)
  atomic {
    all_unlocked;
    for (v : 0 .. VERSIONS - 1) { match_read(me, v) }
    v = 0;
    creators--;
    if
    :: n == 0
    :: n > 0 -> only_reads = true; pending[me] = 1
    :: n > 0 && me == 0 ->    /* one such reader will do: this is about what creator and producers count */
      pending[me] = BEING_CREATED + n
    fi
  }
  if
  :: n > 0 ->
    wait_for_inputs(me, n, only_reads);
    d_step { n = 0; only_reads = false }
    LEAVE(PRODUCERS + me)
    await_ready(me);
    read_all(me);
    ENTER(PRODUCERS + me)
    leave_all(me)
  :: else
  fi;
  LEAVE(PRODUCERS + me)
  skip
}

#define names_another (HEIR_READS && mine == 0)

/* The task that writes the next version of datum `mine` in place. */
proctype update(byte me; byte mine) {
  LOCALS;
  byte w, x, v, then;
  bool joined, buries;
  await_ready(me);
  d_step { assert(!buried[mine] && written[mine] && using[mine] == 0); u = users[mine] }
  if
#if MUTANT == HEIR_ALWAYS_TAKES_OVER
  :: true ->
#else
  :: u == HAS_HEIR ->
#endif
    d_step { assert(views[mine] == 0); overwritten[mine] = true }
  :: u != HAS_HEIR -> assert(!buried[mine])    /* it copies */
  fi;
  u = 0;
  read_all(me);
  ENTER(PRODUCERS + TASKS + mine)
  leave_all(me);
  drop_heir(mine);
  LEAVE(PRODUCERS + TASKS + mine)
  skip
}

#define is_heir_of(ver, task) d_step { heir[ver] = task; has_heir_written[ver] = true }
#if BEGINS > 0
#define lock(ver) locked[ver] = !alone
#else
#define lock(ver) locked[ver] = true
#endif

/* Creates the task that writes the next version of datum `mine`, anew or in place, or lets the datum go. */
proctype successor(byte me; byte mine) {
  LOCALS;
  byte w, x, v, n, then;
  bool joined, all_there, buries;
  ENTER(PRODUCERS + me)
  if
  :: atomic {    /* the last handle: nobody can name the datum any more */
      creators == names_another -> is_current[mine] = false; creators = creators - names_another
    }
    retire(mine, 0)
  :: atomic { alone || !locked[mine] -> lock(mine); is_current[mine] = false; creators = creators - names_another }
    retire(mine, 0);
    locked[mine] = false
  :: atomic { all_unlocked ->
      pending[me] = BEING_CREATED + 1;
      creators = creators - names_another;
      if
      :: names_another -> match_read(me, VERSIONS - 1); pending[me] = pending[me] + n
      :: else
      fi;
      lock(mine);
      if
      :: n > 0 -> lock(VERSIONS - 1)
      :: else
      fi;
      inherits[mine] = true;
#if MUTANT != HEIR_WRITTEN_AFTER_RETIRING
      is_heir_of(mine, me);
#endif
      is_current[mine] = false;
      run update(me, mine)
    }
    retire(mine, HAS_HEIR);
#if MUTANT == HEIR_WRITTEN_AFTER_RETIRING
    is_heir_of(mine, me);
#endif
    d_step {
      locked[mine] = false;
      if
      :: n > 0 -> locked[VERSIONS - 1] = false
      :: else
      fi
    }
    wait_for_inputs(me, n, false);
    n = 0
  :: atomic { UPDATES_AT_ONCE && !names_another && all_unlocked ->    /* submit_update: nothing else to wait for */
#if MUTANT != UPDATE_COUNTED_AFTER_MATCHING
      pending[me] = 1;
#endif
      lock(mine);
      inherits[mine] = true;
      is_heir_of(mine, me);
      is_current[mine] = false;
      run update(me, mine)
    }
    retire(mine, HAS_HEIR);    /* it may run, and be gone, before this is over */
#if MUTANT == UPDATE_COUNTED_AFTER_MATCHING
    pending[me] = 1;
#endif
#if MUTANT == UPDATE_LOOKED_AT_AFTER_MATCHING
    assert(next[ACCESS(me, mine)] != GONE);
#endif
    locked[mine] = false
  fi;
  LEAVE(PRODUCERS + me)
  skip
}

/* As weir::data's read(). */
proctype view(byte me) {
  LOCALS;
  byte w, x, then;
  bool joined, buries;
  ENTER(PRODUCERS + TASKS + VERSIONS + me)
#if MUTANT == VIEW_WITHOUT_THE_LOCK
  u = is_current[0];
#else
  atomic {
    alone || !locked[0];
    u = is_current[0];
#endif
    if
    :: u != 0 -> assert(!buried[0]); users[0] = users[0] + ONE_VIEW; views[0]++; creators--
    :: else -> creators--
    fi
#if MUTANT != VIEW_WITHOUT_THE_LOCK
  }
#endif
  if
  :: u != 0 ->
    w = ACCESS(TASKS, 0) + me;
    subscribe(0, w);
    LEAVE(PRODUCERS + TASKS + VERSIONS + me)
    if
    :: joined -> done[w]
    :: else
    fi;
    d_step { joined = false; next[w] = GONE; w = 0 }
    d_step { assert(written[0] && !buried[0] && !overwritten[0]); views[0]-- }
    ENTER(PRODUCERS + TASKS + VERSIONS + me)
    drop_view(0)
  :: else
  fi;
  LEAVE(PRODUCERS + TASKS + VERSIONS + me)
  skip
}

init {
  byte i;
  atomic {
    creators = READERS + VIEWS + HEIR_READS;
    for (i : 0 .. VERSIONS - 1) {
      head[i] = NONE;
      is_current[i] = true;
      users[i] = WHILE_CURRENT
    }
    for (i : 0 .. PRODUCERS - 1) {
      live[i] = VERSIONS / PRODUCERS;
#if PRODUCERS < VERSIONS
      run producer(0, VERSIONS - 1)
#else
      if
      :: run producer(i, i)
      :: FROM_VALUES -> head[i] = MARK; written[i] = true; done_with[i] = true
      fi
#endif
    }
    for (i : 0 .. READERS - 1) { run reader(i) }
    for (i : 0 .. VERSIONS - 1) { run successor(READERS + i, i) }
#if VIEWS > 0
    for (i : 0 .. VIEWS - 1) { run view(i) }
#endif
    i = 0
  }
  _nr_pr == 1;
  atomic {
    for (i : 0 .. VERSIONS - 1) { assert(buried[i] && head[i] == MARK) }
#if PRODUCERS < VERSIONS
    assert(freed)
#endif
  }
}
