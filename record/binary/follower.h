// A thread of the recorded program, followed from outside by what its instructions do.
#pragma once

#include "events.h"
#include "outcome.h"

// The thread that runs this is the program's with that part of the runtime.
void follow(struct Thread* thread, struct Channel* shared);
// This process is a child of the recorded one, with copies of what it had.
void follow_no_more(void);
// Its instructions are recorded now: it is known, and in no function that the runtime stands in for.
bool is_followed(void);

// All that follows REQUIRES is_followed(), but for returned().
// `stack`: where the return address is kept.
void called(uint64_t stack, uint64_t return_address);
void returned(uint64_t stack);
// It begins a block that may be a function's first.
void came_to(uint64_t address);
// It begins a block that only leads to a function.
void came_through(uint64_t address);
// It has come to a function of the runtime, whose parts, and the functions behind it, are no events of their own.
void came_to_runtime(void);
// The runtime calls a part of the program. That is none of the runtime's, and what comes behind it is again. Needs no
// is_followed().
void called_back(uint64_t* kept, bool begins);
// `outcome` stays. What the next block is tells which it was.
void compared_and_exchanged(unsigned detail, uint64_t address, const struct Outcome* outcome);
