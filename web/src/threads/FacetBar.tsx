import { ChevronDown, Pin, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import type { Facets, FacetValue } from "../api/threads";
import { compact, count } from "../ui/format";
import { Menu, type MenuItem } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import styles from "./FacetBar.module.css";
import { chips, DATE_RANGES, type DateRange, type Filters, without } from "./filters";
import { shortProject } from "./rows";

interface Props {
  readonly filters: Filters;
  readonly facets: Facets | undefined;
  readonly onChange: (filters: Filters) => void;
}

type Name = "agent" | "project" | "model" | "tool" | "date";

const MENUS: readonly { readonly name: Name; readonly label: string }[] = [
  { name: "agent", label: "Agent" },
  { name: "project", label: "Project" },
  { name: "model", label: "Model" },
  { name: "tool", label: "Tool" },
  { name: "date", label: "Date" },
];

/** The filters of the list with the number of threads per value, and the active filters. */
export function FacetBar({ filters, facets, onChange }: Props) {
  const [open, setOpen] = useState<{ readonly name: Name; readonly anchor: HTMLElement } | null>(null);
  const active = chips(filters);
  const toggles = [
    { name: "errors", label: "Errors", title: "With errors (e)", icon: TriangleAlert },
    { name: "pinned", label: "Pinned", title: "Pinned", icon: Pin },
  ] as const;
  return (
    <div className={styles.bar}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className={styles.menus} role="group" aria-label="Filters">
        {MENUS.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            className={styles.facet}
            data-active={filters[name] !== undefined}
            aria-haspopup="menu"
            aria-expanded={open?.name === name}
            onClick={(event) => {
              const anchor = event.currentTarget;
              setOpen((was) => (was?.name === name ? null : { name, anchor }));
            }}
          >
            {label}
            <ChevronDown size={12} aria-hidden />
          </button>
        ))}
        {toggles.map(({ name, label, title, icon: Icon }) => (
          <button
            key={name}
            type="button"
            className={styles.facet}
            title={title}
            aria-pressed={filters[name] === true}
            data-active={filters[name] === true}
            onClick={() => onChange(filters[name] ? without(filters, [name]) : { ...filters, [name]: true })}
          >
            <Icon size={12} aria-hidden />
            {label}
            {facets && <span className={styles.count}>{compact(facets[name])}</span>}
          </button>
        ))}
      </div>
      {active.length > 0 && (
        <ul className={styles.chips} aria-label="Active filters">
          {active.map(({ names, text }) => (
            <li key={text}>
              <button type="button" className={styles.chip} onClick={() => onChange(without(filters, names))}>
                <span className={styles.text}>{visible(text)}</span>
                <X size={12} aria-hidden />
                <span className="visually-hidden">: remove this filter</span>
              </button>
            </li>
          ))}
          {active.length > 1 && (
            <li>
              <button type="button" className={styles.clear} onClick={() => onChange({})}>
                Clear all
              </button>
            </li>
          )}
        </ul>
      )}
      {open && (
        <Menu
          label={MENUS.find((one) => one.name === open.name)?.label ?? ""}
          anchor={open.anchor}
          onClose={() => setOpen(null)}
          items={menuItems(open.name, filters, facets, onChange)}
        />
      )}
    </div>
  );
}

function menuItems(
  name: Name,
  filters: Filters,
  facets: Facets | undefined,
  onChange: (filters: Filters) => void,
): readonly MenuItem[] {
  const own: readonly (keyof Filters)[] = name === "date" ? ["date", "since", "until"] : [name];
  const rest = without(filters, own);
  const isUnset = own.every((one) => filters[one] === undefined);
  const any: MenuItem = { label: "Any", chosen: isUnset, run: () => onChange(rest) };
  const more = facets && !facets.complete ? "+" : "";
  const values = name === "date" ? dateRanges(facets) : facetValues(name, facets, filters[name]);
  return [
    any,
    ...values.map(({ value, threads }) => ({
      label: <bdi title={value}>{labelOf(name, value)}</bdi>,
      count: threads === 0 ? undefined : `${count(threads)}${more}`,
      chosen: filters[name] === value,
      run: () => onChange({ ...rest, [name]: value }),
    })),
  ];
}

function labelOf(name: Name, value: string): string {
  if (name === "date") return DATE_RANGES[value as DateRange];
  return visible(name === "project" ? shortProject(value) : value);
}

function facetValues(
  name: Exclude<Name, "date">,
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
