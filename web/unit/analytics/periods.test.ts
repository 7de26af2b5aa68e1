import { describe, expect, it } from "vitest";
import {
  daysBetween,
  defaultStep,
  following,
  formatDay,
  longName,
  midnightOf,
  nameOf,
  periodSpan,
  periodsIn,
  previous,
  shortName,
  spanOf,
} from "../../src/analytics/periods";

const NOW = new Date(2026, 2, 18, 15, 30); // a Wednesday
const days = (since?: Date, until?: Date) => [since && formatDay(since), until && formatDay(until)];

describe("the selected range", () => {
  it.each([
    ["", "2026-02-17", undefined],
    ["range=7d", "2026-03-12", undefined],
    ["range=all", undefined, undefined],
    ["range=nonsense", undefined, undefined],
    ["from=2026-01-01&to=2026-01-31", "2026-01-01", "2026-02-01"],
    ["from=2026-01-01", "2026-01-01", undefined],
    ["to=2026-01-31", undefined, "2026-02-01"],
    ["from=2026-02-30", "2026-02-17", undefined],
  ])("%s", (query, since, until) => {
    const span = spanOf(new URLSearchParams(query), NOW);
    expect(days(span.since, span.until)).toEqual([since, until]);
  });

  it("is preceded by a range of equal length", () => {
    const week = previous(spanOf(new URLSearchParams("range=7d"), NOW), NOW);
    expect(days(week?.since, week?.until)).toEqual(["2026-03-05", "2026-03-12"]);
    const january = previous(spanOf(new URLSearchParams("from=2026-01-01&to=2026-01-31"), NOW), NOW);
    expect(days(january?.since, january?.until)).toEqual(["2025-12-01", "2026-01-01"]);
    expect(previous({}, NOW)).toBeUndefined();
  });

  it.each([
    ["range=30d", "day"],
    ["range=90d", "week"],
    ["range=365d", "month"],
    ["range=all", "week"],
  ])("%s is grouped by %s", (query, step) => {
    expect(defaultStep(spanOf(new URLSearchParams(query), NOW), NOW)).toBe(step);
  });
});

describe("periods", () => {
  it("have the names of the server", () => {
    expect(nameOf("day", NOW)).toBe("2026-03-18");
    expect(nameOf("week", NOW)).toBe("2026-03-16");
    expect(nameOf("week", new Date(2026, 2, 22))).toBe("2026-03-16"); // a Sunday
    expect(nameOf("month", NOW)).toBe("2026-03");
  });

  it("follow one another", () => {
    expect(following("day", "2026-02-28")).toBe("2026-03-01");
    expect(following("week", "2026-12-28")).toBe("2027-01-04");
    expect(following("month", "2026-12")).toBe("2027-01");
  });

  it("have no gaps", () => {
    const span = spanOf(new URLSearchParams("from=2026-03-01&to=2026-03-04"), NOW);
    expect(periodsIn("day", span, [], NOW)).toEqual(["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]);
    expect(periodsIn("month", {}, ["2026-03", "2026-01"], NOW)).toEqual(["2026-01", "2026-02", "2026-03"]);
    expect(periodsIn("day", {}, [], NOW)).toEqual([]);
  });

  it("end with the range", () => {
    const span = spanOf(new URLSearchParams("from=2026-03-04&to=2026-03-10"), NOW);
    const first = periodSpan("week", "2026-03-02", span);
    expect(days(first.since, first.until)).toEqual(["2026-03-04", "2026-03-09"]);
    const last = periodSpan("week", "2026-03-09", span);
    expect(days(last.since, last.until)).toEqual(["2026-03-09", "2026-03-11"]);
  });

  it("have labels", () => {
    expect(shortName("day", "2026-03-04")).toBe("4 Mar");
    expect(longName("week", "2026-03-02")).toBe("week of 2 Mar 2026");
    expect(longName("month", "2026-03")).toBe("Mar 2026");
    expect(longName("day", "nonsense")).toBe("nonsense");
  });

  it("are counted in days, not hours", () => {
    const [first, second] = [midnightOf("2026-03-28"), midnightOf("2026-03-30")];
    expect(first && second && daysBetween(first, second)).toBe(2);
  });
});
