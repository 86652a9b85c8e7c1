// Bits of request_queue.queue_flags and of request.cmd_flags, include/linux/blkdev.h of Linux 2.6.20.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

// numbers of bits
constexpr Address kQueueStopped = 2;
constexpr Address kQueueReadFull = 3;
constexpr Address kQueueWriteFull = 4;
constexpr Address kQueueDead = 5;
constexpr Address kQueueReenter = 6;
constexpr Address kQueuePlugged = 7;
constexpr Address kQueueElevatorSwitch = 8;

// masks
constexpr Value kRequestWrite = 1 << 0;
constexpr Value kRequestSorted = 1 << 4;
constexpr Value kRequestStarted = 1 << 7;
constexpr Value kRequestPrepared = 1 << 8;  // REQ_DONTPREP
constexpr Value kRequestQueued = 1 << 9;    // it has a tag
constexpr Value kNoTag = 0xFFFFFFFF;        // -1 in request.tag

}  // namespace linebounce::workloads
