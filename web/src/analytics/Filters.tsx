import type { Split, StatFilters } from "../api/analytics";
import { shortProject } from "../threads/rows";
import { Button } from "../ui/Button";
import { go } from "../ui/routing";
import styles from "./Filters.module.css";
import { labelOf } from "./labels";
import { formatDay, PRESETS, plusDays } from "./periods";
import { useStats } from "./queries";
import { hrefWith, type Selection } from "./selection";

const KINDS: readonly { kind: Split; label: string; all: string }[] = [
  { kind: "agent", label: "Agent", all: "All agents" },
  { kind: "project", label: "Project", all: "All projects" },
  { kind: "model", label: "Model", all: "All models" },
];

/** The filters by time, agent, project and model. They are kept in the address. */
export function Filters({ selection }: { selection: Selection }) {
  const { query, span } = selection;
  const custom = query.has("from") || query.has("to");
  const set = (changes: Record<string, string | null>) => go(hrefWith(query, changes));
  const isFiltered = custom || KINDS.some(({ kind }) => query.has(kind)) || query.has("range");
  const chooseRange = (value: string) => {
    const since = formatDay(span.since ?? plusDays(new Date(), -29));
    const last = formatDay(span.until ? plusDays(span.until, -1) : new Date());
    if (value === "custom") set({ range: null, from: since, to: last, step: null });
    else set({ range: value, from: null, to: null, step: null });
  };
  return (
    <form className={styles.filters} onSubmit={(event) => event.preventDefault()} aria-label="Filters">
      <label>
        <span className="visually-hidden">Time</span>
        <select
          value={custom ? "custom" : (query.get("range") ?? "30d")}
          onChange={(e) => chooseRange(e.target.value)}
        >
          {PRESETS.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
          <option value="custom">From … to …</option>
        </select>
      </label>
      {custom &&
        (["from", "to"] as const).map((end) => (
          <label key={end}>
            <span className="visually-hidden">{end === "from" ? "From" : "To"}</span>
            <input
              type="date"
              value={query.get(end) ?? ""}
              onChange={(event) => set({ [end]: event.target.value || null, step: null })}
            />
          </label>
        ))}
      {KINDS.map(({ kind, label, all }) => (
        <Select
          key={kind}
          kind={kind}
          label={label}
          all={all}
          value={query.get(kind) ?? ""}
          span={{ since: selection.filters.since, until: selection.filters.until }}
          onChange={(value) => set({ [kind]: value || null })}
        />
      ))}
      {isFiltered && (
        <Button
          kind="quiet"
          small
          onClick={() =>
            set({ range: null, from: null, to: null, agent: null, project: null, model: null, step: null })
          }
        >
          Reset
        </Button>
      )}
    </form>
  );
}

interface SelectProps {
  readonly kind: Split;
  readonly label: string;
  /** The text of the choice of all. */
  readonly all: string;
  readonly value: string;
  readonly span: StatFilters;
  readonly onChange: (value: string) => void;
}

function Select({ kind, label, all, value, span, onChange }: SelectProps) {
  const stats = useStats([kind], span).data ?? [];
  const names = stats.flatMap(({ key }) => (key[0] ? [key[0]] : []));
  const choices = value && !names.includes(value) ? [value, ...names] : names;
  return (
    <label>
      <span className="visually-hidden">{label}</span>
      <select
        value={value}
        data-active={value ? true : undefined}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{all}</option>
        {choices.map((name) => (
          <option key={name} value={name}>
            {kind === "project" ? shortProject(labelOf(kind, name)) : labelOf(kind, name)}
          </option>
        ))}
      </select>
    </label>
  );
}
