// Follows a thread of the recorded program from outside, by its instructions.
#pragma once

#include "events.h"
#include "outcome.h"

// The calling thread is the program's thread that `thread` describes in the runtime.
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
// The thread begins a block that only leads to a function, such as one in the procedure linkage table.
void came_through(uint64_t address);
// The thread has reached a function of the runtime. What it does in there, and in functions called from there, is not
// recorded.
void came_to_runtime(void);
// The runtime calls a function of the program (`begins`), which is recorded again, or has returned from it. Needs no
// is_followed().
void called_back(uint64_t* kept, bool begins);
// The next block shows which outcome it was. REQUIRES: `outcome` stays valid.
void compared_and_exchanged(unsigned detail, uint64_t address, const struct Outcome* outcome);
