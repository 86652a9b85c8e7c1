#!/usr/bin/env bash
# boost::lockfree::spsc_queue pads its two indices apart, but the consumer's shares its line with what each push reads.
#
# Guess before the run: each index is alone on its line; a push touches the consumer's line only to learn that there is room.
# Seen with Boost 1.74: the base class ends 8 bytes behind the padding, with read_index_ at 64, and the derived class puts the
# buffer's size and its pointer at 72 and 80. A push needs both, so each pop takes this line from the producer, whether there is room
# or not. The object itself is aligned to 8 bytes, so write_index_ may share its line with what lies before the queue.
# What rests on it: docs/real-programs.md ("Lines that libraries share") has what `find-sharing` shows of a recorded program: read_index_,
# max_elements_ and array_ as one line's members.
#
# Usage: bash findings/boost_puts_the_consumers_index_beside_the_buffer.sh     needs apt-get, dpkg-deb and g++; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libboost1.74-dev=1.74.0+ds1-21 >/dev/null
dpkg-deb -x libboost1.74-dev_*.deb root

# Reads the places from addresses: what an element's push and pop change, and where the pointer to the buffer lies.
cat >places.cpp <<'C'
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
using Queue = boost::lockfree::spsc_queue<long>;
alignas(64) static unsigned char memory[sizeof(Queue)], before[sizeof(Queue)];
static void changed(const char* by) {
  for (std::size_t i = 0; i < sizeof memory; i++)
    if (memory[i] != before[i]) std::printf("%s changes byte %zu\n", by, i);
  std::memcpy(before, memory, sizeof memory);
}
int main() {
  Queue* queue = new (memory) Queue(100);
  std::memcpy(before, memory, sizeof memory);
  long element = 5;
  queue->push(element);
  changed("push");
  queue->pop(element);
  changed("pop");
  for (std::size_t i = 0; i + 8 <= sizeof memory; i += 8) {
    std::uintptr_t word;
    std::memcpy(&word, memory + i, 8);
    if (word == 101) std::printf("the buffer's size at %zu\n", i);
    if (word > 1 << 20) std::printf("the buffer's pointer at %zu\n", i);
  }
  std::printf("size %zu, aligned to %zu\n", sizeof(Queue), alignof(Queue));
}
C
g++ -std=c++17 -O1 -isystem root/usr/include places.cpp -o places
./places | tee places.txt
for line in "push changes byte 0" "pop changes byte 64" "the buffer's size at 72" "the buffer's pointer at 80" "size 88, aligned to 8"; do
  grep -qx "$line" places.txt || { echo "not \"$line\" any more"; exit 1; }
done
echo "as described: index, size and pointer on one line"
