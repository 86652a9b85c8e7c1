// Whether threads that hold a lock together could do without it and read again, as under a seqlock: not if they follow a
// pointer that a writer changes meanwhile, or use memory that is freed meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "record/collector/trace_output.hpp"

namespace linebounce::record {

class ReaderSafety {
 public:
  // Names a place; called at most once for each lock.
  using Name = std::function<std::string()>;

  // A thread holds the lock as a reader.
  void shared(std::uint32_t lock) { sections(lock).is_shared = true; }
  // A thread has read a word while it holds locks. `is_pointer`: the value looks like an address. `is_heap`: the word is in a
  // block that may be freed.
  void read(const Thread& thread, std::uint64_t address, bool is_pointer, bool is_heap, const Name& name);
  // A thread has written while other threads run.
  void written(const Thread& thread, std::uint64_t address, std::uint64_t bytes);
  // A thread frees a block while other threads run.
  void freed(const Thread& thread, std::uint64_t address, std::uint64_t bytes);

  // Locks that threads have held together, with trace::Lock::readers_follow of each.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string>> verdicts() const;

 private:
  struct Sections {
    bool is_shared = false;                                   // by some
    std::string hazard;                                       // the first that was found
    std::unordered_map<std::uint64_t, std::string> pointers;  // words that readers follow, with their names
    std::unordered_set<std::uint64_t> written;                // words written by exclusive holders
    struct HeapWord {
      const Thread* reader = nullptr;  // null: several
      std::string name;
    };
    std::unordered_map<std::uint64_t, HeapWord> heap;  // memory that readers use, in parts of the smallest block's size

    [[nodiscard]] bool is_known() const { return !hazard.empty(); }
    void found(const std::string& what) {
      if (hazard.empty()) hazard = what;
    }
    void limit();
  };
  Sections& sections(std::uint32_t lock);

  std::vector<Sections> sections_;  // by lock
};

}  // namespace linebounce::record
