// LISTED(Type, NAME): an entry of a registry. It declares the function NAME of the function type Type, which the entry's own
// file defines, and gives its address. A header of these declarations would be a second list beside the registry.
//
// REQUIRES: outside of unnamed namespaces, whose members no other file can define.
#pragma once

#define LISTED(Type, NAME) \
  [] {                     \
    extern Type NAME;      \
    return &NAME;          \
  }()
