#include "follower.h"

struct Channel* channel;
uint64_t ring_mask;
bool recording;
__thread struct Thread* followed_thread;

// After a call instruction and until the called function's first block: the address of the call's return address. In between
// come jumps of the linkage table, and the loader's functions when it binds the called one. 0: no call is under way.
THREAD_LOCAL uint64_t called_stack;
// While the thread is in one of the runtime's functions: the address of that function's return address. Otherwise 0.
THREAD_LOCAL uint64_t silent_until;

// Executed since the latest kInstructions.
THREAD_LOCAL uint64_t instructions;
enum { kManyInstructions = 16 };

// A compare-and-exchange whose outcome is not known yet. Its word in the ring is reserved but empty, which makes the collector
// wait.
THREAD_LOCAL struct {
  struct Ring* ring;  // NULL: there is none
  uint64_t at;
  uint64_t word;
  const struct Outcome* outcome;
} exchange;

struct Ring* ring_of_new_thread(void) {
  return NULL;  // the runtime announces itself
}

void follow(struct Thread* thread, struct Channel* shared) {
  if (channel == NULL) {
    ring_mask = shared->ring_words - 1;
    channel = shared;
    recording = true;
  }
  followed_thread = thread;
  called_stack = silent_until = 0;
  instructions = 0;
}

// Stops recording this process. Also clears the runtime's ring, because the C library has not told the runtime that this is a
// child.
void follow_no_more(void) {
  if (followed_thread != NULL) followed_thread->ring = NULL;
  followed_thread = NULL;
  exchange.ring = NULL;
}

bool is_followed(void) {
  return followed_thread != NULL && silent_until == 0 && followed_thread->ring != NULL;
}

bool is_allocating(void) {
  return followed_thread != NULL && silent_until != 0 && followed_thread->allocates && followed_thread->ring != NULL;
}

void executed(unsigned count) { instructions += count; }

void write_instructions(void) {
  if (instructions == 0) return;
  const uint64_t count = instructions;
  instructions = 0;
  record(kInstructions, 0, count);
}

void write_many_instructions(void) {
  if (instructions >= kManyInstructions) write_instructions();
}

// Leaves the frames up to `stack`, including those that a longjmp skipped.
static void leave_frames(struct Thread* thread, uint64_t stack) {
  while (thread->depth > 0 && thread->depth <= kFrames && thread->frames[thread->depth - 1].stack <= stack) {
    --thread->depth;
    write_instructions();
    record(kLeave, 0, 0);
  }
}

void called(uint64_t stack, uint64_t return_address) {
  struct Thread* thread = followed_thread;
  leave_frames(thread, stack);
  if (thread->depth < kFrames) thread->frames[thread->depth] = (struct Frame){return_address, stack};
  ++thread->depth;
  called_stack = stack;
}

static void tell_outcome(bool failed) {
  fill_word(exchange.ring, exchange.at, exchange.word | (failed ? (uint64_t)kFailedAccess << kValueBits : 0));
  exchange.ring = NULL;
}

static void tell_unknown_outcome(void) {
  __atomic_fetch_add(&channel->unknown_outcomes, 1, __ATOMIC_RELAXED);
  tell_outcome(false);
}

void compared_and_exchanged(unsigned detail, uint64_t address, const struct Outcome* outcome) {
  struct Ring* ring = this_ring();
  uint64_t at;
  if (exchange.ring != NULL) tell_unknown_outcome();
  if (!reserve_words(ring, 1, &at)) return;
  exchange.word = event_word(kCompareExchange, detail, address);
  exchange.at = at;
  exchange.outcome = outcome;
  exchange.ring = ring;
  if (outcome->if_stored == outcome->if_failed) tell_unknown_outcome();
}

// Resolves the pending compare-and-exchange by the block that the thread reaches. If a signal handler comes in between, the
// outcome stays unknown.
void came_through(uint64_t address) {
  if (exchange.ring == NULL) return;
  const struct Outcome* outcome = exchange.outcome;
  if (address == outcome->if_stored || address == outcome->if_failed) {
    tell_outcome(address == outcome->if_failed);
  } else {
    tell_unknown_outcome();
  }
}

void came_to(uint64_t address) {
  came_through(address);
  if (called_stack == 0) return;
  const uint64_t more = called_stack;
  called_stack = 0;
  write_instructions();
  record_with(kEnterAt, 0, address, &more, 1);
}

// After a call, the runtime's function gets no frame of its own. After a jump (tail call), it shares the frame of the function
// that jumped, and returns in its place.
void came_to_runtime(void) {
  struct Thread* thread = followed_thread;
  write_instructions();
  if (called_stack != 0) {
    --thread->depth;
    silent_until = called_stack;
    called_stack = 0;
  } else {
    const bool is_around_known = thread->depth > 0 && thread->depth <= kFrames;
    silent_until = is_around_known ? thread->frames[thread->depth - 1].stack : 1;
  }
}

void called_back(uint64_t* kept, bool begins) {
  if (begins) *kept = silent_until;
  silent_until = begins ? 0 : *kept;
}

void returned(uint64_t stack) {
  struct Thread* thread = followed_thread;
  if (thread == NULL || stack < silent_until || stack < called_stack) return;
  silent_until = 0;
  if (thread->ring == NULL) return;
  if (called_stack != 0) {  // a loader function that the program has called
    called_stack = 0;
    --thread->depth;
  } else if (thread->depth > kFrames) {
    --thread->depth;
    write_instructions();
    record(kLeave, 0, 0);
  } else {
    leave_frames(thread, stack);
  }
}
