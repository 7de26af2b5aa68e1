"""The scripts of the documentation are valid by the types of the packages that they use."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from .blocks import ROOT, Block, all_blocks

LANGUAGES = ("ts", "tsx", "js", "jsx")
SCRIPTS = [
    block
    for block in all_blocks(*LANGUAGES)
    if not (block.file or "").startswith("examples/")  # examples have their own type check
    and "elsewhere" not in block.marks  # uses a package that is not installed here
]
CLIENT = {
    "ai": ROOT / "tests/node_modules/ai7",
    "@ai-sdk/react": ROOT / "tests/node_modules/use-chat-7",
}
"""Packages that the web UI does not use, in the releases of the server tests."""

MODULES = [ROOT / "web/node_modules", *sorted((ROOT / "examples").glob("*/web/node_modules"))]
COMPILER = ROOT / "web/node_modules/typescript/bin/tsc"
OPTIONS = {
    "strict": True,
    "noEmit": True,
    "skipLibCheck": True,
    "allowJs": True,
    "checkJs": True,
    "jsx": "react-jsx",
    "target": "es2022",
    "lib": ["es2023", "dom", "dom.iterable"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "moduleDetection": "force",
    "types": ["node"],
}


def type_errors(folder: Path, scripts: list[Block]) -> str:
    """Return the errors of the compiler. Each script is in a folder with the other files of its page."""
    for block in scripts:
        page = folder / str(block.page.relative_to(ROOT)).replace("/", "-").removesuffix(".md")
        path = page / (block.file or f"line-{block.line}.{block.language}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
    packages = {name: [str(place)] for name, place in CLIENT.items()}
    packages["*"] = [f"{place}/{inner}*" for place in MODULES for inner in ("@types/", "")]
    roots = [f"{place}/@types" for place in MODULES if (place / "@types").exists()]
    options = {**OPTIONS, "paths": packages, "typeRoots": roots}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["**/*"]}))
    result = subprocess.run(
        ["node", str(COMPILER), "-p", str(folder), "--pretty", "false"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return "" if result.returncode == 0 else result.stdout + result.stderr


@pytest.mark.skipif(not SCRIPTS, reason="no page has a script")
def test_scripts_have_no_type_errors(tmp_path: Path) -> None:
    assert type_errors(tmp_path, SCRIPTS) == ""
