import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { AssistantMessage, Chunk } from "../../src/partita.gen";
import { Reducer } from "../../src/stream/reduce";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "..", "..", "..");

interface RandomStream {
  readonly seed: number;
  readonly chunks: readonly Chunk[];
  readonly snapshots: Readonly<Record<string, AssistantMessage>>;
  readonly message: AssistantMessage;
  readonly errors: readonly string[];
}

function streams(count: number): readonly RandomStream[] {
  const out = execFileSync(join(ROOT, ".venv", "bin", "python"), [join(HERE, "streams.py"), String(count)], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
    encoding: "utf8",
  });
  return out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RandomStream);
}

/** The JSON of a value with sorted keys. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  );

/** The message of chunks that continue a message. */
function reduce(chunks: readonly Chunk[], initial: AssistantMessage | string): AssistantMessage {
  const reducer = new Reducer(initial);
  for (const chunk of chunks) reducer.feed(chunk);
  return reducer.snapshot();
}

describe("the reducer", () => {
  it("agrees with the Python package on 250 random streams", () => {
    const all = streams(250);
    expect(all).toHaveLength(250);
    for (const { seed, chunks, snapshots, message, errors } of all) {
      const reducer = new Reducer("m1");
      chunks.forEach((chunk, number) => {
        reducer.feed(chunk);
        const expected = snapshots[number];
        if (expected)
          expect(canonicalJson(reducer.snapshot()), `stream ${seed}, chunk ${number}`).toBe(
            canonicalJson(expected),
          );
      });
      expect(canonicalJson(reducer.snapshot()), `stream ${seed}`).toBe(canonicalJson(message));
      expect(reducer.errors).toEqual(errors);
    }
  }, 60_000);

  it("continues an input that was streaming", () => {
    const chunks: readonly Chunk[] = [
      { type: "tool-input-start", toolCallId: "c", toolName: "write", title: "Write" },
      { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"path":"a' },
      { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '.py","li' },
      { type: "tool-input-delta", toolCallId: "c", inputTextDelta: 'nes":[1,2' },
    ];
    const whole = reduce(chunks, "m");
    for (let cut = 0; cut <= chunks.length; cut += 1)
      expect(reduce(chunks.slice(cut), reduce(chunks.slice(0, cut), "m"))).toEqual(whole);
    expect(whole.content.parts[0]).toMatchObject({ input: { path: "a.py", lines: [1, 2] } });
  });

  it("returns the same objects for unchanged parts", () => {
    const reducer = new Reducer("m");
    reducer.feed({ type: "text-start", id: "1" });
    reducer.feed({ type: "text-delta", id: "1", delta: "one" });
    reducer.feed({ type: "tool-input-available", toolCallId: "c", toolName: "t", input: {} });
    const before = reducer.snapshot();
    expect(reducer.snapshot()).toBe(before);
    reducer.feed({ type: "child", path: ["c"], chunk: { type: "text-start", id: "x" } });
    const after = reducer.snapshot();
    expect(after).not.toBe(before);
    expect(after.content.parts[0]).toBe(before.content.parts[0]);
    expect(after.content.parts[1]).not.toBe(before.content.parts[1]);
  });

  it("rejects invalid chunks", () => {
    const reducer = new Reducer("m");
    expect(reducer.feed({ type: "text-delta", id: "nowhere", delta: "x" })).toBe(false);
    expect(reducer.feed({ type: "child", path: ["gone"], chunk: { type: "abort" } })).toBe(false);
    expect(reducer.invalid).toHaveLength(2);
    expect(reducer.snapshot().content.parts).toEqual([]);
  });

  it("parses a long input incrementally", () => {
    const reducer = new Reducer("m");
    reducer.feed({ type: "tool-input-start", toolCallId: "c", toolName: "write" });
    reducer.feed({ type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"text":"' });
    for (let piece = 0; piece < 20_000; piece += 1)
      reducer.feed({ type: "tool-input-delta", toolCallId: "c", inputTextDelta: "ten chars " });
    const call = reducer.snapshot().content.parts[0] as { input: { text: string } };
    expect(call.input.text).toHaveLength(200_000);
  });
});
