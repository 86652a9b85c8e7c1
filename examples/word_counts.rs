// Four threads count the words of their parts of a text. None looks at another's count, yet their counts share a line. With
// --cfg padded each has a line of its own.
//
//   rustc -g -O examples/word_counts.rs && linebounce-record --binary -- ./word_counts
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread;

const THREADS: usize = 4;
const WORDS: usize = 20_000;

#[cfg_attr(padded, repr(align(64)))]
struct Counts {
    words: AtomicU64,
    capitals: AtomicU64,
}

#[allow(clippy::declare_interior_mutable_const)]
const NONE: Counts = Counts { words: AtomicU64::new(0), capitals: AtomicU64::new(0) };
static COUNTS: [Counts; THREADS] = [NONE; THREADS];
static LONGEST: Mutex<usize> = Mutex::new(0);

fn count(part: &str, counts: &Counts) {
    let mut longest = 0;
    for word in part.split(' ') {
        counts.words.fetch_add(1, Relaxed);
        if word.starts_with(char::is_uppercase) {
            counts.capitals.fetch_add(1, Relaxed);
        }
        longest = longest.max(word.len());
    }
    let mut all = LONGEST.lock().unwrap();
    *all = longest.max(*all);
}

fn main() {
    let text = "It was the best of times it was the worst of times ".repeat(WORDS / THREADS / 11);
    let text = text.trim_end();
    thread::scope(|threads| {
        for counts in &COUNTS {
            threads.spawn(move || count(text, counts));
        }
    });
    let words: u64 = COUNTS.iter().map(|one| one.words.load(Relaxed)).sum();
    let capitals: u64 = COUNTS.iter().map(|one| one.capitals.load(Relaxed)).sum();
    println!("{words} words, {capitals} capitals, the longest of {}", LONGEST.lock().unwrap());
}
