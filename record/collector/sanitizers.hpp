// Tells whether a program was compiled for a sanitizer of gcc or clang.
#pragma once

#include <gelf.h>

#include <string>

namespace linebounce::record {

// The value of -fsanitize= whose runtime reserves a large part of the address space, which QEMU cannot give it: "address",
// "hwaddress", "leak", "memory" or "thread". Empty if there is none, also in a program that linebounce-cc has compiled.
std::string large_sanitizer_of(Elf* program);

}  // namespace linebounce::record
