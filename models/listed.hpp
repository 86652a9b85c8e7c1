// LISTED(Type, NAME) is the address of the function NAME, for a registry's list. The macro also declares NAME, with the
// function type Type, so that no header has to. The entry's own source file defines NAME.
//
// REQUIRES: not used in an unnamed namespace, since no other file could then define NAME.
#pragma once

#define LISTED(Type, NAME) \
  [] {                     \
    extern Type NAME;      \
    return &NAME;          \
  }()
