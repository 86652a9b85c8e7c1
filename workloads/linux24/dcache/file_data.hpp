// Files' data that pass through a CPU's caches and push other lines out: a buffer twice as large as the outermost cache, read
// line by line, round and round.
#pragma once

#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

class FileData {
 public:
  FileData(const WorkloadSetup& setting, const std::string& name)
      : line_(static_cast<Address>(setting.memory.line_bytes())),
        bytes_(static_cast<Address>(setting.machine.caches.back().size_kib) * 2 * 1024),
        begin_(setting.memory.place_array(name, static_cast<std::int64_t>(bytes_))) {}

  // The CPU whose buffer it is.
  void read(Cpu& cpu, std::int64_t lines) {
    for (std::int64_t i = 0; i < lines; ++i) {
      cpu.load(begin_ + offset_);
      offset_ = (offset_ + line_) % bytes_;
    }
  }

 private:
  Address line_;
  Address bytes_;
  Address begin_;
  Address offset_ = 0;
};

}  // namespace linebounce::workloads
