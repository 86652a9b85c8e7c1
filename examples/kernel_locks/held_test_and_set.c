// References to an object that is held, whose lock is not the kernel's: to see what the kernel's makes of it.
// linebounce includes from: headers source/include
#define TEST_AND_SET
#include "held.c"
