"""Do the tests of the pure rooms notice an error? `python tests/mutants.py ROOM... [--sample N]`.

A mutant is a module with one small error: a comparison, a sum, a number, a condition, a slice, a
statement that is not there. Each meets the quick tests of its room in a fork of a process that has
loaded pytest and the libraries; the first failure kills it, and so does a test that takes five
times its usual time. Tests that are quick and have killed others are run first. Survivors are
printed. Some change nothing that can be observed; the others lack a test.
"""

import argparse
import ast
import collections
import contextlib
import importlib
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parent.parent
PATHS = {
    "in_process": "engine/in_process",
    "parameters": "model/parameters",
    "replay": "replay/[ms][ot]",  # moves and steps are pure
    "waits": "audit/waits",
}
ROOMS = """audit deals formats games in_process luck model parameters ratings referee regret replay
    reports schedule tuner twins validate waits wire"""
TESTS = {
    "in_process": ["tests/engine/test_in_process.py"],
    "parameters": ["tests/tuner/test_parameters.py"],
    "regret": ["tests/regret/test_regret.py"],
    "waits": ["tests/audit"],
    # Not those of commands and terminals, which take half a minute.
    "replay": [
        *(f"tests/replay/test_{name}.py" for name in ("unfolding", "moments", "finding")),
        "tests/referee/test_replaying.py",
    ],
    "schedule": ["tests/test_schedule.py"],
    "model": [f"tests/{room}" for room in ("model", "deals", "formats", "referee", "validate")],
}
SWAPS = """Lt LtE GtE, LtE Lt Gt, Gt GtE LtE, GtE Gt Lt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is,
    In NotIn, NotIn In, And Or, Or And, Add Sub, Sub Add, Mult Add, Div Mult, FloorDiv Mult,
    Mod FloorDiv, Pow Mult, BitAnd BitOr, BitOr BitAnd, BitXor BitAnd, LShift RShift,
    RShift LShift"""
OTHERS = {first: others for first, *others in (words.split() for words in SWAPS.split(","))}
LEFT_OUT = {"annotation", "returns", "decorator_list", "exc"}


def places(node):
    """Every node that may be changed: no annotation, no decorator, no assertion, no message."""
    is_text = isinstance(node, ast.JoinedStr | ast.Assert)
    if is_text or (isinstance(node, ast.FunctionDef) and node.name == "__repr__"):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":  # an assertion of `zip`
        return
    yield node
    left_out = LEFT_OUT | {"keywords"} if isinstance(node, ast.ClassDef) else LEFT_OUT
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in left_out:
                yield from places(child)


def changes(node):
    """What may be at `node`, as pairs of a field and its value; no field: nothing is there."""
    is_act = isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break)
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    found = [(None, None)] if is_act and not is_text else []
    match node:
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            found = [(None, None)]
        case ast.Compare(ops=[op, *rest]):
            found = [("ops", [getattr(ast, other)(), *rest]) for other in OTHERS[type(op).__name__]]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op):
            found[:0] = [("op", getattr(ast, other)()) for other in OTHERS[type(op).__name__]]
        case ast.UnaryOp(op=ast.Not()):
            found = [("op", None)]
        case ast.Constant(value=int(value) | float(value)):
            found = [("value", not value if isinstance(value, bool) else value + 1)]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            found = [("test", ast.UnaryOp(ast.Not(), test))]
        case ast.comprehension(ifs=[first, *rest]):
            found = [("ifs", [ast.UnaryOp(ast.Not(), first), *rest])]
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            found = [("value", ast.Constant(None))]
        case ast.Slice():
            found = [(end, None) for end in ("lower", "upper") if getattr(node, end)]
    return found


class Instead(ast.NodeTransformer):
    """Puts a node in another's place."""

    def __init__(self, old, new):
        self._old, self._new = old, new

    def visit(self, node):
        return self._new if node is self._old else self.generic_visit(node)


def mutants(path):
    """The mutants of a module: for `mutated`."""
    for number, node in enumerate(places(ast.parse(path.read_text()))):
        yield from ((path, number, choice) for choice, _ in enumerate(changes(node)))


def mutated(path, number, choice):
    """The changed module, and what was changed, in words."""
    tree = ast.parse(path.read_text())
    node = list(places(tree))[number]
    line = min((each.lineno for each in ast.walk(node) if hasattr(each, "lineno")), default=0)
    before = ast.unparse(node).split("\n")[0]
    field, value = changes(node)[choice]
    if field is None or isinstance(node, ast.UnaryOp):
        new = ast.Pass() if field is None else node.operand
        tree = Instead(node, new).visit(tree)
    else:
        setattr(node, field, value)
        new = node
    after = ast.unparse(new).split("\n")[0]
    words = f"{path.relative_to(ROOT)}:{line}: {before}  ->  {after}"
    return ast.fix_missing_locations(tree), words


class Finder(SourceFileLoader):
    """Imports one module changed."""

    def __init__(self, path, tree):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        super().__init__(name, str(path))
        self._tree = tree

    def find_spec(self, name, path=None, target=None):
        found = name == self.name
        return (
            importlib.util.spec_from_file_location(name, self.path, loader=self) if found else None
        )

    def get_code(self, fullname):
        return compile(self._tree, self.path, "exec")


class Order:
    """Quick tests and those that kill often first; a limit for each, of CPU time, so that load on
    the machine kills nothing. Examples of hypothesis are few and always the same.
    """

    def __init__(self, took, kills):
        self._took, self._kills = took, kills
        self.taking = collections.Counter()
        self.failed = None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self):
        few = {"max_examples": 20, "phases": (hypothesis.Phase.explicit, hypothesis.Phase.generate)}
        always = {"derandomize": True, "deadline": None, "database": None}
        hypothesis.settings.register_profile("mutants", **few, **always)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self._took.get(item.nodeid, 0) / (1 + self._kills[item.nodeid]))

    def pytest_runtest_logstart(self, nodeid):
        if self._took:
            signal.setitimer(signal.ITIMER_PROF, 5 + 5 * self._took.get(nodeid, 0))

    def pytest_runtest_logreport(self, report):
        self.taking[report.nodeid] += report.duration
        if report.failed:
            self.failed = report.nodeid


def is_passed(tests, folder, finder=None, took=None, kills=None, limit_s=600):
    """Run tests in a fork, with one module changed; true if none of them fails."""
    told = folder / "told"
    told.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        said = os.open(folder / "said", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        for stream in range(3):
            os.dup2(said, stream)
        sys.meta_path[:0] = [finder] if finder else []
        order = Order(took or {}, kills or collections.Counter())
        words = ["-xq", "-pno:cacheprovider", "-Wignore::pytest.PytestAssertRewriteWarning"]
        code = pytest.main([*words, f"--basetemp={folder}/files", *tests], [order])
        known = [name for name in sys.modules if name.split(".")[0] not in {"arena", "tests"}]
        told.write_text(json.dumps([known, order.taking, order.failed]))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if kills is not None and told.exists():
        kills[json.loads(told.read_text())[-1]] += 1
    return status == 0


def try_room(name, sample, seed):
    """Print a room's survivors and its score."""
    tests = TESTS.get(name, [f"tests/{name}"])
    found = sorted(ROOT.glob(f"arena/{PATHS.get(name, name)}*"))
    files = [each for path in found for each in ([path] if path.is_file() else path.glob("*.py"))]
    every = [mutant for path in sorted(files) for mutant in mutants(path)]
    drawn = sorted(random.Random(seed).sample(every, min(sample, len(every))))
    killed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for _ in range(2):  # the first tells what is to be loaded
            begun = time.monotonic()
            if not is_passed(tests, folder):
                sys.exit(f"without a mutant, too: {(folder / 'said').read_text()}")
            usual_s = time.monotonic() - begun
            known, took, _ = json.loads((folder / "told").read_text())
            for module in known:
                with contextlib.suppress(Exception):
                    importlib.import_module(module)
        kills = collections.Counter()
        for mutant in drawn:
            tree, words = mutated(*mutant)
            if is_passed(tests, folder, Finder(mutant[0], tree), took, kills, 5 * usual_s):
                print(words, flush=True)
            else:
                killed += 1
    print(f"{name}: {killed} of {len(drawn)} killed, of {len(every)}; usually {usual_s:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="+", choices=ROOMS.split(), metavar="ROOM")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path[0] = str(ROOT)
    for each in arguments.rooms:
        try_room(each, arguments.sample, arguments.seed)
