"""Values, as a file or the environment gives them, checked against what a setting takes."""

from typing import Final, cast

from partita.errors import ConfigError

from .settings import Kind, Setting, Value

TAKES: Final[dict[Kind, str]] = {
    "text": "a text",
    "place": "the path of a file or a URL",
    "number": "a whole number",
    "seconds": "a number",
    "switch": "true or false",
    "texts": "a list of texts",
    "folders": "a list of folders",
}
EXAMPLES: Final[dict[Kind, str]] = {
    "text": '"…"',
    "place": '"messages.db"',
    "number": "8",
    "seconds": "1.5",
    "switch": "true",
    "texts": '["…", "…"]',
    "folders": '["~/work"]',
}
WORDS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def from_toml(setting: Setting, raw: object) -> Value:
    """The value that a file gives; an error when it is of another kind."""
    match setting.kind, raw:
        case (("text" | "place"), str()) if raw:
            return raw
        case "switch", bool():
            return raw
        case "number", int() if not isinstance(raw, bool):
            return _within(setting, raw)
        case "seconds", int() | float() if not isinstance(raw, bool):
            return _within(setting, float(raw))
        case (("texts" | "folders"), list()):
            return tuple(_item(setting, item) for item in cast("list[object]", raw))  # of whatever it is
        case _:
            raise _wrong(setting, raw, f"write {_name(setting)} = {EXAMPLES[setting.kind]}")


def from_text(setting: Setting, text: str) -> Value:
    """The value that a variable of the environment holds. Lists have commas."""
    match setting.kind:
        case "text" | "place":
            return text
        case "texts" | "folders":
            return tuple(piece.strip() for piece in text.split(",") if piece.strip())
        case "switch":
            if text.strip().lower() not in WORDS:
                raise _wrong(setting, text, f"say one of {', '.join(WORDS)}")
            return WORDS[text.strip().lower()]
        case "number" | "seconds":
            try:
                return _within(setting, int(text) if setting.kind == "number" else float(text))
            except ValueError:
                raise _wrong(setting, text, f"such as {EXAMPLES[setting.kind]}") from None


def _item(setting: Setting, item: object) -> str:
    if not isinstance(item, str) or not item:
        raise _wrong(setting, item, f"write {_name(setting)} = {EXAMPLES[setting.kind]}")
    return item


def _within(setting: Setting, number: float) -> Value:
    least, most = setting.least, setting.most
    if (least is not None and not number >= least) or (most is not None and not number <= most):
        span = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise ConfigError(f"{setting.key} is {number}", hint=f"it must be {span}")
    return number


def _wrong(setting: Setting, raw: object, hint: str) -> ConfigError:
    shown = raw if isinstance(raw, str | int | float) and not isinstance(raw, bool) else _kind_of(raw)
    return ConfigError(f"{setting.key} must be {TAKES[setting.kind]}, not {shown!r}", hint=hint)


def _kind_of(raw: object) -> object:
    """What may be said of a value that would be too long to show."""
    match raw:
        case bool():
            return raw
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return type(raw).__name__


def _name(setting: Setting) -> str:
    return setting.key.rpartition(".")[2]
