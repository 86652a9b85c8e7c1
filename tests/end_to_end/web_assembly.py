"""The engine in WebAssembly, build/wasm, under Node. Tests that use it also use the fixture `wasm_build`, which builds it."""

import json
import subprocess
from functools import cache

from program import ROOT


class Engine:
    """Reads one request per line and answers in one line (run_engine.cjs)."""

    def __init__(self) -> None:
        command = ["node", ROOT / "tests" / "teach" / "run_engine.cjs", ROOT / "build" / "wasm" / "engine.js", ROOT]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, request: dict) -> dict:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        answer = json.loads(self.process.stdout.readline())
        assert "threw" not in answer, answer["threw"]
        return answer


engine = cache(Engine)  # shared by all tests of a session; it ends when its standard input is closed
