import { describe, expect, it } from "vitest";
import { dropsIn, ownPoints, thinned } from "../../src/analytics/growth";
import { share } from "../../src/analytics/labels";
import { hrefWith, selectionOf, toThreads } from "../../src/analytics/selection";
import { sort } from "../../src/analytics/Table";
import { changeOf } from "../../src/analytics/Totals";
import { money } from "../../src/ui/format";

const NOW = new Date(2026, 2, 18, 15, 30);

describe("the address", () => {
  it("selects what is displayed", () => {
    const shown = selectionOf(
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

  it("selects the defaults if it is invalid", () => {
    const shown = selectionOf(new URLSearchParams("step=hour&split=colour"), NOW);
    expect(shown).toMatchObject({ step: "day", split: "model" });
  });

  it("can be changed in one parameter", () => {
    const query = new URLSearchParams("range=7d&agent=a");
    expect(hrefWith(query, { agent: null, project: "/x y" })).toBe("#/analytics?range=7d&project=%2Fx+y");
  });
});

describe("the link to the threads of a number", () => {
  it("lists few threads by id", () => {
    expect(toThreads({ agent: "a", ids: ["t1", "t2"] })).toBe("#/sessions?ids=t1%2Ct2");
    expect(toThreads({ project: "/p", tool: "Read", model: "m", ids: ["t1"] })).toBe(
      "#/sessions?project=%2Fp&tool=Read&ids=t1",
    );
    expect(toThreads({ ids: ["t1"], errors: true })).toBe("#/sessions?ids=t1&errors=1");
  });

  it("uses the filters for many or unlisted threads", () => {
    expect(toThreads({ agent: "a", tool: "Read", errors: true })).toBe(
      "#/sessions?agent=a&tool=Read&errors=1",
    );
    expect(toThreads({ agent: "a", ids: ["one,two"] })).toBe("#/sessions?agent=a");
  });
});

it.each([
  [5, 5, "same"],
  [5, 0, "new"],
  [15, 10, "+50%"],
  [0, 10, "−100%"],
  [99, 10, "+890%"],
  [101, 10, "from $10.00"],
  [2.5, 0.0001, "from $0.0001"],
  [1.001, 1.0011, "same"],
  [0, 0, "same"],
])("the change to %d from %d is %s", (now, before, expected) => {
  expect(changeOf(now, before, money)).toBe(expected);
});

it.each([
  [0, 0, "0%"],
  [1, 1000, "<1%"],
  [1, 3, "33%"],
])("the share %d of %d is %s", (part, whole, expected) => {
  expect(share(part, whole)).toBe(expected);
});

describe("growth", () => {
  const points = (...tokens: number[]) => tokens.map((inputTokens) => ({ inputTokens }));

  it("drops where the context was compacted", () => {
    expect(dropsIn(points(1000, 50_000, 90_000, 20_000, 30_000, 29_000))).toEqual([3]);
    expect(dropsIn(points(1000, 100))).toEqual([]);
    expect(dropsIn([])).toEqual([]);
  });

  it("contains only the thread itself", () => {
    const own = { seq: 1, inputTokens: 1 } as never;
    const inner = { inputTokens: 2 } as never;
    expect(ownPoints([own, inner])).toEqual([own]);
    expect(ownPoints([inner])).toEqual([inner]);
  });

  it("has selectable points, however long it is", () => {
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
