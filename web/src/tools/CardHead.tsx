import { Ban, ChevronRight, CircleHelp, CircleX, LoaderCircle, OctagonPause, Wrench } from "lucide-react";
import { type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { elapsedSeconds, MessageTime, type PartPlace, useRenderContext } from "../context/renderContext";
import type { FileChange, ToolCallPart, ToolView } from "../partita.gen";
import { FilePath } from "../ui/FilePath";
import { count, duration } from "../ui/format";
import { visible } from "../ui/sanitize";
import { childrenOf, totalNotes, totalsOf } from "./agents";
import styles from "./CardHead.module.css";
import { iconOf } from "./icons";
import { type CallState, notesOf, type Tone } from "./states";

interface Props {
  /** Absent until it has been received. */
  readonly view: ToolView | undefined;
  readonly state: CallState;
  /** Why the call failed. */
  readonly reason: string;
  readonly part: ToolCallPart;
  readonly place: PartPlace;
}

/** The line that describes a call: what it is, what it is about, how it went, and its duration. */
export function CardHead({ view, state, reason, part, place }: Props) {
  const Icon = view ? iconOf(view) : Wrench;
  const totals = useTotals(view, part);
  const notes = [...(view?.notes ?? []), ...notesOf(part), ...(totals ? totalNotes(totals) : [])];
  const { added, removed } = view?.kind === "edit" ? totalsOfChanges(view.changes) : NO_CHANGES;
  return (
    <>
      <ChevronRight size={14} className={styles.fold} aria-hidden />
      <Icon size={15} className={styles.icon} aria-hidden />
      <span className={styles.label}>{visible(labelOf(view, part))}</span>
      <Subject view={view} />
      {added > 0 && <LineCount sign="+" value={added} label="lines added" />}
      {removed > 0 && <LineCount sign="−" value={removed} label="lines removed" />}
      {reason && (
        <span className={styles.reason} title={visible(reason)}>
          {visible(reason)}
        </span>
      )}
      {notes.length > 0 && <span className={styles.notes}>{visible(notes.join(" · "))}</span>}
      <StateBadge state={state} />
      <Duration
        place={place}
        isBusy={state.tone === "busy"}
        reported={view?.seconds ?? totals?.seconds ?? undefined}
      />
    </>
  );
}

/** The agent's description of a command, or the title of the view. */
export const labelOf = (view: ToolView | undefined, part: ToolCallPart): string =>
  (view?.kind === "command" && view.description) || (view?.title ?? part.name);

/** The path of the only file that a call is about. */
export function pathOf(view: ToolView | undefined): string | undefined {
  if (view?.kind === "read") return view.path || undefined;
  return view?.kind === "edit" && view.changes?.length === 1 ? view.changes[0]?.path : undefined;
}

function Subject({ view }: { view: ToolView | undefined }) {
  const { folder } = useRenderContext();
  const path = pathOf(view);
  if (path !== undefined)
    return (
      <span className={styles.subject}>
        <FilePath path={path} folder={folder} />
      </span>
    );
  const text = visible(view?.subject ?? "");
  return (
    <span className={view?.subjectIsCode ? `${styles.subject} ${styles.code}` : styles.subject} title={text}>
      {text}
    </span>
  );
}

/** The totals of a sub-agent; null for other calls. */
function useTotals(view: ToolView | undefined, part: ToolCallPart) {
  const isAgent = view?.kind === "agent" || view?.kind === "network";
  return useMemo(() => (isAgent ? totalsOf(childrenOf(part)) : null), [isAgent, part]);
}

const NO_CHANGES = { added: 0, removed: 0 };

const totalsOfChanges = (changes: readonly FileChange[] = []): typeof NO_CHANGES =>
  changes.reduce(
    (sum, { added = 0, removed = 0 }) => ({ added: sum.added + added, removed: sum.removed + removed }),
    NO_CHANGES,
  );

const LineCount = ({ sign, value, label }: { sign: "+" | "−"; value: number; label: string }) => (
  <span className={sign === "+" ? styles.plus : styles.minus}>
    {sign}
    {count(value)}
    <span className="visually-hidden"> {label}</span>
  </span>
);

const TONE_ICONS: Readonly<Record<Tone, ReactNode>> = {
  quiet: null,
  ok: null,
  busy: <LoaderCircle size={14} aria-hidden className={styles.spinning} />,
  waiting: <CircleHelp size={14} aria-hidden />,
  warn: <OctagonPause size={14} aria-hidden />,
  bad: <CircleX size={14} aria-hidden />,
};

function StateBadge({ state }: { state: CallState }) {
  const isDone = state.tone === "ok";
  return (
    <span className={styles.badge} data-tone={state.tone}>
      {state.name === "output-denied" ? <Ban size={14} aria-hidden /> : TONE_ICONS[state.tone]}
      <span className={isDone ? "visually-hidden" : undefined}>{visible(state.label)}</span>
    </span>
  );
}

/** The duration by the log or as reported by the agent; while the call is running, the time so far. */
function Duration({ place, isBusy, reported }: { place: PartPlace; isBusy: boolean; reported?: number }) {
  const { timing } = useRenderContext();
  const created = useContext(MessageTime);
  const known = timing(place);
  const times = isBusy && known?.startedAt === undefined ? { startedAt: created } : known;
  const measured = elapsedSeconds(times, useNow(isBusy && times?.startedAt !== undefined && !times.endedAt));
  const seconds = measured ?? (isBusy ? null : (reported ?? null));
  return seconds === null ? null : <span className={styles.time}>{duration(seconds)}</span>;
}

/** The current time in whole seconds, updated while it is needed; else NaN. */
function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(Number.NaN);
  useEffect(() => {
    if (!isNeeded) return;
    const update = () => setNow(Math.floor(Date.now() / 1000) * 1000);
    update();
    const timer = setInterval(update, 1000);
    return () => {
      clearInterval(timer);
      setNow(Number.NaN);
    };
  }, [isNeeded]);
  return now;
}
