"""The systemd unit of the deployment guide."""

import configparser
import shlex

from tests.docs.blocks import ROOT, blocks_of
from tests.docs.command_checks import check_partita


def test_unit_uses_existing_options() -> None:
    (unit,) = (block for block in blocks_of(ROOT / "docs/apps/deployment.md") if block.language == "ini")
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.read_string(unit.text)
    program, *arguments = shlex.split(read["Service"]["ExecStart"])
    assert program.endswith("/bin/partita")
    assert arguments[0] == "serve"
    check_partita(arguments)
