"""The engine in WebAssembly, build/wasm, under Node. Tests that use it also take the fixture `wasm_build`, which builds it."""

import json
import subprocess
from functools import cache

from program import ROOT


class Engine:
    """One request a line, one answer a line (run_engine.cjs)."""

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


engine = cache(Engine)  # all tests of a session share one, which ends with its standard input
