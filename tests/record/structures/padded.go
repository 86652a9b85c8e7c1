// Structures of Go, for the comparison with gdb.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

type Counters struct {
	a atomic.Int64
	_ [56]byte
	b atomic.Int64
	_ [56]byte
}

type Embedded struct {
	Counters
	sync.Mutex
	name  string
	tags  map[string][]int
	next  *Embedded
	any   interface{}
	done  chan struct{}
	empty struct{}
	call  func(int) error
	c     complex128
	bit   bool
	wide  int16
}

type Pair[K comparable, V any] struct {
	key   K
	value V
}

type Kind struct {
	first  Pair[string, int8]
	second Pair[int8, [3]float64]
	pool   sync.Pool
	lock   sync.RWMutex
	wait   sync.WaitGroup
	once   sync.Once
	table  sync.Map
}

var embedded Embedded
var kind Kind

func main() {
	embedded.a.Add(1)
	embedded.b.Add(2)
	kind.once.Do(func() { kind.first.value = 3 })
	fmt.Println(embedded.a.Load(), embedded.b.Load(), embedded, &kind)
}
