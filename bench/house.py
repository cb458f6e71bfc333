"""Count what makes a code base easy or hard to enter: modules, lines, names, words of its pages.

python bench/house.py [FOLDER]     a checkout; this one by default
"""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

# Nouns that end like gerunds.
NOUNS = {"ranking", "ratings", "ring", "settings", "standings", "string", "strings", "thing"}
# Words that open a clause without a head: "Who waits ...", "whoever has it".
HEADLESS = re.compile(r"(?:^|[.;:(]\s+)Who\s[a-z]|\b[Ww]hoever\b|\bwho (?!are|is you)(?=[a-z]+s\b)")


def trees(package: Path) -> dict[Path, ast.Module]:
    """Every module of a package, parsed; what `arena new` hands out is no module."""
    return {
        path.relative_to(package): ast.parse(path.read_text())
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[:2] != ("scaffolds", "python")
    }


def repeated_classes(modules: dict[Path, ast.Module]) -> dict[str, list[str]]:
    """Public classes whose name another module uses, too."""
    places = defaultdict(list)
    for path, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path))
    return {name: where for name, where in places.items() if len(where) > 1}


def main() -> None:
    """Print the counts, then the names behind those that should be 0."""
    root = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parents[1])
    package = root / "arena"
    modules = trees(package)
    texts = {path: (package / path).read_text() for path in modules}
    lengths = [text.count("\n") for text in texts.values()]
    gerunds = [
        str(path) for path in modules if path.stem.endswith("ing") and path.stem not in NOUNS
    ]
    repeated = repeated_classes(modules)
    docstrings = [
        ast.get_docstring(node) or ""
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node)
    ]
    pages = [root / "README.md", root / "ARCHITECTURE.md", *sorted((root / "docs").rglob("*.md"))]
    prose = [*texts.values(), *(page.read_text() for page in pages if page.is_file())]
    loose = [path for path in modules if len(path.parts) == 1 and not path.stem.startswith("__")]
    rows = {
        "modules": len(modules),
        "lines": sum(lengths),
        "lines of a module, median": median(lengths),
        "modules over 500 lines": sum(length > 500 for length in lengths),
        "loose modules at the top": len(loose),
        "modules named with a gerund": len(gerunds),
        "public class names used twice or more": len(repeated),
        "files in cli/": sum(path.parts[0] == "cli" for path in modules),
        "docstrings": len(docstrings),
        "docstrings under five words": sum(len(text.split()) < 5 for text in docstrings),
        "who/whoever clauses in code and docs": sum(len(HEADLESS.findall(text)) for text in prose),
        **{f"words of {page.name}": len(page.read_text().split()) for page in pages[:2]},
    }
    for name, value in rows.items():
        print(f"{value:>8,}  {name}")
    for name in gerunds:
        print(f"gerund: {name}")
    for name, where in sorted(repeated.items()):
        print(f"twice: {name}: {', '.join(where)}")


if __name__ == "__main__":
    main()
