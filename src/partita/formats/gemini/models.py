"""What the name of a model tells about the requests it takes."""

import re
from typing import Final

GENERATION: Final = re.compile(r"(?:^|/)gemini-(\d+)")
GEMMA: Final = re.compile(r"(?:^|/)gemma-")
LATEST: Final = re.compile(r"(?:^|/)gemini-[a-z-]*latest$")


def is_third_generation(model: str) -> bool:
    """Whether calls must be signed, and tools may answer with files: Gemini 3 and later."""
    found = GENERATION.search(model)
    return LATEST.search(model) is not None or (found is not None and int(found[1]) >= 3)


def has_system_instruction(model: str) -> bool:
    """Whether the model can be told instructions apart. Gemma cannot."""
    return GEMMA.search(model) is None
