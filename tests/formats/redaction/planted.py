"""Generated secrets of every format and name, in many contexts and encodings."""

import base64
import random
import re
from collections.abc import Callable, Iterator, Mapping
from re import _constants as sre  # pyrefly: ignore[missing-module-attribute]
from re import _parser as parser  # pyrefly: ignore[missing-module-attribute]
from typing import Any, NamedTuple
from urllib.parse import quote

from partita.formats.redaction.token_formats import TOKEN_FORMATS
from partita.types.json import dumps

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
CATEGORIES = {sre.CATEGORY_DIGIT: "0123456789", sre.CATEGORY_WORD: ALPHABET + "_", sre.CATEGORY_SPACE: " "}


class Planted(NamedTuple):
    """A secret in a text."""

    kind: str
    source: str
    context: str
    text: str
    secret: str


# Strings of a regular expression


def from_pattern(expression: str, rng: random.Random) -> str:
    """Return a random string that the expression matches completely."""
    pattern = re.compile(expression)
    tree = parser.parse(expression)
    for _ in range(200):
        text = _draw(tree, rng)
        if pattern.fullmatch(text):
            return text
    raise AssertionError(f"no string was found for {expression}")


def _draw(tree: Any, rng: random.Random) -> str:
    return "".join(_draw_one(operation, argument, rng) for operation, argument in tree)


def _draw_one(operation: Any, argument: Any, rng: random.Random) -> str:
    match operation:
        case sre.LITERAL:
            return chr(argument)
        case sre.IN:
            return rng.choice(_members(argument))
        case sre.MAX_REPEAT | sre.POSSESSIVE_REPEAT | sre.MIN_REPEAT:
            low, high, inner = argument
            count = rng.randint(low, min(high, max(low, 40))) if low != high else low
            return "".join(_draw(inner, rng) for _ in range(max(count, min(high, 24) if low < 24 else low)))
        case sre.SUBPATTERN:
            return _draw(argument[3], rng)
        case sre.ATOMIC_GROUP:
            return _draw(argument, rng)
        case sre.BRANCH:
            return _draw(rng.choice(argument[1]), rng)
        case _:  # lookarounds
            return ""


def _members(items: Any) -> str:
    members: list[str] = []
    for operation, argument in items:
        match operation:
            case sre.LITERAL:
                members.append(chr(argument))
            case sre.RANGE:
                members += map(chr, range(argument[0], argument[1] + 1))
            case sre.CATEGORY:
                members += CATEGORIES[argument]
            case _:
                raise AssertionError(operation)
    return "".join(members)


def word(rng: random.Random, length: int = 24) -> str:
    """Return random letters and digits, at least one of each."""
    return "".join(rng.choices(ALPHABET, k=length - 3)) + rng.choice("ghkmw") + rng.choice("23456789") + "Z"


# Contexts of secrets with a known format

CONTEXTS: Mapping[str, Callable[[str], str]] = {
    "environment": lambda secret: f"export RESULT={secret}\nexport OTHER=1",
    "JSON": lambda secret: dumps({"result": secret, "n": 1}).decode(),
    "shell": lambda secret: f"$ deploy --with {secret} --now",
    "header": lambda secret: f"X-Result: {secret}\r\nAccept: */*",
    "query": lambda secret: f"https://example.org/a?result={quote(secret, safe='')}&page=2",
    "log": lambda secret: f"2026-03-02T09:00:00Z INFO got {secret}, done",
    "Markdown": lambda secret: f"It is `{secret}`, **keep** it.",
    "nested JSON": lambda secret: dumps({"a": dumps({"b": [secret]}).decode()}).decode(),
}

# Secrets that follow a telling name

_NAMES = """
    password PASSWORD DB_PASSWORD dbPassword db-password user_passwd POSTGRES_PASSWORD
    MYSQL_ROOT_PASSWORD DB_PASS SMTP_PASS passphrase KEY_PASSPHRASE client_secret clientSecret
    CLIENT_SECRET app_secret JWT_SECRET SESSION_SECRET secret secret_key SECRET_KEY DJANGO_SECRET_KEY
    api_key apiKey API_KEY OPENAI_API_KEY DATADOG_API_KEY apikey x-api-key X-Api-Key X-Auth-Token
    access_key AWS_ACCESS_KEY_ID aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey
    SessionToken AWS_SESSION_TOKEN token TOKEN access_token accessToken refresh_token refreshToken
    id_token auth_token authToken _authToken SERVICE_API_TOKEN GITHUB_TOKEN CF_API_TOKEN VERCEL_TOKEN
    HEROKU_API_KEY TWILIO_AUTH_TOKEN bot_token private_token PRIVATE-TOKEN csrf_token AccountKey
    SharedAccessKey StorageAccountKey encryption_key ENCRYPTION_KEY signing_key master_key MASTER_KEY
    private_key_passphrase client-key-data webhook_secret DB_PWD ansible_become_password bindPassword
    keystorePassword ADMIN_PASS
"""
NAMES = _NAMES.split()

NAMED_CONTEXTS: Mapping[str, Callable[[str, str], str]] = {
    "environment": lambda name, secret: f"export {name}={secret}\nexport OTHER=1",
    "JSON": lambda name, secret: dumps({name: secret, "n": 1}).decode(),
    "YAML": lambda name, secret: f"service:\n  {name}: {secret}\n  port: 80\n",
    "code": lambda name, secret: f'client = connect({name}="{secret}", retries=3)',
    "option": lambda name, secret: f"$ deploy --{name} {secret} --now",
    "option with =": lambda name, secret: f"$ deploy --{name}={secret} --now",
    "header": lambda name, secret: f"curl -H '{name}: {secret}' https://example.org",
    "query": lambda name, secret: f"https://example.org/a?page=2&{name}={secret}&x=1",
    "connection": lambda name, secret: f"Endpoint=sb://x.example.org/;{name}={secret};Pooling=true",
    "XML": lambda name, secret: f"<{name}>{secret}</{name}>",
    "nested JSON": lambda name, secret: dumps({"a": dumps({"b": {name: secret}}).decode()}).decode(),
}


class _Given(NamedTuple):
    """Random parts of structures."""

    secret: str
    basic: str
    hex32: str
    hex64: str
    base32: str
    base64: str
    pem: str


def _given(rng: random.Random) -> _Given:
    secret = word(rng)
    return _Given(
        secret,
        base64.b64encode(f"ada:{secret}".encode()).decode(),
        "".join(rng.choices("0123456789abcdef", k=32)),
        "".join(rng.choices("0123456789abcdef", k=64)),
        base64.b64encode(rng.randbytes(32)).decode(),
        base64.b64encode(rng.randbytes(64)).decode(),
        "\n".join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(4)),
    )


def _structures(rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Return kind, description, text and secret of structures without a token format or a simple name."""
    secret, basic, key, amazon, signature, account, body = _given(rng)
    sas = f"https://x.blob.core.windows.net/c/b?sv=2023-11-03&sp=r&sig={quote(signature, safe='')}"
    bcrypt = "$2b$12$" + "".join(rng.choices(ALPHABET + "./", k=53))
    crypt = "$6$" + word(rng, 16) + "$" + "".join(rng.choices(ALPHABET + "./", k=86))
    argon = f"$argon2id$v=19$m=65536,t=3,p=4${word(rng, 22)}${word(rng, 43)}"
    discord = f"M{word(rng, 25)}.{word(rng, 6)}.{word(rng, 38)}"
    pgp = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"
    yield from (
        ("connection-string", "URL", f"git clone https://ada:{secret}@example.org/x.git", secret),
        (
            "connection-string",
            "database URL",
            f"DATABASE_URL=postgres://ada:{secret}@db.example.org:5432/x",
            secret,
        ),
        ("connection-string", "Redis URL", f"redis://:{secret}@cache:6379/0", secret),
        ("connection-string", "MongoDB URL", f"mongodb+srv://ada:{secret}@c0.example.org/?w=1", secret),
        ("connection-string", "Sentry DSN", f"SENTRY_DSN=https://{key}@o1.ingest.sentry.io/42", key),
        ("authorization", "Authorization, Bearer", f"Authorization: Bearer {secret}", secret),
        ("authorization", "Authorization, Basic", f"Authorization: Basic {basic}", basic),
        ("authorization", "Authorization, token", f"Authorization: token {secret}", secret),
        ("authorization", "Authorization, without scheme", f"authorization: {secret}", secret),
        (
            "authorization",
            "Authorization in JSON",
            dumps({"Authorization": f"Bearer {secret}"}).decode(),
            secret,
        ),
        ("authorization", "Proxy-Authorization", f"Proxy-Authorization: Basic {basic}", basic),
        ("authorization", "Bearer", f"sent Bearer {secret} to the server", secret),
        ("authorization", "Basic", f"it sends Basic {basic} then", basic),
        ("authorization", "curl -u", f"curl -s -u ada:{secret} https://example.org/", secret),
        (
            "authorization",
            "curl -u with quotes",
            f"curl -X POST -u 'ada:{secret}' https://example.org/",
            secret,
        ),
        ("authorization", "curl --user", f"curl --user ada:{secret} https://example.org/", secret),
        ("cookie", "Cookie", f"Cookie: theme=dark; session={secret}; a=b\r\nAccept: */*", secret),
        ("cookie", "Set-Cookie", f"Set-Cookie: sid={secret}; Path=/; HttpOnly", secret),
        ("cookie", "Cookie in JSON", dumps({"headers": {"cookie": f"sid={secret}; a=b"}}).decode(), secret),
        ("cookie", "curl with a cookie", f'curl -H "Cookie: sid={secret}" https://example.org', secret),
        ("signature", "Azure SAS", sas, signature),
        (
            "signature",
            "Amazon signature",
            f"https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature={amazon}",
            amazon,
        ),
        (
            "password",
            "Azure connection",
            f"AccountName=x;AccountKey={account};EndpointSuffix=core.windows.net",
            account,
        ),
        ("password", "SQL Server connection", f"Server=db;User Id=sa;Pwd={secret};Encrypt=true", secret),
        ("password", "mysql -p", f"mysql -u root -p{secret} shop", secret),
        ("password", "sshpass -p", f"sshpass -p {secret} ssh ada@example.org", secret),
        ("password", "docker login -p", f"docker login -u ada -p {secret} registry.example.org", secret),
        ("password", "redis-cli -a", f"redis-cli -h cache -a {secret} ping", secret),
        ("password", "netrc", f"machine example.org login ada password {secret}", secret),
        ("password", "pgpass", f"db.example.org:5432:shop:ada:{secret}\n", secret),
        ("password", "npmrc", f"//npm.example/:_authToken={secret}", secret),
        ("password", "npmrc, password", f"//registry.example.org/:_password={account}", account),
        (
            "password",
            "Docker config",
            dumps({"auths": {"https://index.docker.io/v1/": {"auth": basic}}}).decode(),
            basic,
        ),
        ("password", "kubeconfig", f"users:\n- name: ada\n  user:\n    token: {secret}\n", secret),
        ("password", "environment of a container", f'{{"name": "API_TOKEN", "value": "{secret}"}}', secret),
        ("password", "environment in code", f'os.environ["API_TOKEN"] = "{secret}"', secret),
        ("password", "a sentence", f"The password is {secret}.", secret),
        ("password", "a word", 'password = "swordfish"', "swordfish"),
        ("password", "a word in the environment", "export DB_PASS=swordfish\n", "swordfish"),
        ("password", "a password of signs", "DB_PASSWORD=p@ss(w)0rd!x;y\n", "p@ss(w)0rd!x;y"),
        (
            "password",
            "a passphrase with spaces",
            '{"passphrase": "correct horse battery"}',
            "correct horse battery",
        ),
        ("password-hash", "bcrypt", f"ada:{bcrypt}", bcrypt),
        ("password-hash", "shadow", f"root:{crypt}:19000:0:99999:7:::", crypt),
        ("password-hash", "Argon2", f"hash {argon}", argon),
        ("chat-token", "Discord bot", f"client.login('{discord}')", discord),
        ("private-key", "PGP", pgp, pgp),
    )
    for label in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        pem = f"-----BEGIN {label}PRIVATE KEY-----\n{body}\n-----END {label}PRIVATE KEY-----"
        yield "private-key", f"PEM {label}", f"{pem}\n", pem
        yield "private-key", f"PEM {label}in JSON", dumps({"private_key": pem}).decode(), pem


def plant_secrets(seed: int = 1) -> Iterator[Planted]:
    """Return every secret in every context."""
    rng = random.Random(seed)
    for token in TOKEN_FORMATS:
        for prefix in token.prefixes:
            expression = token._replace(prefixes=(prefix,)).expression
            for context, write in CONTEXTS.items():
                whole = from_pattern(expression, rng)
                match = re.fullmatch(expression, whole)
                secret = match["secret"] if match and "secret" in match.groupdict() else whole
                yield Planted(token.kind, f"{token.service} {prefix}", context, write(whole), secret)
    for name in NAMES:
        for context, write_named in NAMED_CONTEXTS.items():
            secret = word(rng)
            yield Planted("password", name, context, write_named(name, secret), secret)
    for kind, source, text, secret in _structures(rng):
        yield Planted(kind, source, "plain", text, secret)


# Encodings


def _middle(text: str, secret: str, between: str) -> str:
    place = text.find(secret)
    if place < 0:
        return text
    place += len(secret) // 2
    return text[:place] + between + text[place:]


DISGUISES: Mapping[str, Callable[[str, str], str]] = {
    "plain": lambda text, secret: text,
    "percent-encoded": lambda text, secret: quote(text, safe=""),
    "every character percent-encoded": lambda text, secret: "".join(f"%{byte:02X}" for byte in text.encode()),
    "escaped in JSON": lambda text, secret: dumps(text).decode(),
    "escaped twice": lambda text, secret: dumps(dumps(text).decode()).decode(),
    "colours": lambda text, secret: _middle(text, secret, "\x1b[0m\x1b[1;31m"),
    "escaped colours": lambda text, secret: _middle(dumps(text).decode(), secret, "\\u001b[32m"),
    "zero width": lambda text, secret: _middle(text, secret, "\u200b"),
    "control characters": lambda text, secret: _middle(text, secret, "\x00"),
    "HTML": lambda text, secret: text.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#39;"),
}
