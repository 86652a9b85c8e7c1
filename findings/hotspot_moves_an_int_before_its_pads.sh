#!/usr/bin/env bash
# HotSpot puts an int, a boolean or a reference that stands between pads before all of them, even across a class hierarchy.
#
# Guess before the run: seven longs before and behind an int, in one class, may be moved by the JVM, but pads in a superclass and a
# subclass keep their places around the field, as libraries of queues have relied on for years.
# Seen with OpenJDK 17 (x86-64, compressed class pointers): a long stays between its pads (offset 72), an int, a boolean and a
# reference go to offset 12, right behind the header, in both forms: since JDK 15 a subclass's small field fills the gap that its
# superclass left. So the field shares its line with the object before it, and all 112 bytes of pads lie on one side.
# What rests on it: types/jol.cpp takes offsets as JOL has them from the JVM, none from the order in the source; the table "Lines
# that libraries share" of docs/real-programs.md.
#
# Usage: bash findings/hotspot_moves_an_int_before_its_pads.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
java=$folder/root/usr/lib/jvm/java-17-openjdk-amd64/bin
rm -rf root/usr/lib/jvm/java-17-openjdk-amd64/conf && cp -r root/etc/java-17-openjdk root/usr/lib/jvm/java-17-openjdk-amd64/conf
ln -sfn "$folder/root/etc/java-17-openjdk/jvm-amd64.cfg" root/usr/lib/jvm/java-17-openjdk-amd64/lib/jvm.cfg

cat >Pads.java <<'J'
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class Pads {
  static class LongBetween { volatile long a0, a1, a2, a3, a4, a5, a6; volatile long hot; volatile long b0, b1, b2, b3, b4, b5, b6; }
  static class IntBetween { volatile long a0, a1, a2, a3, a4, a5, a6; volatile int hot; volatile long b0, b1, b2, b3, b4, b5, b6; }
  static class Before { volatile long a0, a1, a2, a3, a4, a5, a6; }
  static class InheritedInt extends Before { volatile int hot; }
  static class InheritedIntBetween extends InheritedInt { volatile long b0, b1, b2, b3, b4, b5, b6; }
  static class InheritedReference extends Before { volatile Object hot; }
  static class InheritedBoolean extends Before { volatile boolean hot; }

  public static void main(String[] arguments) throws Exception {
    Field field = Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    Unsafe unsafe = (Unsafe) field.get(null);
    System.out.println("pads begin at " + unsafe.objectFieldOffset(Before.class.getDeclaredField("a0")));
    for (Class<?> each : new Class<?>[] {LongBetween.class, IntBetween.class, InheritedInt.class, InheritedReference.class, InheritedBoolean.class}) {
      System.out.println(each.getSimpleName() + " " + unsafe.objectFieldOffset(each.getDeclaredField("hot")));
    }
    System.out.println("pads behind begin at " + unsafe.objectFieldOffset(InheritedIntBetween.class.getDeclaredField("b0")));
  }
}
J
"$java/javac" -XDignore.symbol.file Pads.java 2>/dev/null
"$java/java" -version 2>&1 | head -n 1
"$java/java" -XX:+UseCompressedClassPointers Pads | tee offsets.txt
expect() { grep -qx "$1" offsets.txt || { echo "not \"$1\" any more"; exit 1; }; }
expect "pads begin at 16"
expect "LongBetween 72"
for name in IntBetween InheritedInt InheritedReference InheritedBoolean; do expect "$name 12"; done
expect "pads behind begin at 72"
echo "as described: all but the long lie before the pads"
