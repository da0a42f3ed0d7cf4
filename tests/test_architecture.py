"""The arrows between the rooms, read from the syntax tree, and the packages that stand without Django."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Who may import whom among the project's own packages.
ALLOWED = {
    "questions": {"questions"},
    "evaluation": {"evaluation", "questions"},
    "frontend": {"frontend", "evaluation", "questions", "worksample"},
}
ALONE = ("evaluation.statistics", "evaluation.graders", "evaluation.providers", "questions.formats")
OURS = {*ALLOWED, "worksample"}


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Modules imported at run time; what stands under ``if TYPE_CHECKING`` is for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        else:
            yield from imports_of(node)


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_a_package_imports_only_what_its_place_allows(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        imported = {module.split(".")[0] for module in imports_of(ast.parse(path.read_text()))}
        assert (imported & OURS) <= ALLOWED[package], path.relative_to(ROOT)


@pytest.mark.parametrize("package", ALONE)
def test_a_package_stands_without_django(package: str) -> None:
    code = f"import sys, {package}; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_modules_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for package in (*ALLOWED, "platform")
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts and (count := len(path.read_text().splitlines())) > 600
    }
    assert long == {}
