// A counter whose algorithm is a Lua file that defines add() and read(), or get() and put().
#include <array>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/lua/lua_object.hpp"

namespace linebounce::workloads {
namespace {

enum CounterFunction : std::uint8_t { kAdd, kRead, kGet, kPut, kBeginDying };
constexpr std::array<const char*, 5> kFunctions = {"add", "read", "get", "put", "begin_dying"};

class LuaCounter final : public Counter, public ReferenceCount {
 public:
  LuaCounter(const CounterPlace& place, LuaObjectFile& file)
      : object_("counter", place.name, kFunctions, place.cpus, file.hosts()) {
    const OwnWord own{place.name, place.word, kCounterBytes};
    file.set_up(object_, own, place.memory, place.locks.per_cpu(), &place.locks);
  }

  void add(Cpu& cpu, std::int64_t amount) override {
    object_.call(cpu, kAdd, amount);
    lua_pop(object_.interpreter(cpu).state(), 1);
  }
  std::int64_t read(Cpu& cpu) override {
    object_.call(cpu, kRead);
    const Interpreter& lua = object_.interpreter(cpu);
    if (lua_isinteger(lua.state(), -1) == 0) lua.fail("read must return the sum, a whole number");
    const lua_Integer sum = lua_tointeger(lua.state(), -1);
    lua_pop(lua.state(), 1);
    return sum;
  }
  void get(Cpu& cpu) override {
    object_.call(cpu, kGet);
    lua_pop(object_.interpreter(cpu).state(), 1);
  }
  bool put(Cpu& cpu) override { return object_.ask(cpu, kPut); }
  bool begin_dying(Cpu& cpu) override { return object_.has(cpu, kBeginDying) ? object_.ask(cpu, kBeginDying) : put(cpu); }

 private:
  LuaObject object_;
};

}  // namespace

CounterEntry counter_entry_of(const SourceFile& file) {
  const LuaDeclaration declared = declaration_of(file);
  const auto create = [file](const CounterPlace& place) {
    return std::make_unique<LuaCounter>(place, LuaObjectFile::of(file, false, place.locks.per_cpu()));
  };
  CounterEntry entry{file.path, declared.title, nullptr, nullptr};
  if (declared.counter.events) entry.create_counter = create;
  if (declared.counter.references) entry.create_reference_count = create;
  return entry;
}

}  // namespace linebounce::workloads
