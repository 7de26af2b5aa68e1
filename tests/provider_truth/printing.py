"""Print the facts read from recordings of a provider, or their chunks, one JSON object per line."""

import sys
from collections.abc import Sequence
from pathlib import Path

from partita.types.codec import encode
from partita.types.json import dumps
from tests.provider_truth.reading import FAMILIES, chunks_of, truth_of


def print_recordings(arguments: Sequence[str], *, chunks: bool) -> None:
    """Print the facts or the chunks of recordings. The first argument is their family."""
    if not arguments or arguments[0] not in FAMILIES:
        sys.exit(f"name the family: one of {', '.join(FAMILIES)}")
    family, *files = arguments
    for file in files:
        if chunks:
            for chunk in chunks_of(family, Path(file))[0]:
                print(encode(chunk).decode())
        else:
            print(dumps({"file": file, **truth_of(family, Path(file))}).decode())
