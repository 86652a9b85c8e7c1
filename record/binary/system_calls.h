// Measures the system calls of a recorded program, in which it may wait for something outside it: a device, another process, the
// time.
#pragma once

#include <stdint.h>

// The calling thread makes a system call. Not measured: waits for other threads, which a replay repeats; calls that take
// QEMU longer than the system, those that change the memory's map or open a file; and calls of the runtime.
void calls_system(int64_t number);
void system_has_returned(void);
