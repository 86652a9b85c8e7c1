// A zero-initialised array whose pages take no memory until they are written. Most runs use little of a large machine's caches.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace linebounce {

template <class T>
class ZeroedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  // Errors: std::bad_alloc.
  explicit ZeroedArray(std::size_t size) : memory_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
    if (memory_ == nullptr && size > 0) throw std::bad_alloc();
  }

  [[nodiscard]] T& operator[](std::size_t index) const { return memory_[index]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> memory_;
};

}  // namespace linebounce
