// held.c with a test-and-set lock in place of the kernel's spin lock, to show how much depends on that lock.
// linebounce includes from: headers source/include
#define TEST_AND_SET
#include "held.c"
