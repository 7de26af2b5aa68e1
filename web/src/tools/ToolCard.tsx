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
import { memo, type ReactNode, useContext, useEffect, useId, useMemo, useState } from "react";
import type { FileChange, ToolCallPart, ToolView } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { FoldAll } from "../ui/Fold";
import { count, duration } from "../ui/format";
import { visible } from "../ui/hostile";
import { useToolView } from "../viewing/toolViews";
import { type PartPlace, type Timing, useViewing, type Viewing } from "../viewing/viewing";
import { Approval } from "./Approval";
import { bodyOf, iconOf } from "./bodies";
import { ClientCall } from "./ClientCall";
import { useReading } from "./outputs";
import { Beginnings } from "./readingContext";
import { type CallState, notesOf, stateOf, type Tone } from "./states";
import styles from "./ToolCard.module.css";

interface Props {
  readonly call: ToolCallPart;
  readonly place: PartPlace;
}

/** A tool call, drawn for what it is. Open while it is at work or when something is wrong, else one line. */
export const ToolCard = memo(function ToolCard({ call: stored, place }: Props) {
  const { live, target, replying } = useViewing();
  const reply = replying?.(stored);
  const state = stateOf(stored, live, reply !== undefined);
  const [chosen, setChosen] = useChoice();
  const isOpen = chosen ?? (isRemarkable(state) || isAskedFor(place, target));
  const { part, given, firsts, error, retry } = useReading(stored, isOpen);
  const before = useToolView(stored);
  const view = useToolView(part) ?? before;
  const call = useMemo(() => view && { part, view, given }, [part, view, given]);
  const fetching = useMemo(() => ({ firsts, error, retry }), [firsts, error, retry]);
  const id = useId();
  const shown =
    view?.failure && state.tone === "ok" ? { ...state, tone: "bad" as const, words: view.failure } : state;
  const title = view?.title ?? stored.name;
  const subject = view?.subject ?? "";
  const Body = view && bodyOf(view);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      className={styles.card}
      role="group"
      aria-label={`${visible(`${title} ${subject.slice(0, 80)}`.trim())}: ${shown.words}`}
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
          onClick={() => setChosen(!isOpen)}
        >
          <HeadLine view={view} state={shown} part={stored} place={place} />
        </button>
        <CopyLink place={place} />
      </div>
      {isOpen && (
        <div id={id} className={styles.body}>
          {state.reason && <p className={styles.reason}>{visible(state.reason)}</p>}
          <Beginnings.Provider value={fetching}>
            {Body && call && <Body call={call} place={place} isBusy={state.tone === "busy"} />}
          </Beginnings.Provider>
          {stored.state === "approval-requested" && <Approval call={stored} />}
          {reply && <ClientCall replying={reply} />}
        </div>
      )}
    </div>
  );
});

/** What somebody wished for this card, or for all of them; the later wish counts. */
function useChoice(): [boolean | null, (isOpen: boolean) => void] {
  const all = useContext(FoldAll);
  const [heard, setHeard] = useState(all);
  const [chosen, setChosen] = useState<boolean | null>(all?.open ?? null);
  if (all !== heard) {
    setHeard(all);
    if (all) setChosen(all.open);
  }
  return [chosen, setChosen];
}

const isRemarkable = (state: CallState): boolean => state.tone !== "ok" && state.tone !== "quiet";

/** Whether somebody followed a link to this call, or to something inside it. */
const isAskedFor = (place: PartPlace, target: Viewing["target"]): boolean =>
  target?.messageId === place.messageId && `${target.path}.`.startsWith(`${place.path}.`);

interface LineProps {
  /** Absent for the moment in which it is not known. */
  readonly view: ToolView | undefined;
  readonly state: CallState;
  readonly part: ToolCallPart;
  readonly place: PartPlace;
}

function HeadLine({ view, state, part, place }: LineProps) {
  const Icon = view ? iconOf(view) : Wrench;
  const ending = view?.kind === "command" && view.exitCode === 0 ? ["exit 0"] : [];
  const notes = [...(view?.notes ?? []), ...ending, ...notesOf(part)];
  const { added, removed } = view?.kind === "edit" ? totals(view.changes) : NO_CHANGES;
  return (
    <>
      <ChevronRight size={13} className={styles.fold} aria-hidden />
      <Icon size={15} className={styles.icon} aria-hidden />
      <span className={styles.label}>{visible(view?.title ?? part.name)}</span>
      <span className={view?.subjectIsCode ? `${styles.gist} ${styles.code}` : styles.gist}>
        {visible(view?.subject ?? "")}
      </span>
      {added > 0 && <Changed sign="+" value={added} said="lines added" />}
      {removed > 0 && <Changed sign="−" value={removed} said="lines removed" />}
      {notes.length > 0 && <span className={styles.notes}>{visible(notes.join(" · "))}</span>}
      <StateBadge state={state} />
      <Took place={place} isBusy={state.tone === "busy"} noted={view?.seconds} />
    </>
  );
}

const NO_CHANGES = { added: 0, removed: 0 };

const totals = (changes: readonly FileChange[] = []): typeof NO_CHANGES =>
  changes.reduce(
    (sum, { added = 0, removed = 0 }) => ({ added: sum.added + added, removed: sum.removed + removed }),
    NO_CHANGES,
  );

const Changed = ({ sign, value, said }: { sign: "+" | "−"; value: number; said: string }) => (
  <span className={sign === "+" ? styles.plus : styles.minus}>
    {sign}
    {count(value)}
    <span className="visually-hidden"> {said}</span>
  </span>
);

const SIGNS: Readonly<Record<Tone, ReactNode>> = {
  quiet: null,
  ok: <CircleCheck size={14} aria-hidden />,
  busy: <LoaderCircle size={14} aria-hidden className={styles.turning} />,
  asks: <CircleHelp size={14} aria-hidden />,
  warn: <OctagonPause size={14} aria-hidden />,
  bad: <CircleX size={14} aria-hidden />,
};

function StateBadge({ state }: { state: CallState }) {
  const isDone = state.tone === "ok";
  return (
    <span className={styles.badge} data-tone={state.tone} title={isDone ? state.words : undefined}>
      {state.name === "output-denied" ? <Ban size={14} aria-hidden /> : SIGNS[state.tone]}
      <span className={isDone ? "visually-hidden" : undefined}>{visible(state.words)}</span>
    </span>
  );
}

/** How long it took, by the log or as the agent noted it; while it is running, how long so far. */
function Took({ place, isBusy, noted }: { place: PartPlace; isBusy: boolean; noted?: number }) {
  const { timing } = useViewing();
  const times = timing(place);
  const measured = secondsOf(times, useNow(isBusy && times?.startedAt !== undefined && !times.endedAt));
  const seconds = measured ?? (isBusy ? null : (noted ?? null));
  return seconds === null ? null : <span className={styles.time}>{duration(seconds)}</span>;
}

function secondsOf(times: Timing | undefined, now: number): number | null {
  if (!times?.startedAt) return null;
  const end = times.endedAt ? Date.parse(times.endedAt) : now;
  const seconds = (end - Date.parse(times.startedAt)) / 1000;
  return seconds >= 0 ? seconds : null;
}

/** The time, told every second while somebody wants to know. */
function useNow(isWanted: boolean): number {
  const [now, setNow] = useState(Number.NaN);
  useEffect(() => {
    if (!isWanted) return;
    const tell = () => setNow(Math.floor(Date.now() / 1000) * 1000);
    tell();
    const timer = setInterval(tell, 1000);
    return () => {
      clearInterval(timer);
      setNow(Number.NaN);
    };
  }, [isWanted]);
  return now;
}

function CopyLink({ place }: { place: PartPlace }) {
  const { linkTo } = useViewing();
  if (!linkTo) return null;
  return (
    <span className={styles.link}>
      <CopyButton
        text={() => linkTo(place)}
        label="Copy a link to this call"
        icon={<Link2 size={14} aria-hidden />}
      />
    </span>
  );
}
