"""Installs build/packages in new roots that have nothing else, and runs them there: check_packages.py [SUITE...]

A suite is one that mmdebstrap knows: bookworm (the default), trixie, or noble, which needs Ubuntu's keys. In each root,
operation_costs must give the same data files, byte for byte, as build/release/linebounce. Three roots per suite: one
with Python and no network for the wheel; one for the steps of the autograder's container file; one for the Debian
package, only in the suite that it was built on, because other suites have other versions of its libraries. Needs root.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "build" / "packages"
ROOTS = ROOT / "build" / "roots"
RESULTS = "/tmp/results"

PROGRAM = """#include <pthread.h>
long counter;
void *count(void *unused) { ++counter; return unused; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, count, 0); return pthread_join(thread, 0); }
"""


# A script that prints how many bytes the server gives for each of the page's files.
SERVED = """import subprocess, sys, urllib.request
server = subprocess.Popen([sys.argv[1], "teach", "--serve"], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().split()[-1].rstrip("/")
for name in ("", "page.js", "engine.js", "lessons.js"):
    print(name or "index.html", len(urllib.request.urlopen(address + "/" + name).read()), end=" ")
server.terminate()
"""


def run(*command: str | Path, **options: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


class Root:
    """A directory with an unpacked system, for one trial."""

    def __init__(self, suite: str, directory: str) -> None:
        archive = ROOTS / f"{suite}.tar"
        if not archive.exists():
            ROOTS.mkdir(parents=True, exist_ok=True)
            run("mmdebstrap", "--variant=minbase", suite, archive.with_suffix(".new.tar"))
            archive.with_suffix(".new.tar").rename(archive)
        self.path = Path(directory)
        run("tar", "--extract", "--file", archive, "--directory", directory)
        (self.path / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())

    def run(self, command: str, *, network: bool = False) -> str:
        alone = [] if network else ["--net"]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
        namespaces = ["unshare", "--mount", "--pid", "--fork", *alone, f"--root={self.path}", "--wd=/", "--mount-proc"]
        return run(*namespaces, "sh", "-ec", command, env=environment)

    def install(self, packages: str) -> None:
        self.run(f"apt-get update && apt-get install -y --no-install-recommends {packages}", network=True)


def only(pattern: str) -> Path:
    found = list(PACKAGES.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{PACKAGES} has {len(found)} of {pattern}: ./dev package makes one")
    return found[0]


def data_files(directory: Path) -> dict[str, str]:
    """The hash of each file of a results directory. Leaves out manifest.json, whose bytes don't follow from the
    configuration."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "manifest.json"]
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def compare(name: str, root: Root, expected: dict[str, str]) -> None:
    found = data_files(root.path / RESULTS.lstrip("/"))
    if not expected or found != expected:
        sys.exit(f"{name}: other data files than the source tree's:\n{found}\n{expected}")
    print(f"{name}: {len(found)} data files, results.json {found['results.json'][:16]}, as in the source tree", flush=True)


def download_wheels(version: str, house: Path) -> None:
    """The project's wheel and what it needs, for the root's Python."""
    machine = os.uname().machine
    platforms = ["manylinux2014", *(f"manylinux_2_{minor}" for minor in (17, 27, 28, 34, 35, 36))]
    download = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--only-binary=:all:"]
    download += [option for platform in platforms for option in ("--platform", f"{platform}_{machine}")]
    run(*download, "--python-version", version, "--dest", house, only("linebounce-*.whl"))


def python_version(root: Root) -> str:
    return root.run("python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'").strip()


def try_wheel(suite: str, expected: dict[str, str], scratch: str) -> None:
    root = Root(suite, scratch)
    root.install("python3-venv")
    version = python_version(root)
    download_wheels(version, root.path / "packages")
    print(
        root.run("python3 -m venv /venv && /venv/bin/pip install --quiet --no-index --find-links /packages linebounce"), end=""
    )
    bin_directory = "/venv/bin"
    root.run(f"{bin_directory}/linebounce --help && {bin_directory}/linebounce run operation_costs --quiet -o {RESULTS}")
    compare(f"{suite}, wheel", root, expected)
    root.run(f"{bin_directory}/linebounce report {RESULTS} -o /tmp/page.html && {bin_directory}/linebounce-record --help")
    page = (root.path / "tmp/page.html").read_text()
    if not page.startswith("<!doctype html>"):
        sys.exit(f"{suite}, wheel: linebounce report made no page")
    print(f"{suite}, wheel: linebounce report made a page of {len(page) // 1024} KiB with Python {version}", flush=True)
    try_gate(suite, root, bin_directory)
    served = root.run(f"python3 -c '{SERVED}' {bin_directory}/linebounce", network=True)
    print(f"{suite}, wheel: linebounce teach --serve served {served.strip()}", flush=True)


ANSWERS = 'assignment = "coherence-1"\nstudent = "A."\n[answers]\nvalue = 3\n'
AUTOGRADER = ROOT / "teach" / "autograder"


def try_autograder(suite: str, _expected: dict[str, str], scratch: str) -> None:
    """Runs the steps of the autograder's container file in a root, then its command without a network."""
    root = Root(suite, scratch)
    wheel = only("linebounce-*.whl")
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    command = ""
    for word, rest in container_steps(AUTOGRADER / "Containerfile"):
        if word == "RUN":
            offline = "export PIP_NO_INDEX=1 PIP_FIND_LINKS=/packages; " if "pip install" in rest else ""
            if offline:
                download_wheels(python_version(root), root.path / "packages")
            root.run(f"export PATH={variables['PATH']}; {offline}{rest}", network=not offline)
        elif word == "ENV":
            name, _, value = rest.partition("=")
            variables[name] = value.replace("$PATH", variables["PATH"])
        # Variants come from a teacher; this trial's assignment has none.
        elif word == "COPY" and not rest.startswith("variants "):
            source, target = rest.split()
            file = wheel if source == "linebounce-*.whl" else AUTOGRADER / source
            place = root.path / target.lstrip("/") / (file.name if target.endswith("/") else "")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        elif word == "CMD":
            (command,) = json.loads(rest)
    submission = root.path / "autograder" / "submission"
    submission.mkdir()
    (submission / "answers.toml").write_text(ANSWERS)
    said = root.run(f"export PATH={variables['PATH']}; {command} 2>&1")
    results = json.loads((root.path / "autograder/results/results.json").read_bytes())
    scores = {one["name"]: one["score"] for one in results["tests"]}
    if said or scores.get("coherence-1: value") != 1:
        sys.exit(f"{suite}, autograder: {said or results}")
    print(f"{suite}, autograder: the container file's steps ran, and {len(scores)} tasks were graded", flush=True)


def container_steps(file: Path) -> list[tuple[str, str]]:
    lines = file.read_text().replace("\\\n", " ").splitlines()
    steps = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    unknown = {word for word, _, _ in steps} - {"FROM", "RUN", "COPY", "ENV", "CMD"}
    if unknown:
        sys.exit(f"{file}: {', '.join(sorted(unknown))} is not tried")
    return [(word, rest) for word, _, rest in steps]


# Prepares variants of examples/counters.c in /job. The gate must refuse the one without padding, and pass a comparison of a
# program with itself.
JOB = """cd /job
for variant in PADDED PACKED; do linebounce-cc -O2 -g -pthread -D$variant counters.c -o $variant; done
GATE_BASE=PADDED GATE_HEAD=PADDED bash action/gate.sh
code=0; GATE_BASE=PADDED GATE_HEAD=PACKED bash action/gate.sh >&2 || code=$?
test $code -eq 1
"""


def try_gate(suite: str, root: Root, bin_directory: str) -> None:
    """Runs the steps of a continuous-integration job without a network: compiles, records and compares."""
    root.install("g++")
    shutil.copytree(ROOT / "install" / "github-action", root.path / "job" / "action")
    shutil.copy(ROOT / "examples" / "counters.c", root.path / "job")
    said = root.run(f"PATH={bin_directory}:$PATH; {JOB}")
    print(f"{suite}, wheel: linebounce gate: {said.splitlines()[0]}", flush=True)


def try_debian_package(suite: str, expected: dict[str, str], scratch: str) -> None:
    root = Root(suite, scratch)
    package = only("linebounce_*.deb")
    (root.path / package.name).write_bytes(package.read_bytes())
    root.install(f"/{package.name}")
    root.run(f"linebounce --help && linebounce run operation_costs --quiet -o {RESULTS}")
    compare(f"{suite}, Debian package", root, expected)
    # The Debian package lacks the Python commands. Its message must name the package that has them.
    said = root.run(f"linebounce report {RESULTS} 2>&1 || echo exit code $?")
    if "pip install" not in said or "exit code 2" not in said:
        sys.exit(f"{suite}, Debian package: linebounce report says {said}")
    root.install("gcc libc6-dev")
    (root.path / "tmp/program.c").write_text(PROGRAM)
    root.run(
        "cd /tmp && linebounce-cc -O1 -pthread program.c -o program && linebounce-record -- ./program && "
        "linebounce trace info program.lbt"
    )
    print(f"{suite}, Debian package: a program was compiled and recorded", flush=True)
    root.run("apt-get purge -y linebounce && ! test -e /usr/lib/linebounce && ! test -e /usr/bin/linebounce")


def built_on() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    return ""


def main() -> None:
    if os.geteuid():
        sys.exit("check_packages.py makes and enters roots, which needs root")
    with tempfile.TemporaryDirectory() as scratch:
        run(ROOT / "build/release/linebounce", "run", "operation_costs", "--quiet", "-o", f"{scratch}/results")
        expected = data_files(Path(scratch) / "results")
    for suite in sys.argv[1:] or ["bookworm"]:
        for attempt in (try_wheel, try_autograder, try_debian_package):
            if attempt is not try_debian_package or suite == built_on():
                with tempfile.TemporaryDirectory(prefix="linebounce-root-") as scratch:
                    attempt(suite, expected, scratch)


if __name__ == "__main__":
    main()
