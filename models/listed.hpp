// LISTED(Type, NAME) is the address of the function NAME, as an entry of a registry. The macro also declares the function, with
// the function type Type; the entry's own source file defines it. So no header has to list the functions a second time.
//
// REQUIRES: not used in an unnamed namespace, whose functions no other file can define.
#pragma once

#define LISTED(Type, NAME) \
  [] {                     \
    extern Type NAME;      \
    return &NAME;          \
  }()
