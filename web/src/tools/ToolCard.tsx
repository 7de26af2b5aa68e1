import {
  Ban,
  ChevronRight,
  CircleCheck,
  CircleHelp,
  CircleX,
  Link2,
  LoaderCircle,
  OctagonPause,
} from "lucide-react";
import { memo, type ReactNode, useContext, useEffect, useId, useMemo, useState } from "react";
import type { ToolCallPart } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { FoldAll } from "../ui/Fold";
import { count, duration } from "../ui/format";
import { visible } from "../ui/hostile";
import { type PartPlace, type Timing, useViewing, type Viewing } from "../viewing/viewing";
import { Approval } from "./Approval";
import { BODIES } from "./bodies";
import { ClientCall } from "./ClientCall";
import { type Head, headOf, ICONS } from "./heads";
import { type Kind, kindOf } from "./kinds";
import { useReading } from "./outputs";
import { Beginnings } from "./readingContext";
import { type CallState, notesOf, stateOf, type Tone } from "./states";
import styles from "./ToolCard.module.css";

interface Props {
  readonly call: ToolCallPart;
  readonly place: PartPlace;
}

/** A tool call, drawn for what it is. Open while it is at work or when something is wrong, else one line. */
export const ToolCard = memo(function ToolCard({ call: part, place }: Props) {
  const { live, target, replying } = useViewing();
  const reply = replying?.(part);
  const state = stateOf(part, live, reply !== undefined);
  const [chosen, setChosen] = useChoice();
  const isOpen = chosen ?? (isRemarkable(state) || isAskedFor(place, target));
  const { call, firsts, error, retry } = useReading(part, isOpen);
  const kind = useMemo(() => kindOf(call), [call]);
  const head = useMemo(() => headOf(call, kind), [call, kind]);
  const fetching = useMemo(() => ({ firsts, error, retry }), [firsts, error, retry]);
  const id = useId();
  const shown =
    head.failure && state.tone === "ok" ? { ...state, tone: "bad" as const, words: head.failure } : state;
  const Body = BODIES[kind];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      className={styles.card}
      role="group"
      aria-label={`${visible(`${head.label} ${head.gist.slice(0, 80)}`.trim())}: ${shown.words}`}
      data-tool-state={state.name}
      data-tool-kind={kind}
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
          <HeadLine head={head} kind={kind} state={shown} part={part} place={place} />
        </button>
        <CopyLink place={place} />
      </div>
      {isOpen && (
        <div id={id} className={styles.body}>
          {state.reason && <p className={styles.reason}>{visible(state.reason)}</p>}
          <Beginnings.Provider value={fetching}>
            <Body call={call} place={place} isBusy={state.tone === "busy"} />
          </Beginnings.Provider>
          {part.state === "approval-requested" && <Approval call={part} />}
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
  readonly head: Head;
  readonly kind: Kind;
  readonly state: CallState;
  readonly part: ToolCallPart;
  readonly place: PartPlace;
}

function HeadLine({ head, kind, state, part, place }: LineProps) {
  const Icon = ICONS[kind];
  const notes = [...(head.notes ?? []), ...notesOf(part)].filter(Boolean);
  return (
    <>
      <ChevronRight size={13} className={styles.fold} aria-hidden />
      <Icon size={15} className={styles.icon} aria-hidden />
      <span className={styles.label}>{visible(head.label)}</span>
      <span className={head.isCode ? `${styles.gist} ${styles.code}` : styles.gist}>
        {visible(head.gist)}
      </span>
      {head.plus ? <Changed sign="+" value={head.plus} said="lines added" /> : null}
      {head.minus ? <Changed sign="−" value={head.minus} said="lines removed" /> : null}
      {notes.length > 0 && <span className={styles.notes}>{visible(notes.join(" · "))}</span>}
      <StateBadge state={state} />
      <Took place={place} isBusy={state.tone === "busy"} />
    </>
  );
}

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

/** How long it took; while it is at work, how long so far. */
function Took({ place, isBusy }: { place: PartPlace; isBusy: boolean }) {
  const { timing } = useViewing();
  const times = timing(place);
  const seconds = secondsOf(times, useNow(isBusy && times?.startedAt !== undefined && !times.endedAt));
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
