#!/usr/bin/env bash
# std::atomic<long>::notify_one of libstdc++ wakes every waiter; std::atomic<int>::notify_one wakes one.
#
# Guess before the run: notify_one wakes one waiter, whatever the type.
# Seen with libstdc++ 12.2, four waiters: for int the kernel is told to wake 1, for long 2147483647. A futex has four bytes, so the
# waiters of any other size sleep at a counter which sixteen hashed slots share, and who notifies can't know whose waiters they are.
# A lock of eight bytes that hands over by notify_one moves its line to all who wait, at each release.
# What rests on it: record/README.md ("What it cannot see"): such waits are recorded as plain operations, so a replay wakes nobody.
#
# Usage: bash findings/libstdcxx_notify_one_wakes_all.sh     needs apt-get, dpkg-deb, g++ 12 and ptrace; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libstdc++-12-dev=12.2.0-14+deb12u1 strace=6.1-0.1 libunwind8 liblzma5 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done

cat >notify.cpp <<'C'
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>
std::atomic<WORD> word{0};
std::atomic<int> begun{0};
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      ++begun;
      while (word.load() == 0) word.wait(0);
    });
  }
  while (begun.load() != 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (write(2, "notify\n", 7) != 7) return 1;
  word.notify_one();
  if (write(2, "end\n", 4) != 4) return 1;
  word = 1;
  word.notify_all();
  for (auto& thread : threads) thread.join();
}
C
headers=root/usr/include
for word in int long; do
  g++ -std=c++20 -O2 -pthread -nostdinc++ -isystem $headers/c++/12 -isystem $headers/x86_64-linux-gnu/c++/12 -DWORD=$word notify.cpp -o $word
  LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/strace -f -e trace=futex,write ./$word 2>&1 |
    sed '1,/"notify/d; /"end/,$d' | grep -o 'FUTEX_WAKE, [0-9]*' >$word.txt
  printf 'std::atomic<%s>: %s\n' $word "$(cat $word.txt)"
done
[ "$(cat int.txt)" = "FUTEX_WAKE, 1" ] || { echo "int wakes another number now"; exit 1; }
[ "$(cat long.txt)" = "FUTEX_WAKE, 2147483647" ] || { echo "long wakes another number now"; exit 1; }
echo "as described: one for int, all for long"
