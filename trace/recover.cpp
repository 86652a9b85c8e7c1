#include "trace/recover.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "trace/check.hpp"
#include "trace/rehearsal.hpp"

namespace linebounce::trace {

namespace {

// Ends streams where they break a rule, or hold a lock at their end.
void end_unsound(Reader& reader, Supplies& supplies) {
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies);
    if (sound.why.empty() && sound.held.empty()) continue;
    std::string why = sound.why;
    if (why.empty()) {
      why = fmt::format("stream {} ({}) ends with operation {} and holds {}, which it gives back", stream,
                        reader.symbols().streams[stream].name, sound.operations - 1, sound.held.latest());
    }
    reader.end_stream(stream, sound.operations, sound.held.releases(), why);
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

// True: there was one.
bool end_waiting(Reader& reader, const Supplies& supplies) {
  Rehearsal rehearsal(reader, supplies);
  rehearsal.run();
  const auto stuck = rehearsal.to_be_ended();
  for (const Rehearsal::Stuck& each : stuck) reader.end_stream(each.stream, each.operation, each.gives_back, each.why);
  return !stuck.empty();
}

}  // namespace

// What one stream does not do any more, another may wait for; and whom it does not create any more begins by itself.
void keep_what_makes_sense(Reader& reader) {
  for (bool again = true; again;) {
    Supplies supplies(reader.symbols());
    end_unsound(reader, supplies);
    begin_uncreated(reader, supplies);
    again = end_waiting(reader, supplies);
  }
}

}  // namespace linebounce::trace
