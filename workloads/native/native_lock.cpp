#include "workloads/native/native_lock.hpp"

#include <memory>
#include <utility>

#include "workloads/lua/lua_file.hpp"
#include "workloads/native/native_call.hpp"

namespace linebounce::workloads {
namespace {

using LockFunction = LockObject::Function;

class NativeLock final : public Lock {
 public:
  NativeLock(std::shared_ptr<const LockObject> object, NativeMemory& memory, const LockPlace& place)
      : object_(std::move(object)), memory_(&memory), waits_in_(place.waits_in), address_(memory.place_lock(place)) {}

  bool acquire(Cpu& cpu) override { return take(cpu, LockFunction::acquire); }
  bool try_acquire(Cpu& cpu) override {
    NativeCall call(cpu, *memory_, nullptr);
    return says_yes(call.run(LockFunction::try_acquire, address_));
  }
  void release(Cpu& cpu) override { NativeCall(cpu, *memory_, nullptr).run(LockFunction::release, address_); }
  bool acquire_shared(Cpu& cpu) override {
    return take(cpu, object_->has(LockFunction::acquire_shared) ? LockFunction::acquire_shared : LockFunction::acquire);
  }
  bool release_shared(Cpu& cpu) override {
    NativeCall call(cpu, *memory_, nullptr);
    if (object_->has(LockFunction::end_shared)) return says_yes(call.run(LockFunction::end_shared, address_));
    call.run(object_->has(LockFunction::release_shared) ? LockFunction::release_shared : LockFunction::release, address_);
    return true;
  }
  [[nodiscard]] bool leaves_nothing_behind() const { return !memory_->shares_stacks(); }

 private:
  // A C function that returns bool sets only the lowest byte.
  static bool says_yes(std::uintptr_t result) { return (result & 0xff) != 0; }
  bool take(Cpu& cpu, LockFunction function) {
    NativeCall call(cpu, *memory_, &waits_in_);
    call.run(function, address_);
    return call.waited();
  }

  std::shared_ptr<const LockObject> object_;
  NativeMemory* memory_;
  WaitsIn waits_in_;
  Address address_;
};

std::vector<LockOperation> operations_of(const LockObject& object) {
  std::vector<LockOperation> operations;
  for (const NativeSite& site : object.sites()) {
    if (!site.is_atomic) continue;
    std::vector<std::string> chain = site.chain.empty() ? std::vector{site.place()} : site.chain;
    operations.push_back({site.number, std::move(chain), object.ran_initially().contains(site.number)});
  }
  return operations;
}

}  // namespace

bool leaves_nothing_behind(const Lock& lock) {
  const auto* const native = dynamic_cast<const NativeLock*>(&lock);
  return native != nullptr && native->leaves_nothing_behind();
}

NativeDeclaration native_declaration_of(const SourceFile& file) {
  const LockObject object(file);
  return {object.title(), object.traits()};
}

LockEntry native_lock_entry(const SourceFile& file, int pause_cycles, std::vector<NativeOrder>* used) {
  const auto object = std::make_shared<const LockObject>(file, used);
  const auto create = [object, name = file.name(), path = file.path, pause_cycles](const LockPlace& place) {
    NativeMemory& memory = place.per_cpu.kept<NativeMemory>(
        path, [&] { return std::make_shared<NativeMemory>(*object, name, place.memory, place.per_cpu, pause_cycles); });
    return std::make_unique<NativeLock>(object, memory, place);
  };
  return {.name = file.path,
          .title = object->title(),
          .traits = object->traits(),
          .create = create,
          .file = file.path,
          .operations = [object] { return operations_of(*object); }};
}

LockEntry lock_entry_of_file(const SourceFile& file, int pause_cycles) {
  return file.compiled.empty() ? lock_entry_of(file) : native_lock_entry(file, pause_cycles);
}

}  // namespace linebounce::workloads
