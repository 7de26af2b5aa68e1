"""What of a value another one does not hold, member by member: so that nothing can be forgotten."""

from collections.abc import Iterator, Mapping

from partita.types.json import Json, dumps, is_array, is_object

from .losses import Loss, Severity


def lost(
    before: Json,
    after: Json,
    path: str,
    why: str,
    *,
    reasons: Mapping[str, str] | None = None,
    severities: Mapping[str, Severity] | None = None,
) -> Iterator[Loss]:
    """Everything in `before` that is not in `after`: `why`, unless there are `reasons` by name."""
    if before is after or before == after:
        return
    if is_object(before) and is_object(after) and before:
        for key, item in before.items():
            reason = (reasons or {}).get(key, why)
            if key in after and after[key] is not None:
                where = f"{path}.{key}"
                yield from lost(item, after[key], where, reason, reasons=reasons, severities=severities)
            else:
                yield Loss.of(f"{path}.{key}", item, reason)
    elif is_array(before) and is_array(after) and before and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            where = f"{path}[{index}]"
            yield from lost(item, other, where, why, reasons=reasons, severities=severities)
    elif dumps(before) != dumps(after):
        name = path.rpartition(".")[2]
        yield Loss.of(path, before, why, (severities or {}).get(name, "lost"))
