import {
  Bot,
  ChartNoAxesGantt,
  ChevronRight,
  CircleX,
  FileDiff,
  GitCommitHorizontal,
  type LucideIcon,
} from "lucide-react";
import type { KeyboardEventHandler, ReactNode } from "react";
import { IconButton } from "../ui/Button";
import { clock, count, duration, moment, money, plural } from "../ui/format";
import { relativePath, splitPath } from "../ui/paths";
import { visible } from "../ui/sanitize";
import type { Entry, EntryKind, TurnNode } from "./model";
import styles from "./Outline.module.css";

interface LineProps {
  /** The message at the top of the messages belongs to it. */
  readonly isCurrent: boolean;
  /** It is in the tab order. */
  readonly isActive: boolean;
  readonly onShow: () => void;
  readonly onKeyDown: KeyboardEventHandler;
}

interface TurnProps extends LineProps {
  readonly node: TurnNode;
  /** Null if there is nothing to expand. */
  readonly isOpen: boolean | null;
  readonly total: number;
  readonly onToggle: () => void;
  readonly onTimeline?: () => void;
}

/** A turn: its question, when it was, and what it took. */
export function TurnLine({ node, isOpen, total, onToggle, onTimeline, ...line }: TurnProps) {
  const { turn, number } = node;
  const facts = [
    turn.startedAt && clock(turn.startedAt),
    turn.running ? "running" : turn.seconds > 0 && duration(turn.seconds),
    turn.calls > 0 && plural(turn.calls, "call"),
    turn.cost != null && turn.cost > 0 && money(turn.cost),
  ];
  return (
    <Line {...line} level={1} isOpen={isOpen} position={number} total={total} className={styles.turn}>
      <span className={styles.sign}>
        {isOpen !== null && (
          <button
            type="button"
            tabIndex={-1}
            aria-label={isOpen ? "Collapse" : "Expand"}
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            <ChevronRight size={14} data-open={isOpen} />
          </button>
        )}
      </span>
      <span className={styles.text}>
        <span className={styles.question} title={visible(turn.title)}>
          {visible(turn.title || "Untitled")}
        </span>
        <span className={styles.facts} title={turn.startedAt ? moment(turn.startedAt) : undefined}>
          {facts.filter(Boolean).join(" · ")}
          {turn.failed > 0 && (
            <span className={styles.failed} title={`${count(turn.failed)} failed`}>
              <CircleX size={11} aria-hidden />
              {count(turn.failed)}
              <span className="visually-hidden"> failed</span>
            </span>
          )}
        </span>
      </span>
      {onTimeline && (
        <IconButton
          label="Timeline of the turn"
          className={styles.timeline}
          tabIndex={line.isActive ? 0 : -1}
          onClick={(event) => {
            event.stopPropagation();
            onTimeline();
          }}
        >
          <ChartNoAxesGantt size={15} />
        </IconButton>
      )}
    </Line>
  );
}

const ICONS: Readonly<Record<EntryKind, LucideIcon>> = {
  error: CircleX,
  edit: FileDiff,
  agent: Bot,
  commit: GitCommitHorizontal,
};

const NAMES: Readonly<Record<EntryKind, string>> = {
  error: "Error: ",
  edit: "Edit: ",
  agent: "Sub-agent: ",
  commit: "Commit: ",
};

interface EntryProps extends LineProps {
  readonly entry: Entry;
  readonly folder?: string;
}

/** An edit, an error, a sub-agent or a commit on one line. */
export function EntryLine({ entry, folder, ...line }: EntryProps) {
  const { kind, title, subject, added, removed } = entry;
  const Icon = ICONS[kind];
  const text = visible([kind === "agent" && subject ? "" : title, subject].filter(Boolean).join(" "));
  return (
    <Line {...line} level={2} isOpen={null} className={styles.entry}>
      <Icon size={14} aria-hidden data-kind={kind} />
      <span className="visually-hidden">{NAMES[kind]}</span>
      <span className={styles.subject} title={text}>
        {kind === "edit" ? <FileName path={relativePath(subject, folder)} /> : text}
      </span>
      {added > 0 && <span className={styles.added}>+{count(added)}</span>}
      {removed > 0 && <span className={styles.removed}>−{count(removed)}</span>}
    </Line>
  );
}

/** The name of a file, and its folders as far as there is room. */
function FileName({ path }: { path: string }) {
  const [folders, name] = splitPath(path);
  return (
    <>
      {visible(name.replace(/^[/\\]/, ""))} <span className={styles.folders}>{visible(folders)}</span>
    </>
  );
}

interface Props extends LineProps {
  readonly level: number;
  readonly isOpen: boolean | null;
  readonly position?: number;
  readonly total?: number;
  readonly className: string | undefined;
  readonly children: ReactNode;
}

const Line = ({ level, isOpen, position, total, isCurrent, isActive, ...props }: Props) => (
  <div
    role="treeitem"
    aria-level={level}
    aria-expanded={isOpen ?? undefined}
    aria-posinset={position}
    aria-setsize={total}
    aria-current={isCurrent ? "location" : undefined}
    aria-selected={isCurrent}
    tabIndex={isActive ? 0 : -1}
    className={props.className}
    onClick={props.onShow}
    onKeyDown={props.onKeyDown}
  >
    {props.children}
  </div>
);
