"""Values that are not secrets stay: ids, hashes, images, signatures, code, and public recordings."""

import base64
import random
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from partita.errors import DecodeError
from partita.formats.redaction.kinds import WANTED
from partita.formats.redaction.redactor import Rules
from partita.formats.redaction.values import redact
from partita.types.json import Json, loads
from tests.tables import each_row

FIXTURES = Path(__file__).parents[2] / "fixtures"
RNG = random.Random(5)
HEX = [RNG.randbytes(size).hex() for size in (4, 16, 20, 32, 64)]
IDS = [str(UUID(int=RNG.getrandbits(128))) for _ in range(3)]
SIGNATURE = base64.b64encode(RNG.randbytes(3000)).decode()


def recordings() -> Iterator[tuple[str, Json]]:
    for path in sorted(FIXTURES.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".txt", ".sse", ".md"):
            text = path.read_text()
            try:
                yield path.name, loads(text)
            except DecodeError:
                yield path.name, text


def test_nothing_is_found_in_the_public_recordings() -> None:
    names = []
    for name, value in recordings():
        names.append(name)
        now = redact(value)
        assert not now.findings, (name, now.findings)
        assert now.value == value
    assert len(names) > 20


@each_row(
    "text",
    [
        *(f"commit {one}" for one in HEX),
        *(f"sha256:{one} key {one} id={one}" for one in HEX),
        *(f"request {one}, session_id: {one}" for one in IDS),
        "toolu_01A09q90qw90lq917835lq9 call_2hGQ8yK4mN7pR1sT5vX9zB3d msg_013Zva2CMHLNnXjNJJKqJ2EF",
        "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
        "rs_0a1b2c3d chatcmpl-BzQ8yK4mN7pR1sT5vX9zB3dF1hJ",
        "gen_ai.usage.input_tokens=1200 max_tokens=4096 token_type=bearer tokenizer: o200k_base",
        "next_page_token=CAUQAA8kdjs92 continuation_token: abc123def456",
        "primary_key=user_id2 cache_key: v2-abc123def456 public_key=ssh-ed25519-AAAAC3NzaC1lZDI1NTE5",
        "PWD=/home/ada/garden OLDPWD=/srv/www",
        'api_key=os.environ["API_KEY"] token = get_token(user1) password=settings.db_password2',
        "password: str | None = None\n    token: SecretStr\n    api_key: Optional[str] = None",
        "def login(password: str, token: str) -> None: pass",
        'const token = useToken(); headers["X-Api-Key"] = apiKey;',
        "https://example.org:8080/a@b?key=value&token=abc http://[::1]:3000/",
        "mkdir -p build/x1 && docker run -u 1000:1000 -p 8080:80 image && ssh -p 2222 host",
        "curl -u $USER:$TOKEN https://example.org; PASSWORD=${PASSWORD} TOKEN=$(cat token.txt)",
        "Bearer authentication, Basic authorization and Cookie: settings; Authorization: required",
        "the secret: nothing; the key: simple; pass: yes; auth: none; a password is needed here",
        "<password>string</password> password=**** token=xxxxxxxx secret=<your-secret> api_key=YOUR_API_KEY",
        "import { sk-spinner-circle } from 'task-list-of-all-the-things'; .sk-loading-indicator-small",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 ada@example.org",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "v1.0-beta-20260302 s.length r8 hf_model npm_config_cache pypi-server key-value",
    ],
)
def test_ids_hashes_and_code_stay(text: str) -> None:
    assert redact(text).value == text


@each_row(
    "value",
    [
        {"pwd": "/home/ada/garden", "cwd": "/srv", "old_pwd": "/x"},
        {"pwd": "C:\\Users\\ada", "hook_event_name": "Stop"},
        {"token": "Hel", "logprob": -0.1, "bytes": [72, 101]},
        {"token": " password", "top_logprobs": [{"token": "lowercase", "logprob": -1}]},
        {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
        {"type": "reasoning", "encrypted_content": "gAAAAAB" + SIGNATURE.replace("+", "-").replace("/", "_")},
        {"inlineData": {"mimeType": "image/png", "data": SIGNATURE}},
        {"type": "base64", "media_type": "application/pdf", "data": SIGNATURE},
        {"input_audio": {"format": "wav", "data": SIGNATURE}},
        {"usage": {"input_tokens": 10, "token": 12}, "password": None, "api_key": True, "pin": 123456},
        {"properties": {"password": {"type": "string"}, "api_key": {"description": "The key of the API."}}},
        {"required": ["password", "token"], "name": "token", "value": "yes"},
    ],
)
def test_members_that_are_not_secrets_stay(value: Json) -> None:
    assert redact(value).value == value


def picture(size: int, media_type: str) -> str:
    """Return a data URL whose content contains lookalikes of secrets."""
    data = (
        RNG.randbytes(size)
        + base64.b64decode("/AKIAIOSFODNN7EXAMPLE/password/token/AAA")
        + RNG.randbytes(size)
    )
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


@each_row(
    "media_type", ["image/png", "image/jpeg", "audio/wav", "video/mp4", "application/pdf", "font/woff2"]
)
def test_images_and_other_binary_files_stay(media_type: str) -> None:
    url = picture(3000, media_type)
    secret = "hunter2x9Z"
    body = url.partition(",")[2]
    for text in (url, f"![a]({url})", f'<img src="{url}">', f'{{"url": "{url}"}}'):
        assert redact(text).value == text
        assert redact([text, {"password": body[40:60]}]).value[0] == text
        now = redact(f"{text} password={secret}").value
        assert now == f"{text} password=[redacted: password 1]"


def test_text_in_a_data_url_is_searched() -> None:
    body = base64.b64encode(b"api_key = 'x9Zq77endK'").decode()
    now = redact(f"see data:text/plain;base64,{body} there").value
    decoded = base64.b64decode(now.split(",")[1].split(" ")[0]).decode()
    assert decoded == "api_key = '[redacted: password 1]'"
    assert now.endswith(" there")


HOMES = {
    "a path": ("/home/ada-lovelace/x", "/home/USER/x"),
    "elsewhere": ("/home/ada/x /data/ada/y /data/adam/z ada", "/home/USER/x /data/USER/y /data/adam/z ada"),
    "Windows": (r"C:\Users\nora\x and D:\backup\nora\y", r"C:\Users\USER\x and D:\backup\USER\y"),
    "spaces": (r"C:\Users\Ada Lovelace\x", r"C:\Users\USER\x"),
    "escaped": (r'"C:\\Users\\ada\\x"', r'"C:\\Users\\USER\\x"'),
    "other letters": ("/Users/zoë/Music", "/Users/USER/Music"),
    "a project folder": (
        "/home/ada-lovelace/g -home-ada-lovelace-garden",
        "/home/USER/g -home-USER-garden",
    ),
    "a single project folder": ("-Users-ada-garden", "-Users-USER-garden"),
    "a URL": ("file:///home/ada/x?p=%2Fhome%2Fada%2Fy", "file:///home/USER/x?p=%2Fhome%2FUSER%2Fy"),
    "the end of a sentence": ("It is in /home/ada.", "It is in /home/USER."),
    "shared folders": ("/Users/Shared/x /home/runner/work", "/Users/Shared/x /home/runner/work"),
}


@each_row(("text", "plain"), HOMES.values(), ids=HOMES)
def test_user_names_in_paths_are_replaced_on_request(text: str, plain: str) -> None:
    assert redact(text, Rules(WANTED | {"home"})).value == plain.replace("USER", "[redacted: user 1]")
    assert redact(text).value == text
