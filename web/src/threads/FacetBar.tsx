import { ChevronDown, Pin, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import type { Facets, FacetValue } from "../api/threads";
import { compact, count } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./FacetBar.module.css";
import { chips, type Filters, STRETCHES, type Stretch, without } from "./filters";
import { type Choice, Menu } from "./Menu";
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

/** What the list can be narrowed by, with how many threads each choice leaves, and what narrows it now. */
export function FacetBar({ filters, facets, onChange }: Props) {
  const [open, setOpen] = useState<{ readonly name: Name; readonly at: HTMLElement } | null>(null);
  const active = chips(filters);
  const toggles = [
    { name: "errors", label: "Errors", title: "With errors (e)", icon: TriangleAlert },
    { name: "pinned", label: "Pinned", title: "Pinned", icon: Pin },
  ] as const;
  return (
    <div className={styles.bar}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is sent together */}
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
              const at = event.currentTarget;
              setOpen((was) => (was?.name === name ? null : { name, at }));
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
                <span className="visually-hidden">: take this filter away</span>
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
          at={open.at}
          onClose={() => setOpen(null)}
          choices={choicesOf(open.name, filters, facets, onChange)}
        />
      )}
    </div>
  );
}

function choicesOf(
  name: Name,
  filters: Filters,
  facets: Facets | undefined,
  onChange: (filters: Filters) => void,
): readonly Choice[] {
  const own: readonly (keyof Filters)[] = name === "date" ? ["date", "since", "until"] : [name];
  const rest = without(filters, own);
  const isFree = own.every((one) => filters[one] === undefined);
  const any: Choice = { label: "Any", chosen: isFree, run: () => onChange(rest) };
  const more = facets && !facets.complete ? "+" : "";
  const found = name === "date" ? stretches(facets) : values(name, facets, filters[name]);
  return [
    any,
    ...found.map(({ value, threads }) => ({
      label: <bdi title={value}>{labelOf(name, value)}</bdi>,
      count: threads === 0 ? undefined : `${count(threads)}${more}`,
      chosen: filters[name] === value,
      run: () => onChange({ ...rest, [name]: value }),
    })),
  ];
}

function labelOf(name: Name, value: string): string {
  if (name === "date") return STRETCHES[value as Stretch];
  return visible(name === "project" ? shortProject(value) : value);
}

function values(
  name: Exclude<Name, "date">,
  facets: Facets | undefined,
  chosen?: string,
): readonly FacetValue[] {
  const known = facets?.[`${name}s`] ?? [];
  const isMissing = chosen !== undefined && !known.some(({ value }) => value === chosen);
  return isMissing ? [{ value: chosen, threads: 0 }, ...known] : known;
}

/** The server counts each stretch without the one before; what one chooses holds both. */
function stretches(facets: Facets | undefined): readonly FacetValue[] {
  const { today = 0, week = 0, month = 0, older = 0 } = facets?.dates ?? {};
  const counts: Record<Stretch, number> = { today, week: today + week, month: today + week + month, older };
  return (Object.keys(STRETCHES) as Stretch[]).map((value) => ({ value, threads: counts[value] }));
}
