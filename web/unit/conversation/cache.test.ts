// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OutlineRow } from "../../src/api/messages";
import { MessageCache } from "../../src/conversation/cache";
import { outlineRow } from "./outlineRow";

const row = (id: string, version = 1): OutlineRow => outlineRow(id, { version });
const messages = (...ids: readonly string[]) => ({
  items: ids.map((id) => ({ id, role: "user", type: "text", content: { format: 2, parts: [] } })),
});
const failed = () => Response.json({ detail: "The store is locked." }, { status: 503 });

describe("a failed load of messages", () => {
  const respond = vi.fn<() => Response>();
  beforeEach(() => {
    respond.mockReset();
    vi.stubGlobal("fetch", () => Promise.resolve(respond()));
  });
  afterEach(() => vi.unstubAllGlobals());

  it("is kept as the error of its messages, and reported to listeners", async () => {
    const cache = new MessageCache("t");
    const listener = vi.fn();
    cache.subscribe(listener);
    respond.mockImplementation(failed);
    await cache.load([row("m1"), row("m2")]);
    expect(cache.failure("m1")).toMatchObject({ status: 503, message: "The store is locked." });
    expect(cache.failure("m2")).toBe(cache.failure("m1"));
    expect(cache.failure("m3")).toBeUndefined();
    expect(listener).toHaveBeenCalledOnce();
  });

  it("is requested again by the next load, which clears the error", async () => {
    const cache = new MessageCache("t");
    respond.mockImplementationOnce(failed).mockImplementation(() => Response.json(messages("m1")));
    await cache.load([row("m1")]);
    await cache.load([row("m1")]);
    expect(cache.get("m1")).toMatchObject({ id: "m1" });
    expect(cache.failure("m1")).toBeUndefined();
  });

  it("keeps the cached version of a message", async () => {
    const cache = new MessageCache("t");
    respond.mockImplementationOnce(() => Response.json(messages("m1"))).mockImplementation(failed);
    await cache.load([row("m1")]);
    await cache.load([row("m1", 2)]);
    expect(cache.get("m1")).toMatchObject({ id: "m1" });
    expect(cache.failure("m1")).toBeUndefined();
  });
});
