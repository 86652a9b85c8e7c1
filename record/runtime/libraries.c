// Libraries that are loaded while the program runs.
#include "real.h"
#include "runtime.h"

EXPORTED void* dlopen(const char* file, int mode) {
  void* library = real_dlopen(file, mode);
  if (library != NULL && file != NULL) record_library();
  return library;
}
