import type { Split, StatFilters } from "../api/analytics";
import { Button } from "../ui/Button";
import { go } from "../ui/routing";
import styles from "./Filters.module.css";
import { labelOf } from "./labels";
import { formatDay, PRESETS, plusDays } from "./periods";
import { useStats } from "./queries";
import { hrefWith, type Selection } from "./selection";

const KINDS: readonly { kind: Split; label: string }[] = [
  { kind: "agent", label: "Agent" },
  { kind: "project", label: "Project" },
  { kind: "model", label: "Model" },
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
        <span>Time</span>
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
            <span>{end === "from" ? "From" : "To"}</span>
            <input
              type="date"
              value={query.get(end) ?? ""}
              onChange={(event) => set({ [end]: event.target.value || null, step: null })}
            />
          </label>
        ))}
      {KINDS.map(({ kind, label }) => (
        <Select
          key={kind}
          kind={kind}
          label={label}
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
  readonly value: string;
  readonly span: StatFilters;
  readonly onChange: (value: string) => void;
}

function Select({ kind, label, value, span, onChange }: SelectProps) {
  const stats = useStats([kind], span).data ?? [];
  const names = stats.flatMap(({ key }) => (key[0] ? [key[0]] : []));
  const all = value && !names.includes(value) ? [value, ...names] : names;
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">All</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {labelOf(kind, name)}
          </option>
        ))}
      </select>
    </label>
  );
}
