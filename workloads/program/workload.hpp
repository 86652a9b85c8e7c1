// What a workload is: it lays out its memory, runs one program per CPU, and reports metrics of its own.
#pragma once

namespace linebounce {

class Workload {
 public:
  virtual ~Workload() = default;
};

class Lock {
 public:
  virtual ~Lock() = default;
};

}  // namespace linebounce
