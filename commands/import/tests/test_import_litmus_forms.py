"""Litmus tests as herd, the kernel and other collections write them."""

import pytest
from imported import imported
from program import Program

SB = """X86 SB+po+mfence
"one fence of two"
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MFENCE      ;
             | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""


def x86_litmus(first: str, second: str, condition: str = "exists (0:EAX=0 /\\ 1:EAX=0)") -> str:
    """Returns a test with two threads' instructions, separated by semicolons."""
    columns = [first.split("; "), second.split("; ")]
    rows = max(len(column) for column in columns)
    text = "".join(" " + " | ".join((column + [""] * rows)[row] for column in columns) + " ;\n" for row in range(rows))
    return f"X86 test\n{{ x=0; y=0; }}\n P0 | P1 ;\n{text}{condition}\n"


STORE_BUFFERING = ("MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]")


def test_a_litmus_test_runs_under_its_model(linebounce: Program) -> None:
    said = imported(linebounce, "SB.litmus", x86_litmus(*STORE_BUFFERING))
    assert "allowed by x86-TSO, and seen" in said
    assert "seen 0 times" in said
    fenced = [thread.replace("; ", "; MFENCE; ") for thread in STORE_BUFFERING]
    assert "forbidden by x86-TSO, and never seen" in imported(linebounce, "both.litmus", x86_litmus(*fenced))
    assert linebounce("run", "both.toml", "-o", "again").code == 0


def test_other_architectures_litmus_tests_are_judged_by_their_models(linebounce: Program) -> None:
    message_passing = """AArch64 MP+popl+poap
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0           | P1           ;
 MOV W0,#1    | LDAR W0,[X1] ;
 STR W0,[X1]  | LDR W2,[X3]  ;
 MOV W2,#1    |              ;
 STLR W2,[X3] |              ;
exists (1:X0=1 /\\ 1:X2=0)
"""
    said = imported(linebounce, "MP.litmus", message_passing)
    assert "forbidden by the Arm architecture's model for AArch64" in said
    plain = message_passing.replace("STLR", "STR ").replace("LDAR", "LDR ")
    assert "allowed by the Arm" in imported(linebounce, "plain.litmus", plain)
    barriers = plain.replace(" MOV W2,#1    |              ;", " DMB ISHST    |              ;\n MOV W2,#1    |              ;")
    barriers = barriers.replace("| LDR  W0,[X1] ;", "| LDR W0,[X1]  ;").replace(
        " STR W0,[X1]  | LDR W2,[X3]  ;", " STR W0,[X1]  | DMB ISHLD    ;\n              | LDR W2,[X3]  ;"
    )
    said = imported(linebounce, "barriers.litmus", barriers)
    assert "forbidden by the Arm" in said
    assert "full fences stand for the barriers" in said
    kernel = """C MP+once
{}
P0(int *x, int *y)
{
  WRITE_ONCE(*x, 1);
  WRITE_ONCE(*y, 1);
}
P1(int *x, int *y)
{
  int r0;
  int r1;
  r0 = READ_ONCE(*y);
  r1 = READ_ONCE(*x);
}
exists (1:r0=1 /\\ 1:r1=0)
"""
    assert "allowed by the Linux kernel's model" in imported(linebounce, "C.litmus", kernel)


LISA = """LISA MP
{ }
 P0             | P1              ;
 w[once] x 1    | r[acquire] r1 y ;
 w[release] y 1 | r[once] r2 x    ;
exists (1:r1=1 /\\ 1:r2=0)
"""


def test_lisa_and_the_kernels_barriers_are_translated(linebounce: Program) -> None:
    assert "forbidden by the Linux kernel's model" in imported(linebounce, "MP.litmus", LISA)
    weak = LISA.replace("[acquire]", "[once]").replace("[release]", "[once]")
    assert "allowed by the Linux kernel's model" in imported(linebounce, "weak.litmus", weak)
    fenced = weak.replace(" w[once] y", " f[wmb] | f[rmb] ;\n w[once] y")
    said = imported(linebounce, "fenced.litmus", fenced)
    assert "forbidden by the Linux kernel's model" in said
    assert "full fences stand for the barriers" in said
    kernel = """C SB
{}
P0(int *x, int *y) { int r0; smp_store_mb(*x, 1); r0 = READ_ONCE(*y); }
P1(int *x, int *y) { int r0; WRITE_ONCE(*y, 1); smp_mb(); r0 = atomic_read(x); }
exists (0:r0=0 /\\ 1:r0=0)
"""
    assert "forbidden by the Linux kernel's model" in imported(linebounce, "SB.litmus", kernel)
    linebounce.file("branch.litmus", LISA.replace("r[once] r2 x    ", "rmw[] r2 x      "))
    assert "line 5: has no counterpart here: known are r[]" in linebounce.refused("import", "branch.litmus", code=3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("MFENCE     ", "CLFLUSH [x]"), "line 6: CLFLUSH has no counterpart here"),
        (("x=0;", "int x[2]={0,1};"), "line 3: arrays and structures have no counterpart here"),
        (("1:EAX=0)", "1:EAX)"), 'expected "=" before'),
        (("1:EAX", "7:EAX"), "there is no thread P7"),
        (("exists (0:EAX=0 /\\ 1:EAX=0)", "exists (0:EAX=0 & 1:EAX=0)"), 'expected ")" before'),
    ],
)
def test_a_litmus_test_with_unsupported_parts_is_refused(linebounce: Program, change: tuple[str, str], said: str) -> None:
    linebounce.file("t.litmus", SB.replace(*change))
    assert said in linebounce.refused("import", "t.litmus", code=3)


LITMUS = {
    # diy7 adds how it made the test, and which final values to print.
    "diy": (
        'X86 SB\n"Fre PodWR Fre PodWR"\nPrefetch=0:x=F,0:y=T\nCom=Fr Fr\nOrig=PodWR Fre PodWR Fre\n{\n}\n'
        " P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] | MOV EAX,[x] ;\nlocations [x; y; 0:EAX;]\n"
        "exists (0:EAX=0 /\\ 1:EAX=0)\n",
        "allowed by x86-TSO",
    ),
    # Comments of both kinds, in front of the head, behind it and among the statements.
    "comments": (
        "(* Store\n buffering *)\nC SB (* with volatile *)\n{}\n"
        + "".join(
            f"P{i}(volatile int *x, volatile int *y)\n{{\n  /* first\n     the store */\n  *{a} = 1; // {i}\n"
            f"  int r0 = *{b};\n}}\n"
            for i, (a, b) in enumerate((("x", "y"), ("y", "x")))
        )
        + "exists (0:r0=0 /\\ 1:r0=0)\n",
        "a data race: the Linux kernel's model promises nothing",
    ),
    # AT&T's syntax, types of variables, and ~exists.
    "X86_64": (
        "X86_64 MP\n{\nint64_t x; int64_t y;\n}\n P0          | P1            ;\n movq $1,(x) | movq (y),%rax ;\n"
        " movq $1,(y) | movq (x),%rbx ;\n~exists (1:rax=1 /\\ 1:rbx=0)\n",
        "forbidden by x86-TSO",
    ),
    # Offsets of 0, as compilers print them.
    "AArch64": (
        "AArch64 MP\n{\n0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x;\n}\n P0             | P1             ;\n"
        " MOV X0,#1      | LDR X0,[X1,#0] ;\n STR X0,[X1,#0] | LDR X2,[X3,#0] ;\n STR X0,[X3,#0] |                ;\n"
        "exists (1:X0=1 /\\ 1:X2=0)\n",
        "allowed by the Arm architecture's model for AArch64, and seen in",
    ),
    "C11": (
        "C SB\n{ [x] = 0; [y] = 0; }\n"
        + "".join(
            f"P{i} (atomic_int* x, atomic_int* y) {{\n  atomic_store_explicit({a}, 1, memory_order_relaxed);\n"
            f"  atomic_thread_fence(memory_order_seq_cst);\n  int r0 = atomic_load_explicit({b}, memory_order_relaxed);\n}}\n"
            for i, (a, b) in enumerate((("x", "y"), ("y", "x")))
        )
        + "exists (0:r0=0 /\\ 1:r0=0)\n",
        "no memory model of C11. Never seen in 2000 rounds",
    ),
}


@pytest.mark.parametrize("form", LITMUS)
def test_litmus_tests_as_other_tools_write_them(linebounce: Program, form: str) -> None:
    text, verdict = LITMUS[form]
    assert verdict in imported(linebounce, "t.litmus", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LITMUS["diy"][0].replace("X86", "PPC"), "PPC has no memory model here: expected one of X86, X86_64, AArch64"),
        (LITMUS["diy"][0].partition("locations")[0], "expected the condition, exists (...)"),
        (LITMUS["AArch64"][0].replace("LDR X2,[X3,#0]", "CBNZ X0,LC00  "), "there is no label LC00"),
        (LITMUS["AArch64"][0].replace("LDR X2,[X3,#0]", "LDR X2,[X3,#4]"), "[X3,#4]: a part of a variable, or an array"),
    ],
    ids=["power", "no condition", "branch", "offset"],
)
def test_litmus_tests_that_cannot_run_say_which_line_and_why(linebounce: Program, text: str, said: str) -> None:
    linebounce.file("t.litmus", text)
    assert said in linebounce.refused("import", "t.litmus", code=3)


X86_64 = """X86_64 SB+mfences
"Store buffering with fences"
{
uint64_t x; uint64_t y; uint64_t 0:rax; uint64_t 1:rax;
}
 P0            | P1            ;
 movq $1,(x)   | movq $1,(y)   ;
 mfence        | mfence        ;
 movq (y),%rax | movq (x),%rax ;
locations [x;y;]
~exists (0:rax=0 /\\ 1:rax=0)
"""

KERNEL = """C MP+pooncerelease+poacquireonce

(*
 * Result: Never
 *)

{}

P0(int *buf, int *flag)
{
	WRITE_ONCE(*buf, 1);
	smp_store_release(flag, 1);
}

P1(int *buf, int *flag)
{
	int r0;
	int r1;

	r0 = smp_load_acquire(flag);
	r1 = READ_ONCE(*buf);
}

exists (1:r0=1 /\\ 1:r1=0) (* Bad outcome. *)
"""

ARM = """AArch64 LB
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 LDR W0,[X1] | LDR W0,[X1] ;
 MOV W2,#1   | MOV W2,#1   ;
 STR W2,[X3] | STR W2,[X3] ;
exists (0:X0=1 /\\ 1:X0=1)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (X86_64, "forbidden by x86-TSO"),
        (KERNEL, "The file says Never, as this verdict does."),
        (
            ARM,
            "allowed by the Arm architecture's model for AArch64, and never seen in 2000 rounds: the simulated core completes "
            "a load",
        ),
    ],
    ids=["AT&T with types", "the kernel's with a comment", "AArch64"],
)
def test_litmus_tests_of_other_collections_are_run(linebounce: Program, text: str, said: str) -> None:
    assert said in imported(linebounce, "test.litmus", text)
