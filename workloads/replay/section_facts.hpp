// What threads do under each of a trace's locks, as far as it rules out other locks in their place.
#pragma once

#include <string>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce::workloads {

struct SectionFacts {
  // Readers must be kept out: somebody holds the lock alone, and there are writes under it, by whomever. False: nobody would
  // notice if readers came in.
  bool with_writers = false;
  bool tried = false;  // somebody tries it
  // Why readers can't do without keeping writers out; empty: they can.
  std::string readers_hazard;

  void add(const SectionFacts& other);
};

// By lock, by one pass over the operations; handlers' writes are not those of whom they interrupt. Errors: trace::TraceError.
std::vector<SectionFacts> section_facts(const trace::Reader& reader);

}  // namespace linebounce::workloads
