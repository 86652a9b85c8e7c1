#include "trace/recover.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "trace/check.hpp"

namespace linebounce::trace {

namespace {

// Ends streams where they break a rule, or hold a lock at their end; true: one that did not end there before.
bool end_unsound(Reader& reader, Supplies& supplies) {
  bool any = false;
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies);
    if (sound.why.empty() && sound.held.empty()) continue;
    reader.end_stream(stream, sound.operations, sound.held.releases(), sound.why);
    any = true;
  }
  return any;
}

// What comes before the first operation that waits for too much.
SoundPart part_that_ends(const Reader& reader, std::uint32_t stream, const Supplies& supplies) {
  Reader::Cursor cursor = reader.open(stream);
  SoundPart part{0, HeldLocks(reader.symbols()), ""};
  std::vector<std::uint64_t> come(reader.symbols().barriers.size());  // to each barrier
  for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
    for (const Operation& it : frame) {
      if (it.kind == Kind::barrier) ++come[it.id];
      part.why = supplies.lack(it, stream, it.kind == Kind::barrier ? come[it.id] : 0);
      if (!part.why.empty()) {
        part.why = cursor.place(part.operations) + ": " + part.why;
        return part;
      }
      part.held.follow(it);
      ++part.operations;
    }
  }
  return part;
}

// The same of streams that wait for what does not come. REQUIRES: end_unsound() found nothing.
bool end_waiting(Reader& reader, const Supplies& supplies) {
  bool any = false;
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const SoundPart part = part_that_ends(reader, stream, supplies);
    if (part.why.empty()) continue;
    reader.end_stream(stream, part.operations, part.held.releases(), part.why);
    any = true;
  }
  return any;
}

}  // namespace

// What one stream does not do any more, another may wait for.
void keep_what_makes_sense(Reader& reader) {
  for (bool any = true; any;) {
    Supplies supplies(reader.symbols());
    any = end_unsound(reader, supplies) || end_waiting(reader, supplies);
  }
}

}  // namespace linebounce::trace
