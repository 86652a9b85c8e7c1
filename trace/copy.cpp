#include "trace/copy.hpp"

#include "trace/losses.hpp"

namespace linebounce::trace {
namespace {

// Defines objects of `symbols` in `to`, in the order of their numbers, up to and including `id`.
void define_objects(const Symbols& symbols, Writer& to, std::uint32_t id) {
  for (auto next = static_cast<std::uint32_t>(to.symbols().objects.size()); next <= id; ++next)
    to.define(symbols.objects[next]);
}

}  // namespace

void define_all(const Symbols& symbols, Writer& to) {
  for (const Structure& each : symbols.structures) to.define(each);
  for (const Function& each : symbols.functions) to.define(each);
  for (const Event& each : symbols.events) to.define(each);
  for (const Stream& each : symbols.streams) to.define(each);
  for (const Symbols::Placed& placed : symbols.placed) {
    if (placed.what == Symbols::Placed::What::object) define_objects(symbols, to, placed.id);
    if (placed.what == Symbols::Placed::What::barrier) to.define(symbols.barriers[placed.id]);
    if (placed.what == Symbols::Placed::What::lock) {
      const Lock& lock = symbols.locks[placed.id];
      if (lock.object != kNone) define_objects(symbols, to, lock.object);
      to.define(lock);
    }
  }
  if (!symbols.objects.empty()) define_objects(symbols, to, static_cast<std::uint32_t>(symbols.objects.size() - 1));
  for (const Word& each : symbols.words) to.define(each);
}

Summary summary_of_copy(const Reader& from) {
  Summary summary = from.summary();
  if (!from.damage().empty()) summary.missing.push_back(facts_text(Loss::damaged, "", from.damage()));
  return summary;
}

void copy(const Reader& from, Writer& to) {
  define_all(from.symbols(), to);
  for (std::uint32_t stream = 0; stream < from.symbols().streams.size(); ++stream) {
    Reader::Cursor cursor = from.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& operation : frame) to.append(stream, operation);
    }
  }
  to.finish(summary_of_copy(from));
}

}  // namespace linebounce::trace
