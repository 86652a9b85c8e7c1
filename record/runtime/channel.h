// What a recorded program and linebounce-record share: a memory file with one ring of events for each thread. Read by C (the
// runtime inside the program) and C++ (the collector).
//
// A ring has one writer, a thread, and one reader, the collector. Its words are 0 where nothing is written: the writer reserves
// words by one instruction (a signal handler that interrupts it gets the next ones) and fills the first word last; the reader
// takes what is not 0 and leaves 0. So nothing of what a thread has done is lost when the program is killed.
#pragma once

#include <stdint.h>

enum { kChannelVersion = 8, kChannelRings = 1024 };
#define CHANNEL_MAGIC UINT64_C(0x6c62726563303031)
// The memory file's path, in the program's environment.
#define CHANNEL_VARIABLE "LINEBOUNCE_RECORD_CHANNEL"

// An event is one word, kind << 56 | detail << 48 | value, and for some kinds words of kind kMore behind it.
enum EventKind {
  kNoEvent = 0,
  kMore = 1,  // value: what the event says in this place
  // value: stamp. What comes next in this ring comes after all that has smaller stamps, in any ring. Stamps have no gaps.
  kOrder,
  // Accesses. value: address; detail: size and flags below.
  kLoad,
  kStore,
  kExchange,
  kFetchAdd,  // and all other arithmetic
  kFetchAddAt,  // the same; more: the address to which the call that did it returns
  kCompareExchange,
  kLoadRange,  // more: bytes
  kStoreRange,
  kFence,
  // Functions. value: an address inside.
  // detail: how much lower its stack pointer is than that of the function around it, in kStackUnit; 0: kStackPointer has told.
  kEnter,
  kEnterAt,  // value: its first instruction; more: its stack pointer there
  kLeave,
  // Of the function that the next kEnter is of. value: address.
  kStackPointer,
  kFramePointer,  // what its frame-pointer register holds, if that is an address in its frame
  // Threads. value: number, 0 is the first thread.
  kThreadBegin,  // more: lowest and highest address of its stack, what it runs
  kThreadEnd,
  kCreate,  // more: what it runs
  kJoin,
  // Locks. value: address; detail: LockType and flags below.
  kAcquire,
  kTryFailed,
  kRelease,
  // value: address.
  kConditionWait,   // more: address of the mutex
  kConditionWoken,  // more: address of the mutex; detail: 1 if not for a time-out
  kConditionSignal,  // detail: 1 if it wakes all
  kSemaphoreInit,  // more: its value
  kSemaphorePost,
  kSemaphoreWait,
  kBarrierInit,  // more: how many threads
  kBarrier,
  // Memory. value: address; more: bytes, bytes of an element (0: not known), and return addresses, innermost first; detail: how
  // many, and the flag below.
  kAllocate,
  kFree,  // value: address; more: bytes
  kLibraryLoaded,  // the program waits until Channel::libraries_seen has grown
};

// Of accesses: bits 0 to 2 are the size's logarithm.
enum { kSizeMask = 7, kAtomicAccess = 8, kReleaseAccess = 16, kFailedAccess = 32 };
// Of kFetchAdd and kCompareExchange: the sign of what they add, of the latter only if that is 1; both: it is no sum.
enum { kAddsAccess = 64, kSubtractsAccess = 128 };
// Of kFetchAdd, as far as it is known: whether anybody looks at the value before.
enum { kResultUsedAccess = 16, kResultUnusedAccess = 32 };
// Of kLoad and kLoadRange, of threads that have shared a lock with others: what was read has an address in it.
enum { kPointerAccess = 64 };

// Of kAllocate. Of other blocks nobody has asked for more than the allocator's own alignment.
enum { kReturnAddresses = 7, kAlignedBlock = 8 };

enum { kStackUnit = 16 };  // bytes: of kEnter's detail

enum LockType { kMutex = 0, kSpinLock = 1, kReadWriteLock = 2, kLockTypeMask = 3, kSharedLock = 4, kTriedLock = 8 };
enum { kOneWord = 16 };  // a flag, too: a lock of 4 bytes; pthread's mutexes and read-write locks have 40 and more

enum { kValueBits = 48, kDetailBits = 8, kMostFrames = 6 };
#define EVENT_VALUE_MASK ((UINT64_C(1) << kValueBits) - 1)

static inline uint64_t event_word(unsigned kind, unsigned detail, uint64_t value) {
  return (uint64_t)kind << (kValueBits + kDetailBits) | (uint64_t)detail << kValueBits | (value & EVENT_VALUE_MASK);
}

enum RingState { kRingFree = 0, kRingInUse = 1, kRingEnded = 2 };

struct Ring {
  uint32_t state;                                // RingState: the writer takes and ends, the reader frees
  uint64_t next __attribute__((aligned(64)));    // word that the writer fills next; of no interest to the reader
  uint64_t limit;                                // the writer looks at `taken` again before it fills this word
  uint64_t taken __attribute__((aligned(64)));   // words before this one are free again; the reader's
  uint64_t words[] __attribute__((aligned(64)));  // Channel::ring_words of them
};

struct Channel {
  uint64_t magic;
  uint32_t version;
  uint32_t ring_words;   // a power of 2
  uint64_t ring_bytes;   // from one ring to the next
  uint64_t first_ring;   // bytes from here
  uint32_t collector;    // its process, which the program asks for when a ring stays full
  uint32_t program;      // the recorded process: the first that comes; 0: none has yet
  uint32_t ready;        // the collector has looked at the process: it may go on
  uint32_t threads;      // numbers given
  uint32_t libraries_seen;
  uint32_t forks;        // children that were not recorded
  uint32_t others;       // later programs that were not recorded
  uint32_t without_ring;  // threads that found no free ring and were not recorded
  uint32_t given_up;      // threads that were recorded up to a signal handler that filled the ring
  uint32_t unknown_joins;  // joins of threads that are not known, which were not recorded
  uint32_t nested_teams;  // barriers of OpenMP teams beside or inside others, which were not recorded
  uint32_t unknown_outcomes;  // compare-and-exchange operations of which is not known whether they stored
  uint32_t rounds;        // times that the collector has looked at all rings and given back what it took
  uint64_t spread_ns;        // a created thread begins when no thread has been created for so long; 0: at once
  uint64_t latest_creation;  // in nanoseconds of CLOCK_MONOTONIC
  uint64_t stamp __attribute__((aligned(64)));  // the next one
};

static inline struct Ring* channel_ring(struct Channel* channel, unsigned index) {
  return (struct Ring*)((char*)channel + channel->first_ring + index * channel->ring_bytes);
}
