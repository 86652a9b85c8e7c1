// Decides whether a lock's readers could do without it. They could not if they follow a pointer that a writer changes during
// their section, or use memory that is freed during it. Under a seqlock they may follow no pointer at all.
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
  // Returns the name of a place; called at most once for each lock.
  using Name = std::function<std::string()>;

  // Notes that some thread has held the lock as a reader.
  void shared(std::uint32_t lock) { sections(lock).is_shared = true; }
  // A thread has read a word while it holds locks. `is_pointer`: the value looks like an address. `is_heap`: the word is in a
  // heap block, which may be freed.
  void read(const Thread& thread, std::uint64_t address, bool is_pointer, bool is_heap, const Name& name);
  // A thread has written while other threads ran.
  void written(const Thread& thread, std::uint64_t address, std::uint64_t bytes);
  // A thread has freed a block while other threads ran.
  void freed(const Thread& thread, std::uint64_t address, std::uint64_t bytes);

  // All locks that readers have held, with their value for trace::Lock::readers_follow.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string>> verdicts() const;

 private:
  struct Sections {
    bool is_shared = false;                                   // by some
    bool uses_heap = false;                                   // by readers
    std::string first_pointer;                                // the name of the first pointer that readers read; empty: none
    std::string hazard;                                       // the first hazard found; empty: none
    std::unordered_map<std::uint64_t, std::string> pointers;  // addresses of pointers that readers follow, with their names
    std::unordered_set<std::uint64_t> written;                // words written by exclusive holders
    struct HeapWord {
      const Thread* reader = nullptr;  // null: several
      std::string name;
    };
    std::unordered_map<std::uint64_t, HeapWord> heap;  // heap memory that readers use, in granules of the smallest block size

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
