// How the runtime inside an unmodified program (preload.c) tells the plugin outside (plugin.c) of itself: by a system call that
// no kernel has. QEMU refuses it, and the plugin sees it, in the thread that it is about.
#pragma once

#define ANNOUNCE_THREAD 0x6c626563    // of struct Thread* and struct Channel*
#define ANNOUNCE_CALLBACK 0x6c626564  // of uint64_t*, and 1 if it begins
#define PRELOAD_FILE "libbinary_preload.so"
