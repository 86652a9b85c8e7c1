// Shared between a recorded program and linebounce-record: a memory file with one ring of events for each thread. Read by C
// (the runtime inside the program) and C++ (the collector).
//
// A ring has one writer, a thread, and one reader, the collector. Unwritten words are 0. The writer reserves words by one
// instruction (a signal handler that interrupts it gets the next ones) and fills the first word last; the reader takes words
// that are not 0 and leaves 0. So nothing of a thread's work is lost when the program is killed.
#pragma once

#include <stdint.h>

enum { kChannelVersion = 12, kChannelRings = 1024 };
#define CHANNEL_MAGIC UINT64_C(0x6c62726563303031)
// The environment variable that holds the memory file's path.
#define CHANNEL_VARIABLE "LINEBOUNCE_RECORD_CHANNEL"

// An event is one word, kind << 56 | detail << 48 | value; some kinds are followed by words of kind kMore.
enum EventKind {
  kNoEvent = 0,
  kMore = 1,  // value: the data of this word (see the event's `more`)
  // value: a stamp. Later events in this ring come after all events before smaller stamps, in any ring. Stamps have no gaps.
  kOrder,
  // Accesses. value: address; detail: size and flags, see below.
  kLoad,
  kStore,
  kExchange,
  kFetchAdd,  // and all other arithmetic
  kFetchAddAt,  // like kFetchAdd; more: the return address of the call that performed it
  kCompareExchange,
  kLoadRange,  // more: bytes
  kStoreRange,
  kFence,
  // Functions. value: an address inside the function. detail: how far its stack pointer is below the calling function's, in
  // units of kStackUnit; 0: a kStackPointer event gives it instead.
  kEnter,
  kEnterAt,  // value: the function's first instruction; more: its stack pointer there
  kLeave,
  // Both describe the function of the next kEnter. value: the stack pointer.
  kStackPointer,
  kFramePointer,  // value: the frame pointer, if it points into the function's frame
  // Threads. value: the thread's number, from 0, the first thread.
  kThreadBegin,  // more: lowest and highest address of the thread's stack; its function
  kThreadEnd,
  kCreate,  // more: its function
  kJoin,
  // Locks. value: the lock's address; detail: LockType and flags, see below.
  kAcquire,
  kTryFailed,
  kRelease,
  // value: address.
  kConditionWait,   // more: the mutex's address
  kConditionWoken,  // more: the mutex's address; detail: 0 for a time-out, else 1
  kConditionSignal,  // detail: 1 for a broadcast, else 0
  kSemaphoreInit,  // more: its value
  kSemaphorePost,
  kSemaphoreWait,
  kBarrierInit,  // more: number of threads
  kBarrier,      // the thread has come to the barrier, and waits there for the others
  kTeamBarrier,  // the thread of an OpenMP team has passed the barrier; others may not have come to it yet
  // Memory. value: address; more: size of the block, size of an element (0: unknown), and return addresses, innermost first;
  // detail: the number of return addresses, and kAlignedBlock.
  kAllocate,
  kFree,  // value: address; more: bytes
  kPages,  // value: address; more: bytes; detail: log2 of the size of the pages that the program asks for there
  kLibraryLoaded,  // the program waits until the collector has increased libraries_seen
  // Time since the thread's previous event.
  kInstructions,  // value: how many were executed, those that access memory included (record/binary)
  // value: ticks of the time stamp counter; more: nanoseconds of them in which the thread did not run; detail: flags, see below.
  kWorked,
  kSampled,  // value: ticks of a short computation, and << kTicksBits the way that it is on. Stands for the events that follow.
  kBlocked,  // value: ticks in which it waited for something outside the program; detail: 1 if it was a system call
  kFork,  // value: 0. A child process, if it was made, has all shared memory that this one has now.
};

// Detail of an access: bits 0 to 2 are log2 of its size in bytes; flags follow.
enum { kSizeMask = 7, kAtomicAccess = 8, kReleaseAccess = 16, kFailedAccess = 32 };
// For kFetchAdd and kCompareExchange: whether the operation adds or subtracts. For a compare-and-exchange: adds or subtracts 1.
// Both flags together: neither. No flag: unknown.
enum { kAddsAccess = 64, kSubtractsAccess = 128 };
// For kFetchAdd: whether the program uses the old value. No flag: unknown.
enum { kResultUsedAccess = 16, kResultUnusedAccess = 32 };
// For kLoad and kLoadRange: the value contains an address. Set only in threads that have held a lock together with other
// threads.
enum { kPointerAccess = 64 };

// Detail of kAllocate. kAlignedBlock: the program requested more than the allocator's usual alignment. kSharedBlock: child
// processes share the memory (MAP_SHARED).
enum { kReturnAddresses = 7, kAlignedBlock = 8, kSharedBlock = 16 };

// Detail of kWorked. kGaveUp: the thread gave the processor up itself, to wait; else the processor was taken from it. kOfHost: the
// recording host took the time, not the program.
enum { kGaveUp = 1, kOfHost = 2 };

// A way leads from one place of the code to the next. Ways with the same hash are one.
enum { kWays = 1024, kTicksBits = 16 };

enum { kStackUnit = 16 };  // bytes, for kEnter's detail

enum LockType {
  kMutex = 0,
  kSpinLock = 1,
  kReadWriteLock = 2,
  kAdaptiveMutex = 3,
  kLockTypeMask = 3,
  kSharedLock = 4,
  kTriedLock = 8
};
enum { kOneWord = 16 };  // a flag: a lock of OpenMP, of 4 bytes; pthread's mutexes and read-write locks have 40 and more

enum { kValueBits = 48, kDetailBits = 8, kMostFrames = 6 };
#define EVENT_VALUE_MASK ((UINT64_C(1) << kValueBits) - 1)

static inline uint64_t event_word(unsigned kind, unsigned detail, uint64_t value) {
  return (uint64_t)kind << (kValueBits + kDetailBits) | (uint64_t)detail << kValueBits | (value & EVENT_VALUE_MASK);
}

enum RingState { kRingFree = 0, kRingInUse = 1, kRingEnded = 2 };

struct Ring {
  // A RingState. The writer sets it when its thread begins and ends, the reader when it frees the ring.
  uint32_t state;
  uint64_t next __attribute__((aligned(64)));    // position of the word that the writer fills next
  uint64_t limit;                                // the writer reads `taken` again before it fills the word at this position
  uint64_t taken __attribute__((aligned(64)));   // the reader's position: earlier words may be reused
  uint64_t words[] __attribute__((aligned(64)));  // Channel::ring_words of them
};

struct Channel {
  uint64_t magic;
  uint32_t version;
  uint32_t ring_words;   // a power of 2
  uint64_t ring_bytes;   // distance in bytes from one ring to the next
  uint64_t first_ring;   // offset in bytes of the first ring from the beginning of the channel
  uint32_t collector;    // the collector's process id; while a ring is full, the program checks that it is alive
  uint32_t program;      // id of the recorded process, the first to open the channel; 0: none yet
  uint32_t ready;        // 1: the collector has examined the process's files, so the process may go on
  uint32_t threads;      // how many thread numbers have been assigned
  uint32_t libraries_seen;
  uint32_t exited;       // 1: the process has ended by exit() or _exit(); 0: it runs, or it died
  uint32_t forks;        // forked children, which are not recorded
  uint32_t clones;       // threads or processes made by clone() that have their maker's thread-local variables; not recorded
  uint32_t others;       // programs that opened the channel later, which are not recorded
  uint32_t without_ring;  // threads that found no free ring and were not recorded
  uint32_t given_up;      // threads recorded only up to a signal handler that filled the ring
  uint32_t unknown_joins;  // joins of unknown threads, which were not recorded
  uint32_t nested_teams;  // passes of OpenMP barriers that were not recorded, because another team had barriers
  uint32_t unknown_outcomes;  // compare-and-exchange operations whose outcome is unknown
  uint32_t rounds;        // how often the collector has emptied all rings and published its positions
  uint32_t measures_time;    // 1: threads write kWorked, kSampled and kBlocked
  uint64_t spread_ns;        // a new thread waits until this long after the latest creation of a thread; 0: it does not wait
  uint64_t latest_creation;  // in nanoseconds of CLOCK_MONOTONIC
  uint64_t stamp __attribute__((aligned(64)));  // the next one
};

static inline struct Ring* channel_ring(struct Channel* channel, unsigned index) {
  return (struct Ring*)((char*)channel + channel->first_ring + index * channel->ring_bytes);
}
