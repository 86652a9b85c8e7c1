#!/usr/bin/env bash
# structlayout puts atomic.Int64 at a multiple of 4 for GOARCH=386; Go's compiler aligns it to 8.
#
# Guess before the run: structlayout has the compiler's places on every architecture, with the rule for atomic.Int64 of Go 1.19.
# Seen with structlayout of honnef.co/go/tools 0.6.1 and Go 1.26.8: for struct { int32; atomic.Int64; int32 } on 386 it says offset 4
# and size 16, the compiler has offset 8 and size 24. On amd64 both say 8 and 24. So a layout of a 32-bit program may be wrong by
# a line from there on.
# What rests on it: types/structlayout.cpp takes the listing's places; the section "Some members' sizes are in no listing" of docs/warts.md.
#
# Usage: bash findings/structlayout_misplaces_64_bit_atomics_on_386.sh     needs Go and its module proxy; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -r "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOCACHE=$folder/cache GOTOOLCHAIN=go1.26.8 GOFLAGS=-mod=mod

cat >go.mod <<'M'
module counter

go 1.24
M
cat >main.go <<'G'
package main

import (
	"sync/atomic"
	"unsafe"
)

type Counter struct {
	ready int32
	hits  atomic.Int64
	last  int32
}

func main() {
	var c Counter
	println("offset", unsafe.Offsetof(c.hits), "size", unsafe.Sizeof(c))
}
G
go install honnef.co/go/tools/cmd/structlayout@v0.6.1 2>/dev/null
for machine in amd64 386; do
  export GOARCH=$machine
  "$GOPATH/bin/structlayout" . Counter >$machine.txt
  go build -o compiled_$machine main.go
  ./compiled_$machine 2>compiled_$machine.txt
  echo "$machine: structlayout $(grep 'hits.v' $machine.txt); the compiler $(cat compiled_$machine.txt)"
done
grep -q 'hits.v int64: 8-16' amd64.txt || { echo "structlayout is otherwise on amd64"; exit 1; }
grep -qx 'offset 8 size 24' compiled_amd64.txt || { echo "the compiler is otherwise on amd64"; exit 1; }
grep -q 'hits.v int64: 4-12' 386.txt || { echo "structlayout is otherwise on 386 now"; exit 1; }
grep -qx 'offset 8 size 24' compiled_386.txt || { echo "the compiler is otherwise on 386 now"; exit 1; }
echo "as described: 4 by structlayout, 8 by the compiler"
