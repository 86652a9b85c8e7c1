// Source files that a lock in C is compiled with, as text. The build embeds them (cmake/native_lock_files.cmake).
#pragma once

namespace linebounce::sim {

const char* lock_runtime_text();   // workloads/native/runtime/runtime.c
const char* lock_header_text();    // include/linebounce/lock.h
const char* kernel_header_text();  // include/linebounce/kernel.h
const char* tasks_header_text();   // include/linebounce/kernel_tasks.h

}  // namespace linebounce::sim
