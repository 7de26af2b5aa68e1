import { describe, expect, it } from "vitest";
import { chips, isEmpty, readFilters, toParams, toQuery, without } from "../../src/threads/filters";
import { href, parsePlace } from "../../src/ui/routing";

const NOW = Date.parse("2026-03-10T12:07:00Z");

describe("filters", () => {
  it.each([
    "agent=keeper&project=%2Fhome%2Fada&model=opus&tool=bash",
    "errors=1",
    "pinned=1",
    "running=1&tag=night+shift",
    "sort=cost",
    "date=week",
    "since=2026-01-01&until=2026-02-01",
    "ids=a%2Cb",
    "",
  ])("survive a round trip through the address: %s", (query) => {
    const filters = readFilters(new URLSearchParams(query));
    expect(readFilters(parsePlace(href([], toParams(filters))).query)).toEqual(filters);
  });

  it("ignore unknown parameters", () => {
    expect(readFilters(new URLSearchParams("m=x&date=never&errors=0&agent="))).toEqual({});
    expect(isEmpty({})).toBe(true);
    expect(isEmpty({ sort: "cost" })).toBe(true);
  });

  it.each([
    [{ date: "today" }, "2026-03-09T12:00:00.000Z", undefined],
    [{ date: "older" }, undefined, "2026-02-08T12:00:00.000Z"],
    [{ since: "2026-01-01" }, "2026-01-01", undefined],
  ] as const)("become a date range of the server's query: %o", (filters, since, until) => {
    expect(toQuery(filters, NOW)).toMatchObject({ since, until });
  });

  it("can be removed one by one", () => {
    const filters = { agent: "keeper", errors: true, since: "2026-01-01", until: "2026-02-01" };
    expect(chips(filters).map((chip) => chip.text)).toEqual([
      "agent: keeper",
      "from 2026-01-01 before 2026-02-01",
      "with errors",
    ]);
    expect(without(filters, ["since", "until"])).toEqual({ agent: "keeper", errors: true });
  });
});
