import { type PartPlace, type RenderContext, useRenderContext } from "../context/renderContext";
import { viewOf } from "../context/toolViews";
import type { AssistantMessage, Message, Part, ToolCallPart } from "../partita.gen";
import { stateOf } from "../tools/states";
import { CallGroup, MIN_CALLS } from "./CallGroup";
import { addCounts, type CallTotals } from "./callTotals";
import { EndNotice } from "./EndNotice";
import { hasFailed } from "./failedCalls";
import styles from "./MessageView.module.css";
import { NetworkView } from "./NetworkView";
import { PartView } from "./PartView";

/** The parts of a message that are displayed. */
export interface ShownParts {
  /** The index of the first part, and the index after the last one; null: all others. */
  readonly from: number;
  readonly to: number | null;
  /** Without a head: the calls of a group. */
  readonly isBare: boolean;
  /** Which of them. If it accepts none, all are displayed. */
  readonly accepts?: (part: Part) => boolean;
}

interface Props {
  readonly message: Message;
  readonly place: PartPlace;
  readonly shown?: ShownParts;
}

export function MessageBody({ message, place, shown }: Props) {
  const context = useRenderContext();
  const parts: readonly Part[] = message.content.parts;
  const network =
    message.role === "assistant" ? (message as AssistantMessage).content.networkExecution : null;
  const indexed = partsOf(parts, shown);
  const isGrouping = context.groupCalls === true && !shown?.isBare && !shown?.accepts;
  const placeOf = (index: number) => ({ ...place, path: joinPath(place.path, String(index)) });
  return (
    <div className={styles.parts}>
      {network && !shown?.from && (
        <NetworkView network={network} place={{ ...place, path: joinPath(place.path, "network") }} />
      )}
      {grouped(indexed, isGrouping ? (part) => isGroupable(part, context) : undefined).map(
        ({ start, members, kind }) => {
          const views = members.map((part, index) => (
            <PartView
              key={start + index}
              part={part}
              place={placeOf(start + index)}
              messageRole={message.role}
              last={start + index === parts.length - 1}
              step={part.type === "step-start" ? stepNumber(parts, start + index) : undefined}
            />
          ));
          if (kind === "calls")
            return (
              <CallGroup
                key={`group ${start}`}
                places={members.map((_, index) => placeOf(start + index))}
                totals={totalsOf(members, start, place, context)}
                isLast={start + members.length === parts.length}
              >
                {views}
              </CallGroup>
            );
          return kind === "sources" ? (
            <div key={start} className={styles.sources}>
              {views}
            </div>
          ) : (
            views
          );
        },
      )}
      {parts.length === 0 && !network && <p className={styles.empty}>No content.</p>}
      {(!shown || shown.to === null) && <EndNotice message={message} />}
    </div>
  );
}

const joinPath = (path: string, step: string): string => (path ? `${path}.${step}` : step);

const stepNumber = (parts: readonly Part[], end: number): number =>
  parts.slice(0, end + 1).filter((part) => part.type === "step-start").length;

type IndexedPart = readonly [index: number, part: Part];

function partsOf(parts: readonly Part[], shown: ShownParts | undefined): readonly IndexedPart[] {
  const all = parts.map((part, index) => [index, part] as const);
  if (!shown) return all;
  const inRange = all.slice(shown.from, shown.to ?? undefined);
  const { accepts } = shown;
  const accepted = accepts ? inRange.filter(([, part]) => accepts(part)) : inRange;
  return accepted.length ? accepted : inRange;
}

/** Whether a part is folded into a group: a call that does not wait for the user, or what is between calls. */
function isGroupable(part: Part, { clientCallActions }: RenderContext): boolean {
  if (part.type !== "tool-call") return ["reasoning", "step-start", "tool-result"].includes(part.type);
  const call = part as ToolCallPart;
  return stateOf(call, true, clientCallActions?.(call) !== undefined).tone !== "waiting";
}

function totalsOf(
  members: readonly Part[],
  start: number,
  place: PartPlace,
  { toolViews, timing }: RenderContext,
): CallTotals {
  const calls = members.flatMap((part, index) =>
    part.type === "tool-call" ? [{ call: part as ToolCallPart, index: start + index }] : [],
  );
  const views = calls.map(({ call }) => viewOf(call, toolViews));
  const failed = calls.filter(({ call }) => hasFailed(call, toolViews)).length;
  const times = calls.map(({ index }) => timing({ ...place, path: joinPath(place.path, String(index)) }));
  const [first, last] = [times[0]?.startedAt, times.at(-1)?.endedAt];
  const seconds = first && last ? (Date.parse(last) - Date.parse(first)) / 1000 : null;
  return { counts: addCounts(views.map((view) => ({ [view?.kind ?? "other"]: 1 }))), failed, seconds };
}

interface Group {
  readonly start: number;
  readonly kind: "sources" | "calls" | "one";
  readonly members: readonly Part[];
}

const isSource = (part: Part): boolean => part.type === "source-url" || part.type === "source-document";

/** Groups consecutive sources into one row, and consecutive calls if there are enough of them. */
export function grouped(
  parts: readonly IndexedPart[],
  isCall: (part: Part) => boolean = () => false,
): readonly Group[] {
  const groups: { start: number; kind: Group["kind"]; members: Part[] }[] = [];
  for (const [index, part] of parts) {
    const kind = isSource(part) ? "sources" : isCall(part) ? "calls" : "one";
    const last = groups.at(-1);
    const follows = last !== undefined && last.start + last.members.length === index;
    if (kind !== "one" && last?.kind === kind && follows) last.members.push(part);
    else groups.push({ start: index, kind, members: [part] });
  }
  return groups.flatMap((group) => {
    const calls = group.members.filter((part) => part.type === "tool-call").length;
    if (group.kind !== "calls" || calls >= MIN_CALLS) return [group];
    return group.members.map((part, index) => ({
      start: group.start + index,
      kind: "one" as const,
      members: [part],
    }));
  });
}
