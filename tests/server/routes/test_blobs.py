"""Blobs over HTTP."""

import os
import tracemalloc
from hashlib import sha256

import httpx
import pytest

from partita.server.app import asgi
from partita.server.settings import MEBIBYTE, Limits
from partita.store.store import Store
from tests.server.conftest import client_of, user_in_header
from tests.store.examples import file_message
from tests.tables import each_row

DATA = b"0123456789"
DIGEST = sha256(DATA).hexdigest()
ETAG = f'"{DIGEST}"'
BLOB = f"/api/blobs/{DIGEST}"


@pytest.fixture
async def blob(store: Store) -> None:
    await store.blobs.put(DATA, media_type="image/png")


async def test_bytes_are_stored_under_their_hash(client: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 500
    kept = await client.post("/api/blobs", content=data, headers={"content-type": "audio/ogg; codecs=opus"})
    digest = sha256(data).hexdigest()
    assert kept.status_code == 201
    assert kept.json()["url"] == f"/api/blobs/{digest}"
    assert kept.json()["reference"] == f"blob:sha256:{digest}"
    assert (kept.json()["size"], kept.json()["mediaType"]) == (len(data), "audio/ogg")
    there = await client.get(kept.url.join(kept.headers["location"]))
    assert (there.status_code, there.content) == (200, data)
    assert there.headers["content-type"] == "audio/ogg"
    assert (await client.get(kept.json()["url"])).content == data
    assert (await client.get(f"/api/blobs/{kept.json()['reference']}")).content == data


async def test_bytes_without_a_type_and_empty_blobs_are_stored(client: httpx.AsyncClient) -> None:
    kept = await client.post("/api/blobs", content=b"", headers={"content-type": "text/plain"})
    assert (kept.status_code, kept.json()["size"]) == (201, 0)
    there = await client.get(f"/api/blobs/{kept.json()['reference']}")
    assert (there.status_code, there.content) == (200, b"")
    ranged = await client.get(kept.json()["url"], headers={"range": "bytes=0-"})
    assert (ranged.status_code, ranged.content) == (200, b"")


SHOWN: dict[str | None, tuple[str, bool]] = {
    "image/png": ("image/png", True),
    "IMAGE/JPEG": ("image/jpeg", True),
    "audio/mpeg": ("audio/mpeg", True),
    "video/mp4": ("video/mp4", True),
    "application/pdf": ("application/pdf", True),
    "text/plain": ("text/plain; charset=utf-8", True),
    "text/plain; charset=utf-16": ("text/plain; charset=utf-8", True),
    "text/html": ("text/html; charset=utf-8", False),
    "text/html; x=image/png": ("text/html; charset=utf-8", False),
    "image/svg+xml": ("image/svg+xml", False),
    "application/xhtml+xml": ("application/xhtml+xml", False),
    "text/xml": ("text/xml; charset=utf-8", False),
    "text/javascript": ("text/javascript; charset=utf-8", False),
    "application/json": ("application/json", False),
    "image": ("application/octet-stream", False),
    "image/png\r\nx-evil: 1": ("application/octet-stream", False),
    "image/png, text/html": ("application/octet-stream", False),
    "bïld/png": ("application/octet-stream", False),
    "": ("application/octet-stream", False),
    None: ("application/octet-stream", False),
}


async def test_active_content_is_sent_as_a_download(client: httpx.AsyncClient, store: Store) -> None:
    for given, sent in SHOWN.items():
        digest = sha256(data := repr(given).encode()).hexdigest()
        await store.blobs.put(data, media_type=given)
        reply = await client.get(f"/api/blobs/{digest}")
        disposition = reply.headers["content-disposition"]
        assert (reply.headers["content-type"], disposition == "inline") == sent, given
        assert disposition in ("inline", f'attachment; filename="{digest}"')
        assert reply.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert reply.headers["etag"] == f'"{digest}"'
        assert "x-evil" not in reply.headers


async def test_head_has_the_headers_of_get(client: httpx.AsyncClient, blob: None) -> None:
    same = {"x-request-id": "r1"}
    whole, head_response = await client.get(BLOB, headers=same), await client.head(BLOB, headers=same)
    assert (head_response.status_code, head_response.content) == (200, b"")
    for response in (whole, head_response):
        del response.headers["x-request-id"]  # each response has a different one
    assert head_response.headers == whole.headers
    assert head_response.headers["content-length"] == "10"


RANGES = {
    "bytes=0-3": (206, b"0123", "bytes 0-3/10"),
    "bytes=4-": (206, b"456789", "bytes 4-9/10"),
    "bytes=-3": (206, b"789", "bytes 7-9/10"),
    "bytes=-30": (206, DATA, "bytes 0-9/10"),
    "bytes=9-9": (206, b"9", "bytes 9-9/10"),
    "bytes=5-500": (206, b"56789", "bytes 5-9/10"),
    "bytes=0-999999999999999999": (206, DATA, "bytes 0-9/10"),
    "bytes=10-": (416, None, "bytes */10"),
    "bytes=10-20": (416, None, "bytes */10"),
    "bytes=-0": (416, None, "bytes */10"),
    "bytes=0-1,3-4": (200, DATA, None),  # one range, or the whole blob
    "bytes=3-1": (200, DATA, None),
    "bytes=-": (200, DATA, None),
    "bytes=x-y": (200, DATA, None),
    "lines=0-1": (200, DATA, None),
    f"bytes={'9' * 5000}-": (200, DATA, None),
}


async def test_ranges_are_returned(client: httpx.AsyncClient, blob: None) -> None:
    for requested, (status, data, content_range) in RANGES.items():
        reply = await client.get(BLOB, headers={"range": requested})
        assert (reply.status_code, reply.headers.get("content-range")) == (status, content_range), requested
        if data is not None:
            assert (reply.content, reply.headers["content-length"]) == (data, str(len(data)))


async def test_a_range_of_another_version_is_not_returned(client: httpx.AsyncClient, blob: None) -> None:
    for condition, status in ((ETAG, 206), ('"other"', 200), ("Sun, 01 Mar 2026 12:00:00 GMT", 200)):
        reply = await client.get(BLOB, headers={"range": "bytes=0-1", "if-range": condition})
        assert reply.status_code == status


KNOWN = {ETAG: 304, f"W/{ETAG}": 304, f'"other", {ETAG}': 304, "*": 304, '"other"': 200, DIGEST: 200, "": 200}


@each_row("method", ["GET", "HEAD"])
async def test_a_cached_blob_is_not_sent_again(client: httpx.AsyncClient, blob: None, method: str) -> None:
    for condition, status in KNOWN.items():
        reply = await client.request(method, BLOB, headers={"if-none-match": condition})
        assert reply.status_code == status, condition
        if status == 304:
            assert (reply.content, reply.headers["etag"]) == (b"", ETAG)
            assert "immutable" in reply.headers["cache-control"]


INVALID_DIGESTS = {"0" * 64: 404, "xyz": 400, DIGEST.upper(): 400, f"{DIGEST}0": 400, "%00": 400, "%ff": 400}


async def test_invalid_digests_are_refused(client: httpx.AsyncClient, blob: None) -> None:
    for name, status in INVALID_DIGESTS.items():
        for method in ("GET", "HEAD"):
            assert (await client.request(method, f"/api/blobs/{name}")).status_code == status, name


async def test_a_file_that_was_moved_out_of_a_message_can_be_read(
    client: httpx.AsyncClient, store: Store
) -> None:
    await store.threads.create("t1")
    url = "data:image/webp;base64," + "AAAA" * 10_000
    await store.messages.save([file_message("m1", url)], thread_id="t1")
    message = (await client.get("/api/threads/t1/messages/m1?blobs=reference")).json()
    picture = await client.get(f"/api/blobs/{message['content']['parts'][0]['url']}")
    assert (picture.headers["content-type"], picture.content) == ("image/webp", bytes(30_000))


async def test_blobs_of_other_owners_are_not_found(store: Store) -> None:
    app = asgi(None, store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "ann"}) as ann:
        await ann.post("/api/blobs", content=DATA, headers={"content-type": "image/png"})
        assert (await ann.get(BLOB)).content == DATA
        async with client_of(app, headers={"x-user": "bob"}) as bob:
            for method in ("GET", "HEAD"):
                assert (await bob.request(method, BLOB)).status_code == 404
            assert (await bob.get(BLOB, headers={"if-none-match": "*"})).status_code == 404
            assert (await bob.get(f"{BLOB}?resourceId=ann")).status_code == 403
    async with client_of(asgi(None, store=store)) as admin:
        assert (await admin.get(f"{BLOB}?resourceId=ann")).content == DATA
        assert (await admin.get(f"{BLOB}?resourceId=bob")).status_code == 404


async def test_large_blobs_are_sent_and_received_in_pieces(client: httpx.AsyncClient) -> None:
    data = os.urandom(MEBIBYTE) * 24
    kept = await client.post("/api/blobs", content=data, headers={"content-type": "video/mp4"})
    assert (kept.status_code, kept.json()["url"]) == (201, f"/api/blobs/{sha256(data).hexdigest()}")
    path = kept.json()["url"]
    tracemalloc.start()
    try:
        for first, last in ((0, 9), (len(data) // 2 - 5, len(data) // 2 + 5), (len(data) - 3, len(data) - 1)):
            some = await client.get(path, headers={"range": f"bytes={first}-{last}"})
            assert (some.status_code, some.content) == (206, data[first : last + 1])
        async with client.stream("GET", path, headers={"range": f"bytes=1-{3 * MEBIBYTE}"}) as response:
            assert response.headers["content-length"] == str(3 * MEBIBYTE)
            assert await response.aread() == data[1 : 3 * MEBIBYTE + 1]
        assert (
            tracemalloc.get_traced_memory()[1] < 12 * MEBIBYTE
        )  # this client has the three pieces it received
    finally:
        tracemalloc.stop()


async def test_a_blob_that_is_too_large_is_refused(store: Store) -> None:
    app = asgi(None, store=store, limits=Limits(blob_bytes=1000))
    async with client_of(app) as client:
        refused = await client.post("/api/blobs", content=b"a" * 1001)
        assert (refused.status_code, refused.json()["hint"]) == (413, "at most 1000 bytes")
        assert (await client.post("/api/blobs", content=b"a" * 1000)).status_code == 201
    await app.close()
