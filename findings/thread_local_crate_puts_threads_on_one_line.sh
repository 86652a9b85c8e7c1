#!/usr/bin/env bash
# The Rust crate thread_local keeps the values of several threads 16 bytes apart, four to a cache line.
#
# Guess before the run: ThreadLocal<Cell<u64>>, made so that threads don't share, has each thread's value on a line of its own.
# Seen with thread_local 1.1.8: values lie in arrays of 1, 1, 2, 4, 8 and so on entries, by the thread's number; an entry is the value
# and a flag, not padded. So of eight threads that count in their own value, several do so on one line. std's thread_local! has
# a block for each thread.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md.
#
# Usage: bash findings/thread_local_crate_puts_threads_on_one_line.sh     needs cargo; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'T'
[package]
name = "places"
version = "0.1.0"
edition = "2021"
[dependencies]
thread_local = "=1.1.8"
T
cat >src/main.rs <<'R'
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};
use thread_local::ThreadLocal;

fn main() {
    let values = Arc::new(ThreadLocal::<Cell<u64>>::new());
    let all_have_one = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (values, all_have_one) = (values.clone(), all_have_one.clone());
            std::thread::spawn(move || {
                let at = values.get_or(|| Cell::new(0)) as *const _ as usize;
                all_have_one.wait();
                at
            })
        })
        .collect();
    let mut at: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    at.sort();
    let mut lines = BTreeMap::new();
    at.iter().for_each(|place| *lines.entry(place / 64).or_insert(0) += 1);
    println!("least distance {}", at.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap());
    println!("most on a line {}", lines.values().max().unwrap());
}
R
export CARGO_HOME=$folder/cargo
cargo build --quiet
./target/debug/places | tee places.txt
grep -qx 'least distance 16' places.txt || { echo "the values are otherwise apart now"; exit 1; }
[ "$(sed -n 's/most on a line //p' places.txt)" -ge 2 ] || { echo "no line has two threads' values"; exit 1; }
echo "as described: 16 bytes apart"
