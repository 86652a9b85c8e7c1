// The number of instructions that each function of the I/O path executes, apart from its accesses to simulated structures. The
// numbers are assumptions: a direct I/O in Linux 2.6 is said to take 15,000 to 20,000 instructions in all, including AIO, file
// system and scheduler. About half of them are assigned to the block layer, SCSI and the driver, and divided among the
// functions by how much each one does.
#pragma once

namespace linebounce::workloads::path {

// submission
constexpr int kGenericMakeRequest = 300;  // checks the sector, the partition and the limits
constexpr int kMakeRequest = 250;
constexpr int kMerge = 120;  // elv_merge() finds nothing
constexpr int kGetRequest = 150;
constexpr int kInitRequest = 180;
constexpr int kAddRequest = 150;  // including the disk's statistics
constexpr int kElvInsert = 60;
constexpr int kPlug = 40;
constexpr int kUnplug = 40;
constexpr int kNextRequest = 80;
constexpr int kDispatch = 80;
constexpr int kPrepare = 350;  // scsi_prep_fn() with scsi_init_io(): turns the segments into a scatter list
constexpr int kGetCommand = 150;
constexpr int kInitCommand = 300;  // sd_init_command(): builds the command's bytes
constexpr int kStartTag = 80;
constexpr int kFindBit = 20;
constexpr int kRequestFn = 200;
constexpr int kDispatchCommand = 200;
constexpr int kQueueCommand = 150;
constexpr int kStartScsi = 600;  // maps the buffers for DMA, and fills the request ring's entry

// completion
constexpr int kInterruptHandler = 150;
constexpr int kStatusEntry = 150;
constexpr int kCompletedRequest = 120;  // includes unmapping the buffers from DMA
constexpr int kScsiDone = 60;
constexpr int kCompleteRequest = 50;
constexpr int kDoneSoftirq = 60;
constexpr int kDisposition = 150;
constexpr int kFinishCommand = 100;
constexpr int kUnbusy = 40;
constexpr int kIoCompletion = 250;  // including sd_rw_intr()
constexpr int kEndRequest = 150;
constexpr int kEndBio = 100;
constexpr int kEndTag = 50;
constexpr int kPutRequest = 100;
constexpr int kPutCommand = 80;
constexpr int kRunQueue = 80;

}  // namespace linebounce::workloads::path
