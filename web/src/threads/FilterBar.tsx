import { ArrowDownWideNarrow, ChevronDown, X } from "lucide-react";
import { useState } from "react";
import type { Facets } from "../api/threads";
import { Menu } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import styles from "./FilterBar.module.css";
import { filterMenu, MENUS, type MenuName, moreMenu } from "./filterMenus";
import { chips, cleared, type Filters, without } from "./filters";
import { SORTS, type Sort } from "./sorts";

interface Props {
  readonly filters: Filters;
  readonly facets: Facets | undefined;
  readonly onChange: (filters: Filters) => void;
  /** Whether the list is sorted: results of a search are in the order of their quality. */
  readonly hasSort: boolean;
}

type Open = MenuName | "sort" | "more";

/** The menus that are always visible. The others are under More. */
const FIRST: readonly MenuName[] = ["project", "agent"];

/** The order and the filters of the list on one line, and the active filters below. */
export function FilterBar({ filters, facets, onChange, hasSort }: Props) {
  const [open, setOpen] = useState<{ readonly name: Open; readonly anchor: HTMLElement } | null>(null);
  const active = chips(filters);
  const sort = filters.sort ?? "newest";
  const inMore = open !== null && open.name !== "sort" && !FIRST.includes(open.name as MenuName);
  const button = (name: Open, label: string, isActive: boolean) => ({
    type: "button" as const,
    className: styles.menu,
    "data-active": isActive,
    "aria-haspopup": "menu" as const,
    "aria-expanded": open?.name === name || (name === "more" && inMore),
    onClick: ({ currentTarget }: { currentTarget: HTMLElement }) =>
      setOpen((was) => (was ? null : { name, anchor: currentTarget })),
    children: (
      <>
        <span className={styles.label}>{label}</span>
        <ChevronDown size={12} aria-hidden />
      </>
    ),
  });
  return (
    <div className={styles.bar}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className={styles.line} role="group" aria-label="Order and filters">
        {hasSort && (
          <button {...button("sort", SORTS[sort], sort !== "newest")} aria-label={`Sort: ${SORTS[sort]}`}>
            <ArrowDownWideNarrow size={13} aria-hidden />
            <span className={styles.label}>{SORTS[sort]}</span>
          </button>
        )}
        {FIRST.map((name) => (
          <button key={name} {...button(name, MENUS[name], filters[name] !== undefined)} />
        ))}
        <button
          {...button(
            "more",
            "More",
            active.some(({ names }) => !isFirst(names)),
          )}
        />
      </div>
      {active.length > 0 && (
        <ul className={styles.chips} aria-label="Active filters">
          {active.map(({ names, text, title }) => (
            <li key={text}>
              <button
                type="button"
                className={styles.chip}
                title={title && visible(title)}
                onClick={() => onChange(without(filters, names))}
              >
                <bdi className={styles.text}>{visible(text)}</bdi>
                <X size={12} aria-hidden />
                <span className="visually-hidden">: remove this filter</span>
              </button>
            </li>
          ))}
          <li>
            <button type="button" className={styles.clear} onClick={() => onChange(cleared(filters))}>
              Clear
            </button>
          </li>
        </ul>
      )}
      {open && (
        <Menu
          key={open.name}
          label={open.name === "sort" ? "Sort" : open.name === "more" ? "More filters" : MENUS[open.name]}
          anchor={open.anchor}
          onClose={() => setOpen(null)}
          items={
            open.name === "sort"
              ? sortMenu(filters, onChange)
              : open.name === "more"
                ? moreMenu(filters, facets, onChange, (name) => setOpen({ name, anchor: open.anchor }))
                : filterMenu(open.name, filters, facets, onChange)
          }
        />
      )}
    </div>
  );
}

const isFirst = (names: readonly (keyof Filters)[]): boolean =>
  names.every((name) => (FIRST as readonly string[]).includes(name));

const sortMenu = (filters: Filters, onChange: (filters: Filters) => void) =>
  (Object.keys(SORTS) as Sort[]).map((sort) => ({
    label: SORTS[sort],
    chosen: (filters.sort ?? "newest") === sort,
    run: () => onChange({ ...without(filters, ["sort"]), ...(sort === "newest" ? {} : { sort }) }),
  }));
