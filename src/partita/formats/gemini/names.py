"""Names of tools as Gemini allows them: one rule, for calls, results and declarations alike."""

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final

ALLOWED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9_.:-]")


@lru_cache
def tool_name(name: str) -> str:
    """A name that is allowed: `name` itself, or one made of it that no other name becomes."""
    if ALLOWED.fullmatch(name):
        return name
    digest = sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"_{FORBIDDEN.sub('_', name)[:118]}_{digest}"
