import { describe, expect, it } from "vitest";
import { fallsIn, ownPoints, thinned } from "../../src/analytics/growth";
import { changeOf } from "../../src/analytics/Headline";
import { share } from "../../src/analytics/names";
import { changed, shownBy, toThreads } from "../../src/analytics/place";
import { sort } from "../../src/analytics/Table";

const NOW = new Date(2026, 2, 18, 15, 30);

describe("the address", () => {
  it("says what is shown", () => {
    const shown = shownBy(
      new URLSearchParams("range=7d&agent=codex&step=month&split=project&thread=t1"),
      NOW,
    );
    expect(shown).toMatchObject({ step: "month", split: "project", thread: "t1" });
    expect(shown.filters).toEqual({
      since: new Date(2026, 2, 12).toISOString(),
      until: undefined,
      agent: "codex",
      project: undefined,
      model: undefined,
    });
    expect(shown.before?.until).toBe(shown.filters.since);
    expect(shown.before?.agent).toBe("codex");
  });

  it("that says nonsense shows what is usual", () => {
    const shown = shownBy(new URLSearchParams("step=hour&split=colour"), NOW);
    expect(shown).toMatchObject({ step: "day", split: "model" });
  });

  it("changes in one thing", () => {
    const query = new URLSearchParams("range=7d&agent=a");
    expect(changed(query, { agent: null, project: "/x y" })).toBe("#/analytics?range=7d&project=%2Fx+y");
  });
});

describe("the threads behind a number", () => {
  it("are named where they are few", () => {
    expect(toThreads({ agent: "a", ids: ["t1", "t2"] })).toBe("#/?ids=t1%2Ct2");
    expect(toThreads({ ids: ["t1"], errors: true })).toBe("#/?ids=t1&errors=1");
  });

  it("are those of the filters where they are many, or cannot be listed", () => {
    expect(toThreads({ agent: "a", tool: "Read", errors: true })).toBe("#/?agent=a&tool=Read&errors=1");
    expect(toThreads({ agent: "a", ids: ["one,two"] })).toBe("#/?agent=a");
  });
});

it.each([
  [5, 5, "same"],
  [5, 0, "new"],
  [15, 10, "+50%"],
  [0, 10, "−100%"],
])("%d after %d is %s", (now, before, expected) => {
  expect(changeOf(now, before)).toBe(expected);
});

it.each([
  [0, 0, "0%"],
  [1, 1000, "<1%"],
  [1, 3, "33%"],
])("%d of %d is %s", (part, whole, expected) => {
  expect(share(part, whole)).toBe(expected);
});

describe("growth", () => {
  const points = (...tokens: number[]) => tokens.map((inputTokens) => ({ inputTokens }));

  it("falls where much is gone at once", () => {
    expect(fallsIn(points(1000, 50_000, 90_000, 20_000, 30_000, 29_000))).toEqual([3]);
    expect(fallsIn(points(1000, 100))).toEqual([]);
    expect(fallsIn([])).toEqual([]);
  });

  it("is that of the session itself", () => {
    const own = { seq: 1, inputTokens: 1 } as never;
    const inner = { inputTokens: 2 } as never;
    expect(ownPoints([own, inner])).toEqual([own]);
    expect(ownPoints([inner])).toEqual([inner]);
  });

  it("has points that can be reached, however long it is", () => {
    const chosen = thinned(10_000, 100, [77]);
    expect(chosen.size).toBe(102);
    expect([0, 77, 9999].every((index) => chosen.has(index))).toBe(true);
    expect(thinned(0, 100).size).toBe(0);
  });
});

it("sorts what is unknown last, up or down", () => {
  const columns = [{ label: "n", value: (row: { n?: number }) => row.n }];
  const rows = [{ n: 2 }, {}, { n: 3 }];
  expect(sort(rows, columns, { column: 0, down: true })).toEqual([{ n: 3 }, { n: 2 }, {}]);
  expect(sort(rows, columns, { column: 0, down: false })).toEqual([{ n: 2 }, { n: 3 }, {}]);
  expect(sort(rows, columns, null)).toEqual(rows);
});
