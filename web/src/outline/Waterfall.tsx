import { Ban, CircleX, LoaderCircle, type LucideIcon, OctagonPause, Sparkles } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import type { OverviewCall, OverviewState, OverviewTurn } from "../partita.gen";
import { iconOf } from "../tools/icons";
import { Button } from "../ui/Button";
import { compact, count, duration, moment, money, plural } from "../ui/format";
import { relativePath } from "../ui/paths";
import { visible } from "../ui/sanitize";
import { useNow } from "../ui/useNow";
import styles from "./Waterfall.module.css";
import { type Bar, chartOf, type Span, ticksOf } from "./waterfall";

interface Props {
  readonly turn: OverviewTurn;
  /** The calls of the turn, in order. */
  readonly calls: readonly OverviewCall[];
  /** The folder of the project: paths are displayed relative to it. */
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
}

/** Calls that are shown at first. */
const FIRST = 200;
/** The label of a later tick would be cut off. */
const LAST_TICK = 0.92;

/** The calls and sub-agents of a turn on a time axis, with the time of the model between them. */
export function Waterfall({ turn, calls, folder, onShow }: Props) {
  const now = useNow();
  const [isAll, setAll] = useState(false);
  const chart = useMemo(() => chartOf(turn, calls, now), [turn, calls, now]);
  const { bars, last, length, tools } = chart;
  const shown = isAll ? bars : bars.slice(0, FIRST);
  const ticks = ticksOf(length).filter((tick) => tick < length * LAST_TICK);
  const facts = [
    length > 0 && duration(length / 1000),
    length > 0 && calls.length > 0 && `model ${duration(Math.max(0, length - tools) / 1000)}`,
    tools > 0 && `tools ${duration(tools / 1000)}`,
    calls.length > 0 && plural(calls.length, "call"),
    turn.failed > 0 && `${count(turn.failed)} failed`,
    turn.inputTokens > 0 && `${compact(turn.inputTokens)} in`,
    turn.outputTokens > 0 && `${compact(turn.outputTokens)} out`,
    turn.cost != null && turn.cost > 0 && money(turn.cost),
  ];
  return (
    <div className={styles.waterfall}>
      <p className={styles.facts}>{facts.filter(Boolean).join(" · ")}</p>
      {length > 0 && (
        <div className={styles.axis} aria-hidden>
          <div className={styles.track}>
            {ticks.map((tick) => (
              <span key={tick} style={{ left: `${(tick / length) * 100}%` }}>
                {tick ? duration(tick / 1000) : "0"}
              </span>
            ))}
          </div>
        </div>
      )}
      <ol className={styles.rows}>
        {shown.map((bar) => (
          <li key={`${bar.call.messageId} ${bar.call.part}`}>
            <CallRow bar={bar} length={length} folder={folder} onShow={onShow} />
          </li>
        ))}
        {last && shown.length === bars.length && (
          <li>
            <Row
              name={<Name icon={Sparkles} label={turn.running ? "Model is working" : "Response"} />}
              track={<Piece span={last} length={length} kind="model" />}
              time={duration((last.to - last.from) / 1000)}
              onClick={() => onShow(turn.answerId ?? turn.messageId, null)}
            />
          </li>
        )}
      </ol>
      {shown.length < bars.length && (
        <Button small onClick={() => setAll(true)}>
          Show all {count(bars.length)} calls
        </Button>
      )}
      {!bars.length && !last && <p className={styles.empty}>No times are known for this turn.</p>}
    </div>
  );
}

interface CallRowProps extends Pick<Props, "folder" | "onShow"> {
  readonly bar: Bar;
  readonly length: number;
}

function CallRow({ bar: { call, depth, span, model, isFirst }, length, folder, onShow }: CallRowProps) {
  const { kind, title, subject, state, messageId, part } = call;
  const isAgent = kind === "agent" || kind === "network";
  const text = kind === "edit" || kind === "read" ? relativePath(subject, folder) : subject;
  const tokens = isFirst && call.inputTokens != null;
  return (
    <Row
      depth={depth}
      title={call.startedAt ? moment(call.startedAt) : undefined}
      name={<Name icon={iconOf(call)} label={title} subject={text} state={state} isAgent={isAgent} />}
      track={
        <>
          {model && <Piece span={model} length={length} kind="model" />}
          {span && <Piece span={span} length={length} kind={isAgent ? "agent" : "call"} state={state} />}
        </>
      }
      time={span ? duration((span.to - span.from) / 1000) : "—"}
      tokens={tokens ? `${compact(call.inputTokens ?? 0)} → ${compact(call.outputTokens ?? 0)}` : ""}
      cost={isFirst && call.cost ? money(call.cost) : ""}
      onClick={() => onShow(messageId, part)}
    />
  );
}

interface RowProps {
  readonly name: ReactNode;
  readonly track: ReactNode;
  readonly time: string;
  readonly tokens?: string;
  readonly cost?: string;
  readonly depth?: number;
  readonly title?: string;
  readonly onClick: () => void;
}

const Row = ({ name, track, time, tokens, cost, depth = 0, title, onClick }: RowProps) => (
  <button type="button" className={styles.row} title={title} onClick={onClick}>
    <span className={styles.name} style={{ paddingInlineStart: `${Math.min(depth, 6)}rem` }}>
      {name}
    </span>
    <span className={styles.track} aria-hidden>
      {track}
    </span>
    <span className={styles.time}>{time}</span>
    <span className={styles.tokens} title={tokens && "Input and output tokens of the response"}>
      {tokens}
    </span>
    <span className={styles.cost}>{cost}</span>
  </button>
);

const STATES: Readonly<Record<OverviewState, readonly [label: string, icon: LucideIcon] | null>> = {
  done: null,
  failed: ["Failed", CircleX],
  running: ["Running", LoaderCircle],
  denied: ["Denied", Ban],
  interrupted: ["Interrupted", OctagonPause],
};

interface NameProps {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly subject?: string;
  readonly state?: OverviewState;
  readonly isAgent?: boolean;
}

function Name({ icon: Icon, label, subject = "", state = "done", isAgent }: NameProps) {
  const [stateLabel, StateIcon] = STATES[state] ?? [];
  return (
    <>
      <Icon size={14} aria-hidden className={styles.icon} data-agent={isAgent} />
      <span className={styles.label}>{visible(label)}</span>
      <span className={styles.subject} title={visible(subject)}>
        {visible(subject)}
      </span>
      {StateIcon && (
        <span className={styles.state} data-state={state}>
          <StateIcon size={13} aria-hidden />
          {stateLabel}
        </span>
      )}
    </>
  );
}

interface PieceProps {
  readonly span: Span;
  readonly length: number;
  readonly kind: "call" | "agent" | "model";
  readonly state?: OverviewState;
}

const Piece = ({ span, length, kind, state }: PieceProps) => (
  <span
    className={styles.piece}
    data-kind={kind}
    data-state={state}
    style={{
      left: `${(span.from / length) * 100}%`,
      width: `${((span.to - span.from) / length) * 100}%`,
    }}
  />
);
