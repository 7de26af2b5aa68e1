"""New ids: UUIDv7, which sort by the time at which they were made."""

from secrets import randbits
from time import time_ns

RANDOM_BITS = 74
_last = 0


def new_id() -> str:
    """A new UUIDv7. It sorts after all ids that this process made before.

    `uuid.uuid7` exists from Python 3.14 on.
    """
    global _last  # noqa: PLW0603 # ids of the same millisecond, and after the clock was set back
    bits = (time_ns() // 1_000_000 << RANDOM_BITS) | randbits(RANDOM_BITS)
    if bits <= _last:
        bits = _last + randbits(32) + 1
    _last = bits
    # RFC 9562, 5.7: 48 bits of time, the version, 12 random bits, the variant, 62 random bits
    time, high, low = bits >> RANDOM_BITS, bits >> 62 & 0xFFF, bits & (1 << 62) - 1
    text = f"{time << 80 | 7 << 76 | high << 64 | 2 << 62 | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
