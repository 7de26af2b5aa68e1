import { ChevronsDownUp, ChevronsUpDown, X } from "lucide-react";
import { useMemo, useState } from "react";
import { IconButton } from "../ui/Button";
import { count } from "../ui/format";
import { countsOf, type Filter, itemsOf, type TurnNode } from "./model";
import styles from "./Outline.module.css";
import { OutlineList } from "./OutlineList";

interface Props {
  /** Null while they are loading. */
  readonly nodes: readonly TurnNode[] | null;
  /** The index of the message at the top of the messages. */
  readonly currentRow: number;
  /** The folder of the project: paths are displayed relative to it. */
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
  /** Opens the timeline of a turn. */
  readonly onTimeline?: (node: TurnNode) => void;
  readonly onClose?: () => void;
}

const FILTERS: readonly { readonly value: Filter; readonly label: string }[] = [
  { value: "all", label: "All" },
  { value: "question", label: "Questions" },
  { value: "error", label: "Errors" },
  { value: "edit", label: "Edits" },
  { value: "agent", label: "Sub-agents" },
];

/** Up to so many turns are expanded at first. */
const FEW_TURNS = 3;

/** The turns of a session and what happened in them, each with a link to its place. */
export function Outline({ nodes, currentRow, folder, onShow, onTimeline, onClose }: Props) {
  const [filter, setFilter] = useState<Filter>("all");
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [allOpen, setAllOpen] = useState<boolean | null>(null);
  const isOpenFirst = allOpen ?? (nodes !== null && nodes.length <= FEW_TURNS);
  const counts = useMemo(() => countsOf(nodes ?? []), [nodes]);
  const shown = counts[filter] ? filter : "all";
  const items = useMemo(
    () => itemsOf(nodes ?? [], shown, ({ turn }) => toggled.has(turn.messageId) !== isOpenFirst),
    [nodes, shown, toggled, isOpenFirst],
  );
  const toggle = (id: string) => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  const canOpen = shown === "all" && items.some((one) => one.type === "turn" && one.isOpen !== null);
  return (
    <div className={styles.outline}>
      <header className={styles.head}>
        <h2>Outline</h2>
        <IconButton
          label={isOpenFirst ? "Collapse all turns" : "Expand all turns"}
          disabled={!canOpen}
          onClick={() => {
            setToggled(new Set());
            setAllOpen(!isOpenFirst);
          }}
        >
          {isOpenFirst ? <ChevronsDownUp size={15} /> : <ChevronsUpDown size={15} />}
        </IconButton>
        {onClose && (
          <IconButton label="Close the outline" onClick={onClose}>
            <X size={16} />
          </IconButton>
        )}
      </header>
      <fieldset className={styles.filters}>
        <legend className="visually-hidden">Show in the outline</legend>
        {FILTERS.filter(({ value }) => value === "all" || value === "question" || counts[value] > 0).map(
          ({ value, label }) => (
            <button key={value} type="button" aria-pressed={value === shown} onClick={() => setFilter(value)}>
              {label}
              {value !== "all" && <span className={styles.count}>{count(counts[value])}</span>}
            </button>
          ),
        )}
      </fieldset>
      {nodes === null ? (
        <div className={styles.skeleton} aria-hidden>
          {Array.from({ length: 6 }, (_, index) => (
            <span key={index} />
          ))}
        </div>
      ) : items.length ? (
        <OutlineList
          key={shown}
          items={items}
          total={nodes.length}
          currentRow={currentRow}
          folder={folder}
          onShow={onShow}
          onToggle={toggle}
          onTimeline={onTimeline}
        />
      ) : (
        <p className={styles.empty}>No questions yet</p>
      )}
    </div>
  );
}
