#include "commands/course/course_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using trace::Kind;

// One CPU's stream of operations, read frame by frame.
class StreamOfCpu {
 public:
  StreamOfCpu(const trace::Reader& reader, std::uint32_t stream, int its_cpu) : cpu(its_cpu), cursor_(reader.open(stream)) {
    read_on();
  }
  [[nodiscard]] const trace::Operation* next() const { return at_ < frame_.size() ? &frame_[at_] : nullptr; }
  void advance() {
    if (++at_ == frame_.size()) read_on();
  }

  int cpu;
  int repeats = 0;  // repetitions of the current operation that were already visited

 private:
  void read_on() {
    frame_ = cursor_.frame();
    at_ = 0;
  }
  trace::Reader::Cursor cursor_;
  std::span<const trace::Operation> frame_;
  std::size_t at_ = 0;
};

class Interleaving {
 public:
  Interleaving(const trace::Reader& reader, const workloads::RecordedMemory& memory, int line_bytes,
               const std::function<void(const CourseAccess&)>& visit)
      : reader_(reader),
        frames_(memory.frames()),
        line_bytes_(static_cast<Address>(line_bytes)),
        visit_(visit),
        begins_(reader.symbols().objects.size()) {
    for (const workloads::RecordedMemory::Place& place : memory.places()) begins_[place.object] = place.begin;
    const std::vector<int> cpus = cpus_of_streams(reader);
    for (std::size_t stream = 0; stream < cpus.size(); ++stream) {
      streams_.emplace_back(reader, static_cast<std::uint32_t>(stream), cpus[stream]);
      wakes_.resize(std::max(wakes_.size(), static_cast<std::size_t>(cpus[stream]) + 1));
    }
  }

  void run() {
    for (bool any = true; any;) {
      any = false;
      for (StreamOfCpu& stream : streams_) any |= take_turn(stream);
    }
    for (const StreamOfCpu& stream : streams_) {
      if (stream.next() != nullptr) refuse("CPU {} sleeps for ever", stream.cpu);
    }
  }

 private:
  // Runs the stream through its next access. Returns false if the stream has ended or sleeps.
  bool take_turn(StreamOfCpu& stream) {
    bool moved = false;
    while (const trace::Operation* operation = stream.next()) {
      switch (operation->kind) {
        case Kind::load:
        case Kind::store:
        case Kind::exchange:
        case Kind::fetch_add:
        case Kind::compare_exchange: visit(stream); return true;
        case Kind::sleep:
          if (wakes_[static_cast<std::size_t>(stream.cpu)] < operation->argument) return moved;
          break;
        case Kind::wake:
          if (operation->id < wakes_.size()) ++wakes_[operation->id];
          break;
        case Kind::prefetch:
        case Kind::fence:
        case Kind::execute:
        case Kind::compute:
        case Kind::clock:
        case Kind::enter:
        case Kind::leave:
        case Kind::tally: break;
        default: refuse("{}: an atomic bus runs accesses alone; replay this trace on a machine", kind_name(operation->kind));
      }
      stream.advance();
      moved = true;
    }
    return moved;
  }

  // Visits the stream's next access, of which several operations may be parts.
  void visit(StreamOfCpu& stream) {
    std::optional<CourseAccess> touched;  // what is known of the access to the current line
    do {
      const trace::Operation& operation = *stream.next();
      add_piece(stream, operation, touched);
      if (stream.repeats++ == operation.repeats()) {
        stream.repeats = 0;
        stream.advance();
      }
    } while (stream.next() != nullptr && is_part(*stream.next()));
    visit_(*touched);
  }

  static bool is_part(const trace::Operation& operation) {
    return (operation.kind == Kind::load || operation.kind == Kind::store) && (operation.flags & trace::kPart) != 0;
  }

  void add_piece(const StreamOfCpu& stream, const trace::Operation& operation, std::optional<CourseAccess>& touched) {
    const trace::Object& object = reader_.symbols().objects[operation.id];
    if (!object.address) refuse("{} has no address", object.name);
    const auto bytes = static_cast<Address>(operation.bytes);
    const Address begin = operation.argument + static_cast<Address>(stream.repeats) * bytes;
    for (Address offset = begin; offset < begin + bytes;) {
      const Address address = frames_.to_physical(begins_[operation.id] + offset);
      const Address here = std::min(line_bytes_ - address % line_bytes_, begin + bytes - offset);
      if (touched && touched->address / line_bytes_ == address / line_bytes_) {
        touched->bytes += static_cast<int>(here);
      } else {
        if (touched) visit_(*touched);
        touched = {stream.cpu, address, static_cast<int>(here), operation.kind != Kind::load, operation.id, offset};
      }
      offset += here;
    }
  }

  static std::string_view kind_name(Kind kind) { return trace::kKindFacts[static_cast<std::size_t>(kind)].name; }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw trace::TraceError(reader_.file().string() + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  const trace::Reader& reader_;
  const PageFrames& frames_;
  const Address line_bytes_;
  const std::function<void(const CourseAccess&)>& visit_;
  std::vector<Address> begins_;  // by object, virtual
  std::vector<StreamOfCpu> streams_;
  std::vector<std::uint64_t> wakes_;  // by CPU
};

}  // namespace

Address own_address(const trace::Reader& reader, const CourseAccess& access) {
  return reader.symbols().objects[access.object].address.value_or(0) + access.offset;
}

std::vector<int> cpus_of_streams(const trace::Reader& reader) {
  std::vector<int> cpus;
  for (const trace::Stream& stream : reader.symbols().streams)
    cpus.push_back(stream.cpu >= 0 ? stream.cpu : static_cast<int>(cpus.size()));
  return cpus;
}

void for_each_access(const trace::Reader& reader, const workloads::RecordedMemory& memory, int line_bytes,
                     const std::function<void(const CourseAccess&)>& visit) {
  Interleaving(reader, memory, line_bytes, visit).run();
}

}  // namespace linebounce::sim
