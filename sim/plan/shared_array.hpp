// Memory that processes made later share with this one.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <type_traits>

namespace linebounce::sim {

template <class Value>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // All bytes are 0. Errors: std::system_error.
  explicit SharedArray(std::size_t count) : bytes_(std::max<std::size_t>(1, count) * sizeof(Value)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory to share with simulations");
    values_ = static_cast<Value*>(memory);
  }
  ~SharedArray() { ::munmap(values_, bytes_); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  Value& operator[](std::size_t index) { return values_[index]; }

 private:
  std::size_t bytes_;
  Value* values_ = nullptr;
};

}  // namespace linebounce::sim
