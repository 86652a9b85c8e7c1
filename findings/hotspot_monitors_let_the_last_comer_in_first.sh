#!/usr/bin/env bash
# HotSpot's monitors let the thread in first that came last; ReentrantLock lets the first in.
#
# Guess before the run: threads that block one after another on `synchronized` enter in order of arrival, as those that are parked
# at a ReentrantLock do; notifyAll lets the waiters go on in the order in which they began to wait.
# Seen with OpenJDK 17, eight threads, 20 ms apart, nobody barging: `synchronized` 7 6 5 4 3 2 1 0; notifyAll, and eight times notify,
# 0 7 6 5 4 3 2 1; ReentrantLock and its Condition 0 1 2 3 4 5 6 7. Whoever blocks is pushed onto a stack, and an exit takes its top.
# So under steady contention an early comer waits as long as others keep coming.
# What rests on it: "Locks that are not what they seem" in docs/real-programs.md: which shipped locks are like a monitor.
#
# Usage: bash findings/hotspot_monitors_let_the_last_comer_in_first.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
java=$folder/root/usr/lib/jvm/java-17-openjdk-amd64/bin
rm -rf root/usr/lib/jvm/java-17-openjdk-amd64/conf && cp -r root/etc/java-17-openjdk root/usr/lib/jvm/java-17-openjdk-amd64/conf
ln -sfn "$folder/root/etc/java-17-openjdk/jvm-amd64.cfg" root/usr/lib/jvm/java-17-openjdk-amd64/lib/jvm.cfg

cat >Order.java <<'J'
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class Order {
  static final int COUNT = 8;
  static final Object monitor = new Object();
  static final ReentrantLock lock = new ReentrantLock();
  static final Condition condition = lock.newCondition();
  static final List<Integer> order = new ArrayList<>();

  interface Body { void run(int me) throws InterruptedException; }

  /** Starts threads that each come to rest before the next one starts. */
  static List<Thread> start(Body body) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      int me = i;
      Thread thread = new Thread(() -> { try { body.run(me); } catch (InterruptedException error) { throw new RuntimeException(error); } });
      thread.start();
      while (thread.getState() != Thread.State.BLOCKED && thread.getState() != Thread.State.WAITING) Thread.sleep(1);
      Thread.sleep(20);
      threads.add(thread);
    }
    return threads;
  }

  static void show(String what, List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) thread.join();
    StringBuilder line = new StringBuilder(what + ":");
    for (int number : order) line.append(' ').append(number);
    System.out.println(line);
    order.clear();
  }

  public static void main(String[] arguments) throws InterruptedException {
    List<Thread> threads;
    synchronized (monitor) { threads = start(me -> { synchronized (monitor) { order.add(me); } }); }
    show("synchronized", threads);
    threads = start(me -> { synchronized (monitor) { monitor.wait(); order.add(me); } });
    synchronized (monitor) { monitor.notifyAll(); }
    show("notifyAll", threads);
    threads = start(me -> { synchronized (monitor) { monitor.wait(); order.add(me); } });
    synchronized (monitor) { for (int i = 0; i < COUNT; i++) monitor.notify(); }
    show("eight times notify", threads);
    lock.lock();
    threads = start(me -> { lock.lock(); order.add(me); lock.unlock(); });
    lock.unlock();
    show("ReentrantLock", threads);
    threads = start(me -> { lock.lock(); condition.await(); order.add(me); lock.unlock(); });
    lock.lock();
    condition.signalAll();
    lock.unlock();
    show("signalAll", threads);
  }
}
J
"$java/java" -version 2>&1 | head -1
"$java/java" Order.java | tee said.txt
for line in "synchronized: 7 6 5 4 3 2 1 0" "notifyAll: 0 7 6 5 4 3 2 1" "eight times notify: 0 7 6 5 4 3 2 1" \
  "ReentrantLock: 0 1 2 3 4 5 6 7" "signalAll: 0 1 2 3 4 5 6 7"; do
  grep -qx "$line" said.txt || { echo "not any more: $line"; exit 1; }
done
echo "as described: a monitor's last comer goes in first"
