#!/usr/bin/env bash
# linebounce-cc and linebounce-c++: the compiler in LINEBOUNCE_CC or LINEBOUNCE_CXX (default: gcc, g++), with all accesses and
# functions reported to Linebounce's runtime instead of ThreadSanitizer's. Takes that compiler's arguments. Also the linker of
# rustc -Zsanitizer=thread (README.md).
set -euo pipefail

self=$(readlink -f "${BASH_SOURCE[0]}")
runtime=$(dirname "$self")/record
case $(basename "$self") in
  *++) read -ra compiler <<<"${LINEBOUNCE_CXX:-g++}" ;;
  *) read -ra compiler <<<"${LINEBOUNCE_CC:-gcc}" ;;
esac

if [[ $# -eq 1 && $1 == --help ]]; then
  name=$(basename "$0") variable=LINEBOUNCE_CC source=table.c
  [[ $name == *++ ]] && variable=LINEBOUNCE_CXX source=table.cpp
  cat <<TEXT
Usage: $name ARGUMENTS OF ${compiler[0]}

Compiles and links a program as ${compiler[*]} does, so that linebounce-record can record what its threads do:

  $name -O2 -pthread $source -o table
  linebounce-record -- ./table
  linebounce advise table.lbt

All of the program has to be compiled so, as with make CC=linebounce-cc CXX=linebounce-c++.
$variable names another compiler: gcc, clang and versions of them, such as $variable=clang-14.
Its arguments are described by: ${compiler[*]} --help
TEXT
  exit
fi

if [[ $# -eq 0 ]]; then
  echo "$(basename "$0"): give the arguments of ${compiler[*]}, such as -O2 -pthread table.c -o table; see $(basename "$0") --help" >&2
  exit 2
fi
if [[ $(basename "${compiler[0]}") == linebounce-c* ]]; then
  variable=LINEBOUNCE_CC
  [[ $(basename "$self") == *++ ]] && variable=LINEBOUNCE_CXX
  echo "$(basename "$0"): $variable=${compiler[0]} would call itself; it names the compiler behind, such as gcc or clang" >&2
  exit 2
fi
if ! type "${compiler[0]}" >/dev/null 2>&1; then
  variable=LINEBOUNCE_CC
  [[ $(basename "$self") == *++ ]] && variable=LINEBOUNCE_CXX
  echo "$(basename "$0"): the compiler ${compiler[0]} cannot be run: there is no such program; $variable names another" >&2
  exit 127
fi

# These functions of the C library access memory. The runtime replaces them to record that, so the compiler must not inline
# them.
called=(memcpy memmove memset memcmp memchr strlen strcpy strncpy strcat strcmp strncmp strchr strrchr)
flags=(-g -fsanitize=thread "${called[@]/#/-fno-builtin-}")
# Exports the runtime's entry points, so that shared libraries, also those loaded later, report to the program's runtime.
exported='-Wl,--export-dynamic-symbol=__tsan_*'
shared=false
rust=false
links=true
static=
# Whether C++'s operators new are linked with what is linked here. They are wrapped (runtime/operators.c).
operators=false
[[ $(basename "$self") == *++ ]] && operators=true
arguments=()
for argument in "$@"; do
  case $argument in
    -shared) shared=true ;;
    -static | -static-pie) static=$argument ;;
    -c | -S | -E | -M | -MM | -fsyntax-only | -r) links=false ;;
    -nostdlib | -nodefaultlibs | -nostdlib++) operators=false ;;
    -lstdc++ | -l:libstdc++.* | */libstdc++.* | -lc++ | -lc++abi) operators=true ;;
    */librustc*_rt.tsan.a)  # rustc's own ThreadSanitizer runtime: ours replaces it, so the file may be missing
      rust=true
      continue
      ;;
  esac
  arguments+=("$argument")
done
if $links && [[ $static ]]; then
  echo "$(basename "$0"): a program that is linked statically cannot be recorded: link it without $static" >&2
  exit 2
fi
# With -r the program is linked later: operators that are wrapped twice would call themselves.
if $operators && $links; then
  flags+=("-Wl,--whole-archive,$runtime/liboperators.a,--no-whole-archive")
  for suffix in '' RKSt9nothrow_t St11align_val_t St11align_val_tRKSt9nothrow_t; do
    flags+=("-Wl,--wrap=_Znwm$suffix,--wrap=_Znam$suffix")
  done
fi

if [[ $("${compiler[@]}" --version) == *clang* ]]; then
  # Writes the layouts of all types, even of those that clang expects in a library's debug information.
  flags+=(-fstandalone-debug)
  flags+=(-mllvm -tsan-instrument-read-before-write=1 -fno-sanitize-link-runtime -Qunused-arguments)
  $shared || flags+=("$exported" "-Wl,--whole-archive,$runtime/libtsan.a,--no-whole-archive")
else
  $shared && runtime=$runtime/shared
  flags+=(-static-libtsan -B "$runtime" -L "$runtime")
  $shared || flags+=("$exported")
  # rustc links no default libraries, so gcc does not add the runtime by itself.
  if $rust; then flags+=("-Wl,--whole-archive,$runtime/libtsan.a,--no-whole-archive"); fi
fi
exec "${compiler[@]}" "${flags[@]}" "${arguments[@]}"
