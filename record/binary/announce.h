// The runtime inside an unmodified program (preload.c) announces itself to the plugin in QEMU (plugin.c) by a system call that
// no kernel has. QEMU rejects the call, but the plugin sees it and learns which thread made it.
#pragma once

#define ANNOUNCE_THREAD 0x6c626563    // arguments: struct Thread* and struct Channel*
#define ANNOUNCE_CALLBACK 0x6c626564  // arguments: uint64_t*, and 1 if the callback begins
#define PRELOAD_FILE "libbinary_preload.so"
