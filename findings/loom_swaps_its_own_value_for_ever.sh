#!/usr/bin/env bash
# loom stops at its limit of branches in a correct test-and-set lock that swaps, as in one that hangs; with compare-and-swap it ends.
#
# Guess before the run: a waiter that swaps and yields is as good as one that compares and swaps and yields: loom's rule that a thread
# which yields sees newer values ends both, so both locks pass in a few executions.
# Seen with loom 0.7.2: the lock that swaps stops with "exceeded maximum number of branches", also at 60 times the limit: the waiter's
# swap follows its own latest swap in the word's order for ever, and the release stands behind all of them. C11 has no such execution,
# for a store becomes visible in a finite time. The message is the one for a lock that really hangs.
# What rests on it: under c11 `check-lock` lets two equal turns of a loop stand for all further ones, after which it sees another value
# (sim/interleavings/README.md); commands/check_lock/tests/test_lock_models.py holds the lock that swaps.
#
# Usage: bash findings/loom_swaps_its_own_value_for_ever.sh     needs cargo; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'T'
[package]
name = "swaps"
version = "0.1.0"
edition = "2021"
[dependencies]
loom = "=0.7.2"
T
cat >src/main.rs <<'R'
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::sync::Arc;
use std::panic::{catch_unwind, AssertUnwindSafe};

fn take_turns(take: fn(&AtomicUsize) -> bool) {
    let word = Arc::new(AtomicUsize::new(0));
    let theirs = word.clone();
    let other = loom::thread::spawn(move || pass(&theirs, take));
    pass(&word, take);
    other.join().unwrap();
}

fn pass(word: &AtomicUsize, take: fn(&AtomicUsize) -> bool) {
    while !take(word) {
        loom::thread::yield_now();
    }
    word.store(0, Release);
}

fn report(name: &str, branches: usize, take: fn(&AtomicUsize) -> bool) {
    let mut model = loom::model::Builder::new();
    model.max_branches = branches;
    let outcome = catch_unwind(AssertUnwindSafe(|| model.check(move || take_turns(take))));
    println!("{name}, {branches} branches: {}", if outcome.is_ok() { "passes" } else { "stops" });
}

fn main() {
    report("compare and swap", 1000, |word| word.compare_exchange(0, 1, Acquire, Relaxed).is_ok());
    report("swap", 1000, |word| word.swap(1, Acquire) == 0);
    report("swap", 60000, |word| word.swap(1, Acquire) == 0);
}
R
export CARGO_HOME=$folder/cargo
cargo build --quiet
./target/debug/swaps 2>errors.txt | tee outcomes.txt
for line in "compare and swap, 1000 branches: passes" "swap, 1000 branches: stops" "swap, 60000 branches: stops"; do
  grep -qx "$line" outcomes.txt || { echo "not \"$line\" any more"; exit 1; }
done
grep -q "exceeded maximum number of branches" errors.txt || { echo "with another message"; exit 1; }
echo "as described: the lock that swaps does not pass"
