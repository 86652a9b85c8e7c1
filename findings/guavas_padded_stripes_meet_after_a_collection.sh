#!/usr/bin/env bash
# Guava's padded stripes of locks come to lie two on a line once Java's serial collector has copied them.
#
# Guess before the run: Striped.lock pads its locks, so the words of two stripes never share a line, before and after a collection.
# Seen with Guava 33.4.0 and OpenJDK 17: the padding is in the ReentrantLock, whose word is in an object of its own (Sync, 32 bytes)
# right behind it: 72 bytes from one stripe's to the next. The serial collector copies breadth first, all locks before all Syncs:
# then nearly every Sync shares its line with another stripe's. Parallel and G1 keep pairs together.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md.
#
# Usage: bash findings/guavas_padded_stripes_meet_after_a_collection.sh     needs apt-get, dpkg-deb and Maven; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
java=$folder/root/usr/lib/jvm/java-17-openjdk-amd64/bin
rm -rf root/usr/lib/jvm/java-17-openjdk-amd64/conf && cp -r root/etc/java-17-openjdk root/usr/lib/jvm/java-17-openjdk-amd64/conf
ln -sfn "$folder/root/etc/java-17-openjdk/jvm-amd64.cfg" root/usr/lib/jvm/java-17-openjdk-amd64/lib/jvm.cfg
for artifact in guava:guava:33.4.0-jre guava:failureaccess:1.0.2; do
  mvn -q dependency:get -Dartifact="com.google.$artifact" -Dtransitive=false -Dmaven.repo.local="$folder/maven" >maven.txt 2>&1 ||
    { cat maven.txt; exit 1; }
done
libraries=$(find maven -name 'guava-33.4.0-jre.jar' -o -name 'failureaccess-1.0.2.jar' | paste -sd:)

cat >Stripes.java <<'J'
import com.google.common.util.concurrent.Striped;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import sun.misc.Unsafe;

public class Stripes {
  static final int COUNT = 256;
  static volatile byte[] garbage;

  /** How many stripes' Syncs are on a line with another's, by the addresses that the references have. */
  static long meet(Unsafe unsafe, Striped<Lock> stripes, int shift) throws Exception {
    long sync = unsafe.objectFieldOffset(ReentrantLock.class.getDeclaredField("sync"));
    long[] words = new long[COUNT];
    for (int i = 0; i < COUNT; i++) words[i] = ((unsafe.getInt(stripes.getAt(i), sync) & 0xffffffffL) << shift) + 16;
    Arrays.sort(words);
    long meeting = 0;
    for (int i = 0; i < COUNT; i++) {
      boolean before = i > 0 && words[i] / 64 == words[i - 1] / 64, behind = i + 1 < COUNT && words[i] / 64 == words[i + 1] / 64;
      if (before || behind) meeting++;
    }
    return meeting;
  }

  public static void main(String[] arguments) throws Exception {
    Field field = Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    Unsafe unsafe = (Unsafe) field.get(null);
    Striped<Lock> stripes = Striped.lock(COUNT);
    int shift = 0;  // a heap below 4 GB has references as they are
    long fresh = meet(unsafe, stripes, shift);
    for (int i = 0; i < 400; i++) garbage = new byte[1 << 20];
    System.out.println("of " + COUNT + " stripes, on a line with another: new " + fresh + ", after young collections " + meet(unsafe, stripes, shift));
  }
}
J
"$java/javac" -XDignore.symbol.file -cp "$libraries" Stripes.java 2>/dev/null
for collector in Serial Parallel G1; do
  "$java/java" -XX:+Use${collector}GC -XX:+UseCompressedOops -Xmx512m -Xmn64m -cp "$libraries:." Stripes >$collector.txt
  echo "$collector: $(cat $collector.txt)"
done
after=$(sed 's/.* //' Serial.txt)
grep -q ': new 0,' Serial.txt || { echo "new stripes meet"; exit 1; }
[ "$after" -gt 200 ] || { echo "the serial collector keeps them apart now"; exit 1; }
for collector in Parallel G1; do grep -q 'new 0, after young collections 0$' $collector.txt || { echo "$collector moves them otherwise now"; exit 1; }; done
echo "as described: the serial collector alone brings them together"
