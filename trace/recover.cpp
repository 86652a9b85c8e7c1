#include "trace/recover.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "trace/check.hpp"
#include "trace/rehearsal.hpp"

namespace linebounce::trace {

namespace {

// "holds files, which it gives back"
std::string unfinished(const Unended& unended) {
  const std::string* const lock = unended.latest_lock();
  return lock == nullptr ? "is in a handler, which it ends" : fmt::format("holds {}, which it gives back", *lock);
}

// Ends streams where they break a rule, or hold a lock or are in a handler at their end.
void end_unsound(Reader& reader, Supplies& supplies) {
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies);
    if (sound.why.empty() && sound.unended.empty()) continue;
    std::string why = sound.why;
    if (why.empty()) {
      why = fmt::format("stream {} ({}) ends with operation {} and {}", stream, reader.symbols().streams[stream].name,
                        sound.operations - 1, unfinished(sound.unended));
    }
    reader.end_stream(stream, sound.operations, sound.unended.endings(), why);
  }
}

// When it was created is not known any more, only that it was.
void begin_uncreated(Reader& reader, const Supplies& supplies) {
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const Stream& facts = reader.symbols().streams[stream];
    if (!facts.created || supplies.creates(stream)) continue;
    const bool is_missed = supplies.has_operations(stream);
    reader.begin_stream(
        stream, is_missed ? fmt::format("stream {} ({}) begins with the trace: nothing creates it", stream, facts.name) : "");
  }
}

// What one stream does not do any more, another may wait for; and whom it does not create any more begins by itself.
void end_waiting(Reader& reader, Supplies& supplies) {
  Rehearsal rehearsal(reader, supplies);
  for (bool again = true; again;) {
    rehearsal.run();
    const auto stuck = rehearsal.end_stuck();
    for (const Rehearsal::Stuck& each : stuck) reader.end_stream(each.stream, each.operation, each.endings, each.why);
    begin_uncreated(reader, supplies);
    again = !stuck.empty();
  }
}

}  // namespace

void keep_what_makes_sense(Reader& reader) {
  Supplies supplies(reader.symbols());
  end_unsound(reader, supplies);
  begin_uncreated(reader, supplies);
  end_waiting(reader, supplies);
}

}  // namespace linebounce::trace
