// The simulated address space of a workload's programs. Objects, their layouts and the programs' functions have names, so that
// reports can give the object, field and function of every miss.
//
// Objects are placed at virtual addresses. The addresses of operations and misses are physical. The two differ only in replays
// of real programs, after set_frames().
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "models/memory/page_frames.hpp"
#include "models/observer.hpp"

namespace linebounce::workloads {

// The part of an object in which a field lies: the object itself (own), a part on separate cache lines for mostly-read fields,
// or a part of which each CPU has a copy (workloads/program/object.hpp).
enum class Section : std::uint8_t { own, read_mostly, per_cpu };

struct Field {
  std::string name;
  int offset = 0;  // bytes from the start of the field's section
  int size = 8;
  Section section = Section::own;
  std::string moved_at = {};  // for messages: "FILE:LINE:COLUMN" of the layout change that moved the field to its section
  int alignment = 0;          // in bytes, if it is more than that of a word of the field's size; 0: it is not

  friend bool operator==(const Field&, const Field&) = default;
};

// `size` bytes that a layout change has moved from offset `from` of the original layout to offset `to` of `section`.
struct MovedBytes {
  int from = 0, size = 0, to = 0;
  Section section = Section::own;

  friend bool operator==(const MovedBytes&, const MovedBytes&) = default;
};

// A structure's layout. Bytes in no field are reported with the field name "".
struct Layout {
  std::string name;
  int size = 0;       // size of the section `own`, in bytes
  int alignment = 8;  // alignment of the structure's objects, in bytes
  std::vector<Field> fields;
  std::optional<int> base_offset = {};  // if set, objects begin this many bytes into a line, and `alignment` is ignored
  std::string subsystem = {};           // the structure's kernel subsystem, such as "scheduler"
  std::vector<MovedBytes> moved = {};   // the bytes that layout changes have moved, sorted by `from`
  std::vector<Field> unexplained = {};  // bytes, without names, that may be of members which the layout's source did not tell

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
  std::int64_t line = 0;    // cache line of the address, counted from the line in which the object begins
  std::int64_t offset = 0;  // bytes from the start of the line
};

// True if `structure` is `whole` itself or a section of `whole`: "rq.read_mostly" is part of "rq".
bool is_part_of(const std::string& structure, const std::string& whole);

class AddressSpace {
 public:
  static constexpr int kAddressBits = 56;  // of 64; programs in Lua keep a word's size in the others
  // `homes`, if not null, receives the home of every placed object. `placed` has the homes that the configuration sets, by
  // object name; they override the homes that the place functions are given.
  explicit AddressSpace(LineStore& store, Homes* homes = nullptr, std::map<std::string, Home> placed = {});

  [[nodiscard]] int line_bytes() const { return store_->line_bytes(); }

  // Places a new object after all others. `alignment` 0 is the layout's alignment; with line_bytes() the object begins a line.
  // An object whose home differs from the previous object's begins a new line if the home is a node, and a new page if it is a
  // policy.
  // Errors: std::invalid_argument if the object would end beyond the last address.
  Address place(const Layout& layout, const std::string& object, int alignment = 0, std::optional<Home> home = {});
  // The layout's number in layouts(), to which number_of() adds an unknown one. place() with a number compares no layouts,
  // which counts where a workload places objects by the ten thousand.
  std::size_t number_of(const Layout& layout);
  Address place(std::size_t layout, const std::string& object, std::optional<Home> home = {});
  // Places an array of `bytes` bytes on separate lines. Arrays have no fields.
  Address place_array(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});

  // Places an array of `bytes` bytes right after the previous object.
  Address place_bytes(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});
  // Places `bytes` bytes without fields. Reports tell their misses apart by line, unlike those of an array.
  Address place_plain(const std::string& object, std::int64_t bytes, int alignment, std::optional<Home> home = {});
  // leave_out() leaves a gap of `bytes` before the next object. go_to() moves the next object to an address that is `remainder`
  // modulo `step`. go_to_exactly() places the next object at `address`, even if its home differs from the previous object's.
  void leave_out(Address bytes) { next_ += bytes; }
  void go_to(Address remainder, Address step) { next_ += (remainder + step - next_ % step) % step; }
  void go_to_exactly(Address address) {
    next_ = address;
    exactly_ = true;
  }
  [[nodiscard]] Address next() const { return next_; }  // the end of the latest object, or of the gap behind it

  // Says where the pages of a replayed program lie. REQUIRES: called before the simulation starts.
  void set_frames(const PageFrames& frames);
  [[nodiscard]] const PageFrames& frames() const { return frames_; }

  [[nodiscard]] std::vector<std::string> object_names() const;  // sorted by the objects' addresses

  // Sets a word's initial value, before the simulation starts. All other words start as 0.
  void preset(Address address, Value value, int bytes = 8) { store_->preset(address, bytes, value); }

  FunctionId function(const std::string& name, Mode mode);
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // An address as an object's number and an offset in the object. find() returns offset 0 for all bytes of an array. The
  // look-up must be cheap, because every miss does one.
  struct Place {
    std::uint32_t object = kNoObject;
    std::uint32_t offset = 0;
  };
  static constexpr std::uint32_t kNoObject = 0xFFFFFFFF;
  [[nodiscard]] Place find(Address address) const;
  [[nodiscard]] Symbol symbol(Place place) const;
  [[nodiscard]] Address address(Place place) const;               // physical. REQUIRES: `place` is in an object
  [[nodiscard]] const std::string& subsystem(Place place) const;  // the subsystem of the object's layout; may be empty
  [[nodiscard]] const std::vector<Layout>& layouts() const { return layouts_; }  // sorted by their first objects' addresses

  // A placed object, with the arguments that place() needs to place the object again (in a trace's replay).
  struct Object {
    std::size_t layout;
    std::string name;
    Address begin;  // virtual
    bool array;
    std::int64_t size;
    int alignment;             // the argument of place(); 0: the layout's alignment
    std::optional<Home> home;  // if empty, the machine's policy homes the object
  };
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }  // sorted by address
  // As find(), but the offset is exact for arrays, too.
  [[nodiscard]] Place find_byte(Address address) const {
    if (!frames_.empty()) [[unlikely]]
      address = frames_.to_virtual(address);
    const std::uint32_t near = found_[address / kGranule % kFound];
    if (near < objects_.size()) {
      const Object& object = objects_[near];
      if (address - object.begin < static_cast<Address>(object.size))
        return {near, static_cast<std::uint32_t>(address - object.begin)};
    }
    return search(address);
  }

  // Returns the field's physical address in each object of the structure, whichever section holds the field. Empty if there is
  // no such field or object.
  [[nodiscard]] std::vector<Address> addresses_of(const std::string& structure, const std::string& field) const;

 private:
  static constexpr Address kGranule = 32;
  static constexpr std::size_t kFound = 256;

  [[nodiscard]] Place search(Address address) const;
  Address place_sized(std::size_t layout, std::int64_t bytes, const std::string& object, int alignment,
                      std::optional<Home> home);

  LineStore* store_;
  Homes* homes_;
  std::map<std::string, Home> placed_;
  std::optional<Home> last_home_;  // the home of the latest object; empty: the machine's policy
  Address next_;
  bool exactly_ = false;  // the next object begins at next_
  PageFrames frames_;
  std::vector<Layout> layouts_;
  std::unordered_multimap<std::string, std::size_t> layouts_by_key_;  // indices in layouts_
  std::vector<Object> objects_;
  mutable std::array<std::uint32_t, kFound> found_ = {};  // numbers of recently found objects, hashed by granule
  std::vector<Function> functions_;
  std::unordered_map<std::string, FunctionId> functions_by_name_;
};

}  // namespace linebounce::workloads
