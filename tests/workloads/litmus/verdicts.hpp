// The verdict on each litmus test's question according to the literature. Written by hand, so that the machine and the
// enumerator of allowed outcomes are checked against something else.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "models/machine_spec.hpp"

namespace linebounce::test {

using namespace workloads;

// Why the simulated machine never shows an outcome that the architecture allows.
constexpr std::string_view kLoadsInOrder = "a load is over before the thread's next operation begins, so loads pass nothing";
constexpr std::string_view kOneOrder = "a store reaches all other threads at once: its line has one writable copy";

enum class Seen : std::uint8_t {
  forbidden,           // the architecture forbids it
  yes,                 // allowed, and the machine shows it
  not_by_this_machine  // allowed, but this machine cannot do it
};

struct Verdict {
  std::string_view test;
  std::string_view letters;   // for sc, tso, ia64: F forbidden, S seen, U unseen
  std::string_view why = {};  // U only

  [[nodiscard]] Seen under(Consistency model) const {
    switch (letters[static_cast<std::size_t>(model)]) {
      case 'F': return Seen::forbidden;
      case 'S': return Seen::yes;
      default: return Seen::not_by_this_machine;
    }
  }
};

constexpr std::array kVerdicts = {
    Verdict{"mp", "FFS"},
    Verdict{"mp+po+acq", "FFS"},
    Verdict{"mp+rel+po", "FFU", kLoadsInOrder},
    Verdict{"mp+rel+acq", "FFF"},
    Verdict{"mp+early_rel+acq", "FFS"},
    Verdict{"mp+fence+po", "FFU", kLoadsInOrder},
    Verdict{"mp+fences", "FFF"},
    Verdict{"mp+rel+addr", "FFF"},
    Verdict{"mp+rel+data-rfi-addr", "FFF"},
    Verdict{"mp+exchange+acq", "FFF"},
    Verdict{"mp+rel+await", "FFF"},
    Verdict{"mp+po+await", "FFS"},
    Verdict{"sb", "FSS"},
    Verdict{"sb+rel+acq", "FSS"},
    Verdict{"sb+fence+po", "FSS"},
    Verdict{"sb+fences", "FFF"},
    Verdict{"sb+exchanges", "FFF"},
    Verdict{"sb+rfis", "FSS"},
    Verdict{"lb", "FFU", kLoadsInOrder},
    Verdict{"lb+acq+po", "FFU", kLoadsInOrder},
    Verdict{"lb+acqs", "FFF"},
    Verdict{"lb+rels", "FFF"},
    Verdict{"lb+datas", "FFF"},
    Verdict{"s", "FFS"},
    Verdict{"s+rel+acq", "FFF"},
    Verdict{"r", "FSS"},
    Verdict{"r+rel+fence", "FFF"},
    Verdict{"2+2w", "FFS"},
    Verdict{"2+2w+rel+po", "FFS"},
    Verdict{"2+2w+rels", "FFF"},
    Verdict{"corr", "FFU", kLoadsInOrder},
    Verdict{"corr+acq", "FFF"},
    Verdict{"coww", "FFF"},
    Verdict{"corw", "FFF"},
    Verdict{"cowr", "FFF"},
    Verdict{"cowr+older", "FFF"},
    Verdict{"two_exchanges", "FFF"},
    Verdict{"wrc", "FFU", kLoadsInOrder},
    Verdict{"wrc+acq-rel+acq", "FFU", kOneOrder},
    Verdict{"wrc+rel+acq-rel+acq", "FFF"},
    Verdict{"rwc", "FSS"},
    Verdict{"rwc+rel+acq+fence", "FFF"},
    Verdict{"isa2", "FFS"},
    Verdict{"isa2+rel+acq-rel+acq", "FFF"},
    Verdict{"iriw", "FFU", kLoadsInOrder},
    Verdict{"iriw+acqs", "FFU", kOneOrder},
    Verdict{"iriw+rels+acqs", "FFF"},
    Verdict{"iriw+fences", "FFU", kOneOrder},
    Verdict{"3.sb", "FSS"},
};

inline const Verdict& verdict_on(std::string_view test) {
  const auto* found = std::find_if(kVerdicts.begin(), kVerdicts.end(), [test](const Verdict& v) { return v.test == test; });
  if (found == kVerdicts.end()) throw std::out_of_range("no verdict on this litmus test");
  return *found;
}

}  // namespace linebounce::test
