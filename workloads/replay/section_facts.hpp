// Finds what threads do under each lock of a trace that rules out other kinds of lock as its replacement.
#pragma once

#include <string>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce::workloads {

struct SectionFacts {
  // Whether readers must be excluded: the lock is held exclusively, and some thread writes under it. If false, threads that
  // hold the lock together do no harm.
  bool with_writers = false;
  bool tried = false;  // whether any thread tries the lock
  // Why readers must keep writers out; empty if they need not.
  std::string readers_hazard;
  // A pointer into heap memory that readers follow, though no writer changed it; empty: none.
  std::string unchanged_pointer;

  void add(const SectionFacts& other);
};

// By lock, from one pass over the operations. Handlers' writes don't count for the program that they interrupt. Errors:
// trace::TraceError.
std::vector<SectionFacts> section_facts(const trace::Reader& reader);

}  // namespace linebounce::workloads
