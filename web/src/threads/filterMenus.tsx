/** The menus of the filters, with the number of sessions of each value. */
import { ChevronRight, LoaderCircle, Pin, TriangleAlert } from "lucide-react";
import type { Facets, FacetValue } from "../api/threads";
import { agentName } from "../ui/AgentMark";
import { count } from "../ui/format";
import type { MenuItem } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import { DATE_RANGES, type DateRange, type Filters, without } from "./filters";
import { shortProject } from "./rows";

export type MenuName = "project" | "agent" | "model" | "tool" | "tag" | "date";

export const MENUS: Readonly<Record<MenuName, string>> = {
  project: "Project",
  agent: "Agent",
  model: "Model",
  tool: "Tool",
  tag: "Tag",
  date: "Date",
};

const IN_MORE: readonly MenuName[] = ["model", "tool", "tag", "date"];
const TOGGLES = [
  { name: "errors", label: "Errors", icon: TriangleAlert },
  { name: "running", label: "Running", icon: LoaderCircle },
  { name: "pinned", label: "Pinned", icon: Pin },
] as const;

type OnChange = (filters: Filters) => void;

/** The filters that are not on the line: those with a menu of their own, and the switches. */
export const moreMenu = (
  filters: Filters,
  facets: Facets | undefined,
  onChange: OnChange,
  onOpen: (name: MenuName) => void,
): readonly MenuItem[] => [
  ...IN_MORE.map((name) => ({
    label: `${MENUS[name]} …`,
    icon: <ChevronRight size={14} />,
    run: () => onOpen(name),
  })),
  ...TOGGLES.map(({ name, label, icon: Icon }) => ({
    label,
    icon: <Icon size={14} />,
    count: facets ? numberOf(facets[name], facets) : undefined,
    checked: filters[name] === true,
    run: () => onChange(filters[name] ? without(filters, [name]) : { ...filters, [name]: true }),
  })),
];

/** The values of a filter. */
export function filterMenu(
  name: MenuName,
  filters: Filters,
  facets: Facets | undefined,
  onChange: OnChange,
): readonly MenuItem[] {
  const own: readonly (keyof Filters)[] = name === "date" ? ["date", "since", "until"] : [name];
  const rest = without(filters, own);
  const isUnset = own.every((one) => filters[one] === undefined);
  const any: MenuItem = { label: "Any", chosen: isUnset, run: () => onChange(rest) };
  const values = name === "date" ? dateRanges(facets) : facetValues(name, facets, filters[name]);
  return [
    any,
    ...values.map(({ value, threads }) => ({
      label: <bdi title={visible(value)}>{labelOf(name, value)}</bdi>,
      count: threads === 0 ? undefined : numberOf(threads, facets),
      chosen: filters[name] === value,
      run: () => onChange({ ...rest, [name]: value }),
    })),
  ];
}

const numberOf = (threads: number, facets: Facets | undefined): string =>
  `${count(threads)}${facets?.complete === false ? "+" : ""}`;

export function labelOf(name: MenuName, value: string): string {
  if (name === "date") return DATE_RANGES[value as DateRange];
  if (name === "agent") return visible(agentName(value));
  return visible(name === "project" ? shortProject(value) : value);
}

function facetValues(
  name: Exclude<MenuName, "date">,
  facets: Facets | undefined,
  chosen?: string,
): readonly FacetValue[] {
  const known = facets?.[`${name}s`] ?? [];
  const isMissing = chosen !== undefined && !known.some(({ value }) => value === chosen);
  return isMissing ? [{ value: chosen, threads: 0 }, ...known] : known;
}

/** The server counts each range without the shorter ones. The choices include them. */
function dateRanges(facets: Facets | undefined): readonly FacetValue[] {
  const { today = 0, week = 0, month = 0, older = 0 } = facets?.dates ?? {};
  const counts: Record<DateRange, number> = { today, week: today + week, month: today + week + month, older };
  return (Object.keys(DATE_RANGES) as DateRange[]).map((value) => ({ value, threads: counts[value] }));
}
