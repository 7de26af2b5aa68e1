import {
  Ban,
  ChevronRight,
  CircleCheck,
  CircleHelp,
  CircleX,
  Link2,
  LoaderCircle,
  OctagonPause,
  Wrench,
} from "lucide-react";
import { memo, type ReactNode, useEffect, useId, useMemo, useState } from "react";
import { containsTarget, elapsedSeconds, type PartPlace, useRenderContext } from "../context/renderContext";
import { useToolView } from "../context/toolViews";
import type { FileChange, ToolCallPart, ToolView } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { useFold } from "../ui/Fold";
import { count, duration } from "../ui/format";
import { visible } from "../ui/sanitize";
import { Approval } from "./Approval";
import { bodyOf, iconOf } from "./bodies";
import { ClientCall } from "./ClientCall";
import { OutputContext } from "./outputContext";
import { useLoadedCall } from "./outputs";
import { type CallState, notesOf, stateOf, type Tone } from "./states";
import styles from "./ToolCard.module.css";

interface Props {
  readonly call: ToolCallPart;
  readonly place: PartPlace;
}

/** A tool call. It is expanded while it is running or if it needs attention, else one line. */
export const ToolCard = memo(function ToolCard({ call: stored, place }: Props) {
  const { live, target, clientCallActions } = useRenderContext();
  const actions = clientCallActions?.(stored);
  const state = stateOf(stored, live, actions !== undefined);
  const [userChoice, setOpen] = useFold(null, containsTarget(place, target));
  const isOpen = userChoice ?? needsAttention(state);
  const { part, content, firstPieces, error, retry } = useLoadedCall(stored, isOpen);
  const before = useToolView(stored);
  const view = useToolView(part) ?? before;
  const call = useMemo(() => view && { part, view, content }, [part, view, content]);
  const outputs = useMemo(() => ({ firstPieces, error, retry }), [firstPieces, error, retry]);
  const id = useId();
  const shown =
    view?.failure && state.tone === "ok" ? { ...state, tone: "bad" as const, label: view.failure } : state;
  const title = view?.title ?? stored.name;
  const subject = view?.subject ?? "";
  const Body = view && bodyOf(view);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      className={styles.card}
      role="group"
      aria-label={`${visible(`${title} ${subject.slice(0, 80)}`.trim())}: ${shown.label}`}
      data-tool-state={state.name}
      data-tool-kind={view?.kind ?? ""}
      data-tone={shown.tone}
    >
      <div className={styles.top}>
        <button
          type="button"
          className={styles.head}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        >
          <HeadLine view={view} state={shown} part={stored} place={place} />
        </button>
        <CopyLink place={place} />
      </div>
      {isOpen && (
        <div id={id} className={styles.body}>
          {state.reason && <p className={styles.reason}>{visible(state.reason)}</p>}
          <OutputContext.Provider value={outputs}>
            {Body && call && <Body call={call} place={place} isBusy={state.tone === "busy"} />}
          </OutputContext.Provider>
          {stored.state === "approval-requested" && <Approval call={stored} />}
          {actions && <ClientCall actions={actions} />}
        </div>
      )}
    </div>
  );
});

const needsAttention = (state: CallState): boolean => state.tone !== "ok" && state.tone !== "quiet";

interface LineProps {
  /** Absent until it has been received. */
  readonly view: ToolView | undefined;
  readonly state: CallState;
  readonly part: ToolCallPart;
  readonly place: PartPlace;
}

function HeadLine({ view, state, part, place }: LineProps) {
  const Icon = view ? iconOf(view) : Wrench;
  const exit = view?.kind === "command" && view.exitCode === 0 ? ["exit 0"] : [];
  const notes = [...(view?.notes ?? []), ...exit, ...notesOf(part)];
  const { added, removed } = view?.kind === "edit" ? totals(view.changes) : NO_CHANGES;
  return (
    <>
      <ChevronRight size={13} className={styles.fold} aria-hidden />
      <Icon size={15} className={styles.icon} aria-hidden />
      <span className={styles.label}>{visible(view?.title ?? part.name)}</span>
      <span className={view?.subjectIsCode ? `${styles.subject} ${styles.code}` : styles.subject}>
        {visible(view?.subject ?? "")}
      </span>
      {added > 0 && <LineCount sign="+" value={added} label="lines added" />}
      {removed > 0 && <LineCount sign="−" value={removed} label="lines removed" />}
      {notes.length > 0 && <span className={styles.notes}>{visible(notes.join(" · "))}</span>}
      <StateBadge state={state} />
      <Duration place={place} isBusy={state.tone === "busy"} reported={view?.seconds} />
    </>
  );
}

const NO_CHANGES = { added: 0, removed: 0 };

const totals = (changes: readonly FileChange[] = []): typeof NO_CHANGES =>
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
  ok: <CircleCheck size={14} aria-hidden />,
  busy: <LoaderCircle size={14} aria-hidden className={styles.turning} />,
  waiting: <CircleHelp size={14} aria-hidden />,
  warn: <OctagonPause size={14} aria-hidden />,
  bad: <CircleX size={14} aria-hidden />,
};

function StateBadge({ state }: { state: CallState }) {
  const isDone = state.tone === "ok";
  return (
    <span className={styles.badge} data-tone={state.tone} title={isDone ? state.label : undefined}>
      {state.name === "output-denied" ? <Ban size={14} aria-hidden /> : TONE_ICONS[state.tone]}
      <span className={isDone ? "visually-hidden" : undefined}>{visible(state.label)}</span>
    </span>
  );
}

/** The duration by the log or as reported by the agent; while the call is running, the time so far. */
function Duration({ place, isBusy, reported }: { place: PartPlace; isBusy: boolean; reported?: number }) {
  const { timing } = useRenderContext();
  const times = timing(place);
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

function CopyLink({ place }: { place: PartPlace }) {
  const { linkTo } = useRenderContext();
  if (!linkTo) return null;
  return (
    <span className={styles.link}>
      <CopyButton
        text={() => linkTo(place)}
        label="Copy link to this call"
        icon={<Link2 size={14} aria-hidden />}
      />
    </span>
  );
}
