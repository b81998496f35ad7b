#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Break proto/ on purpose, one small change at a time, and see whether the unit tests notice.

  mutate.py              a sample of MUTANTS=300 (or "all"), SEED=1; it changes little when the code does
  mutate.py ID...        only these mutants

A mutant is killed when a test fails, the program dies, or it takes far longer than usual. First the program is built
for speed; what survives has to survive the build with sanitizers, too. A mutant whose code is the compiler's same code
is none. scripts/mutants.txt names survivors with the reason; those that cannot be told from the original ("equal") do
not count.

FILES="txs.c rxs.c"      only these files
Result: $OUT/mutants.txt. Fails below SCORE_MIN percent killed, or when mutants.txt names what is not a survivor.
"""
import bisect
import collections
import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
PROTO = TOP / "drivers/infiniband/sw/mroce/proto"
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out")).resolve()
LIST = TOP / "scripts/mutants.txt"
SCORE_MIN = 85
# How much longer than the original's tests a mutant's may take, and at least, s of processor time
TIME_FACTOR, TIME_MIN_S = 5, 3

Mutant = collections.namedtuple("Mutant", "key file function line start end text before after")
Token = collections.namedtuple("Token", "kind text start end")

# ---- C ---------------------------------------------------------------------------------------------------------------
LEXER = re.compile(r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>\d\w*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||<<|>>|[<>=!+\-*/%&|^]=|.)""", re.S | re.X | re.M)
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "<<": ">>",
         ">>": "<<", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|=",
         "/": "*", "%": "/", "|": "&", "^": "&", "<<=": ">>=", ">>=": "<<="}
# Those that also have a meaning before an operand, and then are something else
BINARY_SWAPS = {"+": "-", "-": "+", "*": "/", "&": "|"}
NAME_SWAPS = {"min": "max", "max": "min", "min_t": "max_t", "max_t": "min_t", "true": "false", "false": "true"}
TYPES = {"bool", "u8", "u16", "u32", "u64", "s16", "s32", "s64", "int", "void", "unsigned", "long", "size_t", "struct",
         "enum", "const", "static", "__be16", "__be32", "__be64"}


def tokens_of(source):
    """All tokens but white space, comments and preprocessor lines."""
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in LEXER.finditer(source) if m.lastgroup != "skip"]


def closing(tokens, i):
    """Index of the bracket that closes the one at i."""
    depth = 0
    while True:
        depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
        if not depth:
            return i
        i += 1


def regions(tokens):
    """(name, first, last) of what stands in braces: function bodies and initial values, not types."""
    head = i = 0
    while i < len(tokens):
        if tokens[i].text in (";", "}"):
            head = i + 1
        elif tokens[i].text == "{":
            end = closing(tokens, i)
            words = [t.text for t in tokens[head:i]]
            if "=" in words:
                yield re.split(r"[\[=]", "".join(w + " " for w in words))[0].split()[-1], i + 1, end
            elif words[-1] == ")":
                yield words[words.index("(") - 1], i, end + 1
            i = end
            head = i + 1
        i += 1


def is_operand_end(tokens, i):
    """Is what ends with token i a value, so that an operator after it has two sides?"""
    t = tokens[i]
    if t.text == "]" or t.kind in ("number", "string"):
        return True
    if t.kind == "name":
        return t.text not in TYPES | {"return", "case", "else"} and tokens[i - 1].text not in ("struct", "enum")
    if t.text != ")":
        return False
    j, depth = i, 1
    while depth:
        j -= 1
        depth += (tokens[j].text == ")") - (tokens[j].text == "(")
    inside = {t.text for t in tokens[j + 1:i]}
    return not (inside & TYPES and tokens[j - 1].kind != "name")


def token_changes(tokens, first, last):
    """(first token, last token, new text) of changes of one token."""
    for i in range(first, last):
        t = tokens[i]
        if t.kind == "number":
            digits, suffix = re.match(r"(0x[0-9a-fA-F]+|\d+)(\w*)", t.text).groups()
            for value in {int(digits, 0) + 1, max(int(digits, 0) - 1, 0)} - {int(digits, 0)}:
                yield i, i, (hex(value) if digits.startswith("0x") else str(value)) + suffix
        elif t.text in SWAPS and (t.text != "*=" or t.kind == "op"):
            yield i, i, SWAPS[t.text]
        elif t.text in BINARY_SWAPS and is_operand_end(tokens, i - 1) and tokens[i + 1].text != ")":
            yield i, i, BINARY_SWAPS[t.text]
        elif t.text in NAME_SWAPS and (t.text in ("true", "false") or tokens[i + 1].text == "("):
            yield i, i, NAME_SWAPS[t.text]
        elif t.text == "?":
            yield i, i, "== 0 ?"
        elif t.text in ("!", "~"):
            yield i, i, ""


def field_changes(tokens, first, last):
    """Initial values of fields left out."""
    for i in range(first, last - 2):
        if tokens[i].text == "." and tokens[i - 1].text in ("{", ",") and tokens[i + 2].text == "=":
            j = i
            while tokens[j].text not in (",", "}"):
                j = closing(tokens, j) + 1 if tokens[j].text in "([{" else j + 1
            yield i, j - 1 + (tokens[j].text == ","), ""


def is_declaration(words):
    return words[0] in TYPES or (len(words) > 1 and words[1][0].isalpha())


def statement_changes(tokens, first, last):
    """Conditions negated, statements left out, other values returned."""
    i = first
    while i < last:
        t = tokens[i]
        if t.text in ("{", "}", ";", "else", "do"):
            i += 1
        elif t.text in ("if", "while", "for", "switch"):
            end = closing(tokens, i + 1)
            if t.text in ("if", "while"):
                yield i + 2, end - 1, "!(%s)"
            i = end + 1
        elif t.text in ("case", "default"):
            while tokens[i].text != ":":
                i += 1
            i += 1
        else:
            end = i
            while tokens[end].text != ";":
                end = closing(tokens, end) + 1 if tokens[end].text in "([{" else end + 1
            words = [t.text for t in tokens[i:end]]
            if t.text == "return" and len(words) > 1:
                if len(words) > 2 or words[-1] not in ("0", "true", "false"):
                    yield i + 1, end - 1, "0"
                    yield i + 1, end - 1, "!(%s)"
            elif len(words) == 1 or not is_declaration(words):
                yield i, end - 1, ""
            i = end + 1


def mutants_of(path):
    """All mutants of a file. Their keys depend on what they change and not on what stands before it in the file."""
    source = path.read_text(encoding="ascii")
    tokens = tokens_of(source)
    starts = [0] + [m.end() for m in re.finditer("\n", source)]
    seen = collections.Counter()
    for name, first, last in regions(tokens):
        changes = [*token_changes(tokens, first, last), *field_changes(tokens, first, last)]
        if tokens[first].text == "{":
            changes += statement_changes(tokens, first, last)
        for i, j, text in changes:
            start, end = tokens[i].start, tokens[j].end
            line = bisect.bisect(starts, start)
            text = text.replace("%s", source[start:end])
            left = starts[line - 1]
            right = source.index("\n", end)
            before = " ".join(source[left:right].split())
            after = " ".join((source[left:start] + text + source[end:right]).split())
            what = f"{path.name}:{name}: {before} -> {after}"
            seen[what] += 1
            key = hashlib.sha1(f"{what}{seen[what]}".encode()).hexdigest()[:8]
            yield Mutant(key, path.name, name, line, start, end, text, before, after)


# ---- programs --------------------------------------------------------------------------------------------------------
class Build:
    """The unit tests in a directory of their own, with a copy of proto/ to change."""

    def __init__(self, name, sanitize):
        self.dir = OUT / "mutants" / name
        self.source = self.dir / "proto.src"
        flags = self.dir / "flags"
        if not flags.exists() or flags.read_text(encoding="ascii") != sanitize:
            shutil.rmtree(self.dir, ignore_errors=True)
            self.dir.mkdir(parents=True)
            flags.write_text(sanitize, encoding="ascii")
        shutil.rmtree(self.source, ignore_errors=True)
        # with its times, for make
        shutil.copytree(PROTO, self.source)
        self.make = ["make", "-s", "-C", str(TOP / "kunit/host"), f"O={self.dir}", f"PROTO_DIR={self.source}",
                     f"SANITIZE={sanitize}"]
        subprocess.run(self.make, check=True)
        self.flags = subprocess.run([*self.make, "flags"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        self.sanitize = sanitize.split()
        self.objects = sorted([*self.dir.glob("proto/*.o"), *self.dir.glob("*.o")])
        self.limit_s = 100000
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if not self.passes(self.dir / "kunit-host", ""):
            sys.exit(f"{self.dir}/kunit-host fails without any change")
        took_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
        self.limit_s = int(max(took_s * TIME_FACTOR, TIME_MIN_S)) + 1

    def passes(self, program, suites):
        """Runs the tests. A crash, and a run without an end, is a failure like others."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (self.limit_s, self.limit_s))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        return not subprocess.run([program, "-x", suites], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=limit, check=False).returncode

    def affected(self, name):
        """The objects to compile again: one; of a header, the parts of proto/ that use it, and its own suites."""
        stem, suffix = name.split(".")
        if suffix == "c":
            return [self.dir / "proto" / f"{stem}.o"]
        users = [o for o in self.objects if str(self.source / name) in o.with_suffix(".d").read_text(encoding="utf-8")]
        suites = [o for o in users if o.name.startswith(f"mroce_{stem}_")]
        suites = suites or [o for o in users if f'"{name}"' in self.source_of(o).read_text(encoding="utf-8")]
        return sorted({o for o in users if o.parent.name == "proto"} | set(suites))

    def source_of(self, obj):
        if obj.parent.name == "proto":
            return self.source / f"{obj.stem}.c"
        return TOP / ("kunit/host" if obj.stem == "main" else "kunit") / f"{obj.stem}.c"

    def program(self, mutant):
        """Builds the mutant. None: it does not compile. False: the compiler makes the same of it."""
        source = self.source / mutant.file
        original = source.read_text(encoding="ascii")
        changed = self.dir / "changed"
        changed.mkdir(exist_ok=True)
        objects = {}
        source.write_text(original[:mutant.start] + mutant.text + original[mutant.end:], encoding="ascii")
        try:
            for obj in self.affected(mutant.file):
                objects[obj] = changed / obj.name
                command = ["gcc", *self.flags, "-w", "-MF", "/dev/null", "-c", "-o", objects[obj], self.source_of(obj)]
                if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
                    return None
        finally:
            source.write_text(original, encoding="ascii")
        if all(old.read_bytes() == new.read_bytes() for old, new in objects.items()):
            return False
        linked = [objects.get(o, o) for o in self.objects]
        subprocess.run(["gcc", *self.sanitize, "-o", changed / "kunit-host", *linked], check=True)
        return changed / "kunit-host"


def own_suites(name):
    """Pattern of the suites that are most likely to notice."""
    stem = name.split(".")[0]
    return {"cc_ecn": "cc*", "cc_delay": "cc*", "vec": "scoreboard*"}.get(stem, f"{stem}*")


def verdict(builds, mutant):
    for build in builds:
        program = build.program(mutant)
        if not program:
            return "invalid" if program is None else "same code"
        if not all(build.passes(program, suites) for suites in (own_suites(mutant.file), "")):
            return "killed"
    return "survived"


# ---- report ----------------------------------------------------------------------------------------------------------
def explained():
    """key -> (class, line) of mutants.txt"""
    rows = {}
    for line in LIST.read_text(encoding="ascii").splitlines() if LIST.exists() else []:
        if line and not line.startswith("#"):
            key, kind = line.split()[:2]
            if kind not in ("equal", "weak") or " -- " not in line:
                sys.exit(f"{LIST.name}: {line}")
            rows[key] = (kind, line.split(" -- ")[1])
    return rows


def choose(mutants):
    """What to run, in the order of the files."""
    if len(sys.argv) > 1:
        return [m for m in mutants if m.key in sys.argv[1:]]
    if os.environ.get("FILES"):
        mutants = [m for m in mutants if m.file in os.environ["FILES"].split()]
    number = os.environ.get("MUTANTS", "300")
    if number == "all":
        return mutants
    seed = os.environ.get("SEED", "1")
    # More than wanted: some turn out to be none.
    return sorted(mutants, key=lambda m: hashlib.sha1((seed + m.key).encode()).digest())


def table(results, reasons, lines):
    """The report, and the score in percent."""
    files = sorted({m.file for m, _ in results})
    total = collections.Counter()
    lines.append(f"{'proto/':16} {'killed':>7} {'survived':>9} {'equal':>6} {'score %':>8}")
    for name in [*files, "total"]:
        if name == "total":
            count = total
        else:
            count = collections.Counter(
                "equal" if v == "survived" and reasons.get(m.key, ("",))[0] == "equal" else v
                for m, v in results if m.file == name)
            total.update(count)
        tried = count["killed"] + count["survived"]
        score = 100 * count["killed"] / tried if tried else 100
        lines.append(f"{name:16} {count['killed']:7} {count['survived']:9} {count['equal']:6} {score:8.1f}")
    return score


def report(results, everything):
    lines, reasons, known = [], explained(), {m.key for m in everything}
    for m, v in results:
        if v == "survived":
            lines.append(f"{m.key} {m.file}:{m.line}: {m.function}: {m.before} -> {m.after}")
            lines.append("         " + (": ".join(reasons[m.key]) if m.key in reasons else "not explained"))
    stale = sorted(set(reasons) - known | {m.key for m, v in results if m.key in reasons and v != "survived"})
    lines += [f"{LIST.name} names {key}, which {'is killed' if key in known else 'does not exist'}" for key in stale]
    score = table(results, reasons, lines)
    (OUT / "mutants.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    print("\n".join(lines))
    return 1 if stale or score < SCORE_MIN else 0


def main():
    everything = [m for path in sorted(PROTO.glob("*.[ch]")) for m in mutants_of(path)]
    chosen = choose(everything)
    whole = len(sys.argv) > 1 or os.environ.get("MUTANTS") == "all"
    wanted = len(chosen) if whole else int(os.environ.get("MUTANTS", "300"))
    builds = (Build("fast", "-O2 -g0 -DSEEDS=10 -fkeep-inline-functions"),
              Build("sanitized", "-O1 -g0 -DSEEDS=40 -fkeep-inline-functions -fsanitize=address,undefined "
                                 "-fno-sanitize-recover=all"))
    results, start = [], time.monotonic()
    for mutant in chosen:
        if len(results) == wanted:
            break
        what = verdict(builds, mutant)
        if what in ("killed", "survived") or whole:
            results.append((mutant, what))
        if what == "survived" or os.environ.get("V"):
            print(f"# {len(results)}/{wanted} {time.monotonic() - start:.0f} s: {what}: {mutant.key} "
                  f"{mutant.file}:{mutant.line}: {mutant.before} -> {mutant.after}", flush=True)
    sys.exit(report(sorted(results, key=lambda r: (r[0].file, r[0].start)), everything))


main()
