// The memory of programs: structures with named fields, objects placed at addresses, and functions. They give every miss the
// name of its object, field and function.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "models/observer.hpp"

namespace linebounce::workloads {

// The part of an object in which a field lies: the object itself, a part on separate lines for mostly-read fields, or a part of
// which each CPU has a copy (workloads/program/object.hpp).
enum class Section : std::uint8_t { own, read_mostly, per_cpu };

struct Field {
  std::string name;
  int offset = 0;  // bytes, in its section
  int size = 8;
  Section section = Section::own;
  std::string moved_at = {};  // the layout change that put it in another section, "FILE:LINE:COLUMN", for messages

  friend bool operator==(const Field&, const Field&) = default;
};

// Bytes that a layout change has moved: from offset `from` of the original layout to offset `to` of a section.
struct MovedBytes {
  int from = 0, size = 0, to = 0;
  Section section = Section::own;

  friend bool operator==(const MovedBytes&, const MovedBytes&) = default;
};

// A structure's layout. Unnamed bytes belong to a field "".
struct Layout {
  std::string name;
  int size = 0;       // bytes, of its own section
  int alignment = 8;  // of its objects
  std::vector<Field> fields;
  std::optional<int> base_offset = {};  // objects begin this many bytes after the start of a line; replaces `alignment`
  std::string subsystem = {};           // the kernel subsystem of the structure: "scheduler"
  std::vector<MovedBytes> moved = {};   // by `from`, the bytes that a layout change has moved

  friend bool operator==(const Layout&, const Layout&) = default;
};

enum class Mode : std::uint8_t { kernel, user };

struct Function {
  std::string name;
  Mode mode = Mode::kernel;
};

// The object and field at an address.
struct Symbol {
  std::string structure, object, field;
  std::int64_t line = 0;    // counted from the line in which the object begins
  std::int64_t offset = 0;  // in the line
};

// Whether `structure` is `whole`, or one of its sections, such as "rq.read_mostly".
bool is_part_of(const std::string& structure, const std::string& whole);

class AddressSpace {
 public:
  // `homes`, if not null, is told the home of every object. `placed` has the homes that the configuration sets, by object name.
  explicit AddressSpace(LineStore& store, Homes* homes = nullptr, std::map<std::string, Home> placed = {});

  [[nodiscard]] int line_bytes() const { return store_->line_bytes(); }

  // Places a new object after all others. `alignment` 0 means the layout's; that of a coherence line gives it separate lines.
  // An object whose home differs from the previous object's begins a new line, or with a policy a new page.
  Address place(const Layout& layout, const std::string& object, int alignment = 0, std::optional<Home> home = {});
  // Places an array without fields on separate lines.
  Address place_array(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});

  // Places an array without fields right after the previous object.
  Address place_bytes(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});
  // Places bytes without fields whose misses are reported line by line.
  Address place_plain(const std::string& object, std::int64_t bytes, int alignment, std::optional<Home> home = {});
  // leave_out: leaves a gap before the next object. The other: moves the next object to an address that is `remainder` modulo
  // `step`.
  void leave_out(Address bytes) { next_ += bytes; }
  void go_to(Address remainder, Address step) { next_ += (remainder + step - next_ % step) % step; }

  [[nodiscard]] std::vector<std::string> object_names() const;  // in the order of placing

  // Sets a word before the simulation starts. Other words are 0.
  void preset(Address address, Value value, int bytes = 8) { store_->preset(address, bytes, value); }

  FunctionId function(const std::string& name, Mode mode);
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // An address as an object's number and an offset, the same offset for all bytes of an array. Looked up at every miss, so
  // cheap.
  struct Place {
    std::uint32_t object = kNoObject;
    std::uint32_t offset = 0;
  };
  static constexpr std::uint32_t kNoObject = 0xFFFFFFFF;
  [[nodiscard]] Place find(Address address) const;
  [[nodiscard]] Symbol symbol(Place place) const;
  [[nodiscard]] Address address(Place place) const;                              // REQUIRES: an object is there
  [[nodiscard]] const std::string& subsystem(Place place) const;                 // the layout's; may be empty
  [[nodiscard]] const std::vector<Layout>& layouts() const { return layouts_; }  // of the objects, in the order of their first

  // The arguments with which an object was placed, for placing it again.
  struct Object {
    std::size_t layout;
    std::string name;
    Address begin;
    bool array;
    std::int64_t size;
    int alignment;             // place()'s argument
    std::optional<Home> home;  // none: the machine's policy
  };
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }  // by address
  // The byte at an address, of arrays, too.
  [[nodiscard]] Place find_byte(Address address) const;

  // The field's address in each object of the structure, in whatever section it lies. Empty without such a field or object.
  [[nodiscard]] std::vector<Address> addresses_of(const std::string& structure, const std::string& field) const;

 private:
  Address place_sized(const Layout& layout, std::int64_t bytes, const std::string& object, int alignment,
                      std::optional<Home> home);

  LineStore* store_;
  Homes* homes_;
  std::map<std::string, Home> placed_;
  std::optional<Home> last_home_;  // none: the machine's policy
  Address next_;
  std::vector<Layout> layouts_;
  std::vector<Object> objects_;
  std::vector<Function> functions_;
};

}  // namespace linebounce::workloads
