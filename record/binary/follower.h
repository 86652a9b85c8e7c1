// Follows a recorded program's thread by the instructions that it executes. Part of the plugin, outside the program.
#pragma once

#include "events.h"
#include "outcome.h"

// Starts to follow the calling thread. `thread` is the runtime's description of it.
void follow(struct Thread* thread, struct Channel* shared);
// Stops recording in a forked child, which has a copy of its parent's state.
void follow_no_more(void);
// Whether instructions are recorded now: the thread is followed, and is not inside a function that the runtime replaces.
bool is_followed(void);

// Whether the thread is inside a function of the C library for memory, which the runtime has called for the program.
bool is_allocating(void);
// The thread executes this many more instructions. An event of the next two functions tells them to the collector.
void executed(unsigned instructions);
void write_instructions(void);
// Before an access: only if there are many, because an event for each access would double the ring's traffic.
void write_many_instructions(void);

// REQUIRES for the following, except returned(): is_followed(). `stack`: the address where the call's return address is stored.
void called(uint64_t stack, uint64_t return_address);
void returned(uint64_t stack);
// The thread enters a block that may be the first of a function.
void came_to(uint64_t address);
// The thread enters a block that only leads to a function, such as a stub of the procedure linkage table.
void came_through(uint64_t address);
// The thread enters a function of the runtime. Nothing is recorded until that function returns.
void came_to_runtime(void);
// The runtime is about to call a function of the program (`begins`), which is recorded, or that function has returned. May be
// called without is_followed().
void called_back(uint64_t* kept, bool begins);
// Records a compare-and-exchange; the next block shows its outcome. REQUIRES: `outcome` stays valid until then.
void compared_and_exchanged(unsigned detail, uint64_t address, const struct Outcome* outcome);
