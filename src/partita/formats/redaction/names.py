"""Names of variables, headers, members and options that announce a secret, and tests of their values.

A name is judged by its last words: `DB_PASSWORD`, `dbPassword` and `db-password` are the same, `token_type`
is not the name of a token. The more certain a name is, the less its value has to look like a secret.
"""

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Strength: TypeAlias = Literal["certain", "likely", "possible"]
"""How certain a name is, and so which values are secrets.

`certain`: any value; `likely`: anything but a plain word; `possible`: random characters.
"""

LONGEST_NAME: Final = 120


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS: Final = ("password", "passwords", "passwd", "passphrase", "passcode", "mnemonic")
_KEYS: Final = _words(
    "api access secret private account auth encryption signing sign master shared subscription "
    "storage service deploy session admin app application webhook consumer root server client "
    "license ssh gpg pgp aes hmac jwt crypto cipher host functions function anon role recovery "
    "ingest integration token"
)
_OTHER_KEYS: Final = _words(
    "public primary foreign cache sort partition idempotency row index registry object map dict "
    "lookup group unique translation shortcut hot message routing query field column label config "
    "setting sub"
)
_OTHER_TOKENS: Final = _words(
    "page next previous prev continuation cursor start end pad eos bos unk mask sep cls stop "
    "special per max min input output prompt completion total reasoning cached sync resume "
    "pagination first last each by progress change cancellation cancel continue marker lexer "
    "parser current image audio text"
)
_SECRETS: Final = _words(
    "client app application consumer shared api user jwt session cookie webhook signing hmac oauth auth"
)
_NOT_SECRETS: Final = _words("is has no use show top pull tls image the a")
_NOT_PASSES: Final = _words("test tests by multi one two single first second render did does can")
_COMPACT: Final = re.compile(
    r".*(?:api|access|secret|account|private|auth|encryption|signing|master)key"
    r"|.*(?:auth|access|refresh|api|session|bearer|bot|id)token|.*clientsecret|.*appsecret"
)
_SUFFIXES: Final = _words("value val base64 b64 data text str string plain plaintext raw hash hashed")


@lru_cache(maxsize=4096)
def strength_of(name: str) -> Strength | None:
    """How certainly a name announces a secret; `None` if it does not."""
    if len(name) > LONGEST_NAME:
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _SUFFIXES):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS) or last in ("authorization", "otpauth"):
        return "certain"
    if last in ("phrase", "codes", "code") and before in ("seed", "recovery", "backup"):
        return "likely" if last != "phrase" else "certain"
    if last == "id" and words[-3:-1] in (["access", "key"], ["accesskey"]):
        return "likely"
    return _by_last_word(name, last, before)


def _by_last_word(name: str, last: str, before: str) -> Strength | None:
    is_variable = name.isupper()
    match last:
        case "secret":
            return "certain" if before in _SECRETS else None if before in _NOT_SECRETS else "likely"
        case "token":
            return None if before in _OTHER_TOKENS else "likely" if before else "possible"
        case "key":
            if before in _KEYS:
                return "likely"
            return "possible" if is_variable and before and before not in _OTHER_KEYS else None
        case "pass":
            if before in _NOT_PASSES:
                return None
            return "certain" if is_variable and before else "likely" if before else "possible"
        case "pwd":
            return "likely" if before and before != "old" else None
        case "auth" | "credential" | "credentials" | "creds":
            return "possible"
        case "pat":
            return "likely" if is_variable and before else None
        case _:
            return "likely" if _COMPACT.fullmatch(last) else None


_PLACEHOLDER: Final = re.compile(
    r"(?i:\*{2,}|x{3,}|\.{2,}|…|-+$|your|example|change[_-]?me|change[_-]?this|placeholder|process\.|os\.|env\."
    r"|self\.|this\.|secrets\.|redacted|\[redacted|insert|enter[_ -])"
    r"|\S{0,200}(?:\.{3}$|…$|REDACTED)"
    r"|\$\{|\$\(|\$[A-Z_][A-Z0-9_]*$|\$[a-z_]+$|%[A-Z_]+%|\{\{|\{[\w.]*\}|<[^<>]{1,80}>?$|#\{|@\w+@$|%[sdv]$"
)
_WORD: Final = re.compile(
    r"(?i)(?:str|string|text|null|none|nil|true|false|undefined|required|optional|password|passwd|passphrase"
    r"|secret|token|key|value|any|unknown|bool|boolean|int|integer|number|object|bytes|varchar|char|hidden"
    r"|default|empty|missing|invalid|unset|yes|no|username|user|file|prompt|env|bearer|basic|hex|base64|uuid"
    r"|input|output|default|auto|external|managed|encrypted|hashed|masked|removed|deleted|denied|expired"
    r"|incorrect|wrong|failed|ok|is|and|or|the|a|to|for|in|of|from|with|not|must|should|will|can)[?!;,.]?"
)
_IDENTIFIER: Final = re.compile(
    r"[a-z]+(?:[._:-]{1,2}[a-z]+)*|[A-Z]+(?:[._-][A-Z]+)*|(?:[A-Z]{0,6}[a-z]{2,}){1,8}|[A-Za-z_]+(?:\.[A-Za-z_]\w*)+"
)
_CONSTANT: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_ADDRESS: Final = re.compile(r"[/~.]|https?:|file:|[A-Za-z]:[\\/]|[a-z][a-z0-9+]{1,12}://")
_FILE: Final = re.compile(
    r"(?i)[\w./-]+\.(?:json|py|ts|tsx|js|mjs|txt|ya?ml|md|pem|key|toml|env|html|log|go|rs|java)"
)
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9:.,+-]+$|v?[0-9]+\.[0-9]+")
_LONG_WORD: Final = 20


def is_secret_value(value: str, strength: Strength, *, in_code: bool = False) -> bool:
    """Whether the value of a name is a secret, rather than a type, a variable or an example.

    `in_code`: it is without quotes where code may be, so it may be the name of a variable.
    """
    if len(value) < 3 or _PLACEHOLDER.match(value) or _WORD.fullmatch(value):
        return False
    if strength == "certain":
        return _CONSTANT.fullmatch(value) is None and not (in_code and _IDENTIFIER.fullmatch(value))
    if len(value) < 6 or any(map(str.isspace, value)) or _ADDRESS.match(value) or _FILE.fullmatch(value):
        return False
    if _IDENTIFIER.fullmatch(value) is not None:
        return len(value) >= _LONG_WORD and value.isalpha() and value.islower() and not in_code
    return strength == "likely" or is_random(value)


def is_random(value: str) -> bool:
    """Whether a text of one word looks like random characters."""
    if len(value) < 8 or len(set(value)) < 5 or _TIME.match(value) or _IDENTIFIER.fullmatch(value):
        return False
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value))
    return len(value) >= _LONG_WORD and not value.islower() and not value.isupper()
