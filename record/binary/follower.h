// Follows a thread of the recorded program from outside, by its instructions.
#pragma once

#include "events.h"
#include "outcome.h"

// The thread that calls this is the program's thread with this part of the runtime.
void follow(struct Thread* thread, struct Channel* shared);
// This process is a child of the recorded one, with copies of its state.
void follow_no_more(void);
// Whether instructions are recorded now: the thread is known, and not in a function that the runtime replaces.
bool is_followed(void);

// REQUIRES for the following, except returned(): is_followed(). `stack`: the address of the return address.
void called(uint64_t stack, uint64_t return_address);
void returned(uint64_t stack);
// The thread begins a block that may be a function's first.
void came_to(uint64_t address);
// The thread begins a block that only leads to a function.
void came_through(uint64_t address);
// The thread has reached a function of the runtime. Its parts, and functions that it calls, are no events of their own.
void came_to_runtime(void);
// The runtime calls a part of the program, which is not silent; what follows it is silent again. Needs no is_followed().
void called_back(uint64_t* kept, bool begins);
// The next block shows which outcome it was. REQUIRES: `outcome` stays valid.
void compared_and_exchanged(unsigned detail, uint64_t address, const struct Outcome* outcome);
