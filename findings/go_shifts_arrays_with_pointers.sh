#!/usr/bin/env bash
# Go lays an array of padded structures 8 bytes behind a line's begin if the structures hold a pointer.
#
# Guess before the run: make([]T, 16) of a T that is padded to 64 bytes begins at a multiple of 64, since its 1,024 bytes are a size
# class of the allocator, so each element has a line of its own.
# Seen with Go 1.26.8: so it is without pointers, for up to 512 bytes, and above 32 KiB; with a pointer in T, between these sizes,
# the block begins with a header of 8 bytes, and each element lies on two lines. Go 1.21.13 has no header. Padding to 64 bytes then
# leaves a field in an element's last 8 bytes on the line of the next element's first.
# What rests on it: types/structlayout.cpp makes a layout that begins at a line, which such an array does not; the table "Lines that
# libraries share" of docs/real-programs.md.
#
# Usage: bash findings/go_shifts_arrays_with_pointers.sh     needs Go and its module proxy; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -r "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOCACHE=$folder/cache GOFLAGS=-mod=mod

cat >go.mod <<'M'
module lines

go 1.21
M
cat >main.go <<'G'
package main

import (
	"fmt"
	"runtime"
	"unsafe"
)

type counter struct {
	n int64
	_ [56]byte
}

type node struct {
	n    int64
	next *node
	_    [48]byte
}

var kept []any

// begin allocates arrays of n and returns where in a line they begin, or -1 if not all alike.
func begin[T any](n int) uintptr {
	var at uintptr
	for i := 0; i < 50; i++ {
		array := make([]T, n)
		kept = append(kept, array)
		here := uintptr(unsafe.Pointer(&array[0])) % 64
		if i > 0 && here != at {
			return ^uintptr(0)
		}
		at = here
	}
	return at
}

func main() {
	fmt.Printf("%s: 16 without pointers %d, 8 with %d, 16 with %d, 1024 with %d\n", runtime.Version(),
		begin[counter](16), begin[node](8), begin[node](16), begin[node](1024))
}
G
run() { GOTOOLCHAIN=go$1 go run . | tee "$1.txt"; }
run 1.21.13
run 1.26.8
grep -q ': 16 without pointers 0, 8 with 0, 16 with 0, 1024 with 0$' 1.21.13.txt || { echo "Go 1.21.13 begins elsewhere"; exit 1; }
grep -q ': 16 without pointers 0, 8 with 0, 16 with 8, 1024 with 0$' 1.26.8.txt || { echo "Go 1.26.8 begins elsewhere"; exit 1; }
echo "as described: 8 bytes behind the line's begin"
