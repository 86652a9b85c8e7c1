"""Programs in Rust: unchanged, and compiled with -Zsanitizer=thread as docs/record-binary.md describes."""

import json
import os
import subprocess
from pathlib import Path

from linebounce.trace_symbols import Kind
from recorded import Recorder, Recording

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "word_counts.rs"
# Another version's standard library may contain names that the recorder does not know, so only Debian's compiler is used.
RUSTC = "/usr/bin/rustc"

# Each of two threads counts a thousand times with every kind of operation.
COUNTERS = """
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread;

static ATOMIC: AtomicU64 = AtomicU64::new(0);
static LOCKED: Mutex<u64> = Mutex::new(0);

#[inline(never)]
fn count() {
    ATOMIC.fetch_add(1, Relaxed);
    *LOCKED.lock().unwrap() += 1;
}

fn work() {
    for _ in 0..1000 {
        count();
    }
}

fn main() {
    let threads = [thread::spawn(work), thread::spawn(work)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((ATOMIC.load(Relaxed), *LOCKED.lock().unwrap()), (2000, 2000));
}
"""


def compile_rust(recorder: Recorder, source: str | Path, *flags: str, **environment: str) -> str:
    if isinstance(source, str):
        recorder.linebounce.file("counters.rs", source)
        source = Path("counters.rs")
    command = [RUSTC, "-g", "-O", *flags, source, "-o", "rust"]
    subprocess.run(command, cwd=recorder.linebounce.directory, env=os.environ | environment, check=True, timeout=120)
    return "./rust"


def functions_of(recording: Recording, thread: str) -> list[str]:
    names = [each.name for each in recording.symbols.functions]
    return [names[each.id] for each in recording.streams[thread] if each.kind == Kind.ENTER]


def counted(recording: Recording, thread: str, kind: Kind, name: str) -> int:
    objects = [each.name for each in recording.symbols.objects]
    return sum(each.kind == kind and objects[each.id] == name for each in recording.streams[thread])


def test_a_rust_program_is_recorded_as_it_is(recorder: Recorder) -> None:
    recording = recorder.record(compile_rust(recorder, COUNTERS), options=("--binary",))
    assert set(recording.streams) == {"main", "thread[0]", "thread[1]"}
    for thread in ("thread[0]", "thread[1]"):
        assert functions_of(recording, thread).count("counters::count") == 1000
        assert counted(recording, thread, Kind.FETCH_ADD, "counters::ATOMIC") == 1000
        # Rust's mutex is acquired by compare-exchange, at once or after a wait, and released by exchange.
        assert counted(recording, thread, Kind.COMPARE_EXCHANGE, "counters::LOCKED") >= 1000
        assert counted(recording, thread, Kind.EXCHANGE, "counters::LOCKED") >= 1000
    # A thread's own function, and the library's, have their names from the source.
    assert "std::sys::unix::thread::Thread::new::thread_start" in functions_of(recording, "thread[0]")


def test_false_sharing_of_the_rust_example_is_found(recorder: Recorder) -> None:
    recorder.run("--binary", "-o", "trace.lbt", "--", compile_rust(recorder, EXAMPLE))
    # Bypasses recorder.linebounce, because names in Rust's library look like our internals.
    command = [recorder.linebounce.executable, "find-sharing", "trace.lbt", "--machine", "generic_2socket_32core", "--json"]
    done = subprocess.run(command, cwd=recorder.linebounce.directory, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert found["falsely_shared_lines"] >= 1
    assert "Counts" in found["confirmation"]["proposal"]
    assert found["confirmation"]["throughput_change_low_pct"] > 20


def test_a_rust_program_reports_as_one_of_c_does(recorder: Recorder) -> None:
    linker = recorder.tool("linebounce-cc")
    program = compile_rust(recorder, COUNTERS, "-Zsanitizer=thread", "-Clto=off", f"-Clinker={linker}", RUSTC_BOOTSTRAP="1")
    recording = recorder.record(program)
    for thread in ("thread[0]", "thread[1]"):
        assert functions_of(recording, thread).count("counters::count") == 1000
        assert counted(recording, thread, Kind.FETCH_ADD, "counters::ATOMIC") == 1000
        assert counted(recording, thread, Kind.EXCHANGE, "counters::LOCKED") >= 1000
