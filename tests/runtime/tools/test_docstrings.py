"""Docstrings are read for what they say of a function and its parameters."""

from partita.runtime.tools.docstrings import describe
from tests.tables import each_row

NAMES = ("city", "days")

CASES: dict[str, tuple[str | None, str | None, dict[str, str]]] = {
    "none": (None, None, {}),
    "empty": ("  \n ", None, {}),
    "one line": ("Say it.", "Say it.", {}),
    "first paragraph alone": ("Say it\n    at once.\n\n    And more.", "Say it at once.", {}),
    "Args": (
        "Say it.\n\n    Args:\n        city: The name.\n        days: How many.\n",
        "Say it.",
        {"city": "The name.", "days": "How many."},
    ),
    "types in brackets": (
        "Say it.\n\nArgs:\n    city (str, optional): The name.",
        "Say it.",
        {"city": "The name."},
    ),
    "more lines": (
        "Say it.\n\nArgs:\n    city: The name,\n        in full: all of it.\n    days: How many.",
        "Say it.",
        {"city": "The name, in full: all of it.", "days": "How many."},
    ),
    "text below the name": (
        "Say it.\n\nArgs:\n    city:\n        The name.",
        "Say it.",
        {"city": "The name."},
    ),
    "no section": (
        "Say it.\n\ncity: The name.\ndays: How many.",
        "Say it.",
        {"city": "The name.", "days": "How many."},
    ),
    "no blank line": ("Say it.\ncity: The name.", "Say it.", {"city": "The name."}),
    "section without a blank line": ("Say it.\nArgs:\n  city: The name.", "Say it.", {"city": "The name."}),
    "param fields": (
        "Say it.\n\n:param city: The name.\n:param days: How many.",
        "Say it.",
        {"city": "The name.", "days": "How many."},
    ),
    "other names are words": ("Note: say it.\n\nArgs:\n    town: The name.", "Note: say it.", {}),
    "other sections end it": (
        "Say it.\n\nArgs:\n    city: The name.\n\nReturns:\n    A text: long.",
        "Say it.",
        {"city": "The name."},
    ),
    "parameters alone": ("Args:\n    city: The name.", None, {"city": "The name."}),
    "nothing said": ("Say it.\n\nArgs:\n    city:\n    days: How many.", "Say it.", {"days": "How many."}),
}


@each_row(("docstring", "summary", "parameters"), CASES.values(), ids=CASES)
def test_describe(docstring: str | None, summary: str | None, parameters: dict[str, str]) -> None:
    assert describe(docstring, NAMES) == (summary, parameters)
