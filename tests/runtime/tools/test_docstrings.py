"""Descriptions of functions and parameters in docstrings of all common styles."""

from partita.runtime.tools.docstrings import read_docstring
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
    "other names are part of the text": ("Note: say it.\n\nArgs:\n    town: The name.", "Note: say it.", {}),
    "other sections end the parameters": (
        "Say it.\n\nArgs:\n    city: The name.\n\nReturns:\n    A text: long.",
        "Say it.",
        {"city": "The name."},
    ),
    "parameters alone": ("Args:\n    city: The name.", None, {"city": "The name."}),
    "a Google entry with a nested type and a colon in the text": (
        "Say it.\n\nArgs:\n    city (dict[str, tuple(int, int)]): See https://a.example: it helps.",
        "Say it.",
        {"city": "See https://a.example: it helps."},
    ),
    "several paragraphs of a Google entry": (
        "Say it.\n\nArgs:\n    city: One of:\n        - Bergen\n\n        Or another.\n    days: How many.",
        "Say it.",
        {"city": "One of: - Bergen Or another.", "days": "How many."},
    ),
    "examples are not descriptions": (
        "Say it.\n\nArgs:\n    city: The name.\n\nExample:\n    city: Bergen\n\nUsage:\n    days: 3",
        "Say it.",
        {"city": "The name."},
    ),
    "NumPy": (
        "Say it.\n\nParameters\n----------\ncity : str, optional\n    The name: all of it,\n    in full.\n\n"
        "    Really.\ndays\n    How many.\n\nReturns\n-------\nstr\n    days: not a parameter",
        "Say it.",
        {"city": "The name: all of it, in full. Really.", "days": "How many."},
    ),
    "NumPy, two parameters at once": (
        "Say it.\nParameters\n----------\ncity, days : {1, 2}, default 1\n    A number.",
        "Say it.",
        {"city": "A number.", "days": "A number."},
    ),
    "Sphinx with types": (
        "Say it.\n\n:param str city: The name:\n    in full.\n:type days: int\n:param days: How many.\n"
        ":returns: city: no parameter",
        "Say it.",
        {"city": "The name: in full.", "days": "How many."},
    ),
    "Sphinx, text below the name": (
        "Say it.\n\n:param city:\n    The name.",
        "Say it.",
        {"city": "The name."},
    ),
    "Epydoc": ("Say it.\n\n@param city: The name.\n@return: A text.", "Say it.", {"city": "The name."}),
    "styles mixed": (
        "Say it.\n\nArgs:\n    city: The name.\n\n:param days: How many.",
        "Say it.",
        {"city": "The name.", "days": "How many."},
    ),
    "a star before the name": ("Say it.\n\nArgs:\n    *city: The names.", "Say it.", {"city": "The names."}),
    "a title that is underlined": (
        "Say it\n------\n\ncity: The name.",
        "Say it ------",
        {"city": "The name."},
    ),
    "no description": ("Say it.\n\nArgs:\n    city:\n    days: How many.", "Say it.", {"days": "How many."}),
}


@each_row(("docstring", "summary", "parameters"), CASES.values(), ids=CASES)
def test_read_docstring(docstring: str | None, summary: str | None, parameters: dict[str, str]) -> None:
    assert read_docstring(docstring, NAMES) == (summary, parameters)
