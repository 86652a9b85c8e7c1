"""The build of `./dev teach`, made when a test first asks for it."""

import fcntl
import subprocess
from pathlib import Path

import pytest
from program import ROOT


@pytest.fixture(scope="session")
def teach_build() -> Path:
    """build/teach: the page."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "teach.lock").open("w") as lock:  # other workers of the session wait here
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([ROOT / "dev", "teach"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "teach"


@pytest.fixture(scope="session")
def wasm_build(teach_build: Path) -> Path:
    """build/wasm: the engine, compiled by emscripten."""
    return teach_build.parent / "wasm"
