// Checks each operation on its own as it is read. Also counts what streams need from each other, and checks these counts at the
// end.
#include "trace/check.hpp"

#include "trace/error.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

// Throws an error about an operation that was read earlier.
[[noreturn]] void fail_at(const Reader& reader, const Spot& spot, const std::string& what) {
  Reader::Cursor cursor = reader.open(spot.stream);
  std::uint64_t end = 0;
  while (end <= spot.operation) end += cursor.frame().size();
  throw TraceError(cursor.place(spot.operation) + ": " + what);
}

}  // namespace

SoundPart sound_part(const Reader& reader, std::uint32_t stream, Supplies& supplies) {
  Reader::Cursor cursor = reader.open(stream);
  StreamRules rules(reader.symbols(), stream);
  Spot at{stream, 0};
  std::string why;
  try {
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& operation : frame) {
        rules.follow(operation);
        supplies.count(at, operation);
        ++at.operation;
      }
    }
  } catch (const FormatError& error) {
    why = cursor.place(at.operation) + ": " + error.what();
  }
  return {at.operation, rules.unended(), why};
}

void check(const Reader& reader) {
  const Symbols& symbols = reader.symbols();
  const bool is_whole = reader.damage().empty();
  Supplies supplies(symbols);
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies);
    if (!sound.why.empty()) throw TraceError(sound.why);
    const std::string* const lock = sound.unended.latest_lock();
    if (!is_whole || lock == nullptr) continue;
    fail_at(reader, {stream, sound.operations - 1}, "the stream ends here and holds " + *lock);
  }
  if (!is_whole) return;
  if (const auto debt = supplies.first_debt()) fail_at(reader, debt->where, debt->what);
}

}  // namespace linebounce::trace
