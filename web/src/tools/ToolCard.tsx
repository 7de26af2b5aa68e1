import { Link2 } from "lucide-react";
import { memo, useId, useMemo } from "react";
import { containsTarget, isActive, type PartPlace, useRenderContext } from "../context/renderContext";
import { useToolView } from "../context/toolViews";
import type { ToolCallPart, ToolView } from "../partita.gen";
import { CopyButton } from "../ui/CopyButton";
import { EditorLink } from "../ui/EditorLink";
import { useFold } from "../ui/Fold";
import { type Preferences, usePreference } from "../ui/preferences";
import { revealLater, usePartial } from "../ui/reveal";
import { visible } from "../ui/sanitize";
import { PREPARE_BODIES, useBodies } from "./bodyLoader";
import { CardHead, pathOf } from "./CardHead";
import { Commits } from "./Commits";
import { OutputContext } from "./outputContext";
import { useLoadedCall } from "./outputs";
import { type CallState, reasonOf, stateOf } from "./states";
import styles from "./ToolCard.module.css";

interface Props {
  readonly call: ToolCallPart;
  readonly place: PartPlace;
}

/** A tool call: one line. It is expanded while it is running or waiting for the user, and by preference. */
export const ToolCard = memo(function ToolCard({ call: stored, place }: Props) {
  const context = useRenderContext();
  const actions = context.clientCallActions?.(stored);
  const state = stateOf(stored, isActive(context), actions !== undefined);
  const before = useToolView(stored);
  const [expanded] = usePreference("open");
  const [userChoice, setOpen] = useFold(null, containsTarget(place, context.target));
  const isOpen =
    userChoice ?? (needsAttention(state) || (before !== undefined && expanded.includes(groupOf(before))));
  const { part, content, firstPieces, error, retry } = useLoadedCall(stored, isOpen);
  const view = useToolView(part) ?? before;
  const call = useMemo(() => view && { part, view, content }, [part, view, content]);
  const outputs = useMemo(() => ({ firstPieces, error, retry }), [firstPieces, error, retry]);
  const bodies = useBodies(isOpen);
  const isLoaded = content.large.every(({ url }) => firstPieces.has(url));
  const id = useId();
  const shown =
    view?.failure && state.tone === "ok" ? { ...state, tone: "bad" as const, label: view.failure } : state;
  const path = pathOf(view);
  const title = view?.title ?? stored.name;
  const subject = view?.subject ?? "";
  const Body = view && bodies?.bodyOf(view);
  const isReady = isOpen && Body !== undefined && isLoaded;
  const area = usePartial(
    isReady || error
      ? null
      : () => {
          setOpen(true);
          return revealLater();
        },
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      className={styles.card}
      role="group"
      aria-label={`${visible(`${title} ${subject.slice(0, 80)}`.trim())}: ${shown.label}`}
      data-tool-state={state.name}
      data-tool-kind={view?.kind ?? ""}
      data-tone={shown.tone}
      {...PREPARE_BODIES}
      {...area}
    >
      <div className={styles.top}>
        <button
          type="button"
          className={styles.head}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        >
          <CardHead
            view={view}
            state={shown}
            reason={isOpen ? "" : reasonOf(stored, view, shown, content)}
            part={stored}
            place={place}
          />
        </button>
        <span className={styles.buttons}>
          {path !== undefined && <EditorLink path={path} folder={context.folder} line={lineOf(view)} />}
          <CopyLink place={place} />
        </span>
      </div>
      <Commits view={view} />
      {isOpen && (
        <div id={id} className={styles.body}>
          {state.reason && <p className={styles.reason}>{visible(state.reason)}</p>}
          <OutputContext.Provider value={outputs}>
            {Body && call && <Body call={call} place={place} isBusy={state.tone === "busy"} />}
          </OutputContext.Provider>
          {bodies && stored.state === "approval-requested" && <bodies.Approval call={stored} />}
          {bodies && actions && <bodies.ClientCall actions={actions} />}
        </div>
      )}
    </div>
  );
});

const needsAttention = (state: CallState): boolean => state.tone === "busy" || state.tone === "waiting";

/** The preference that expands a call at first. */
function groupOf({ kind }: ToolView): Preferences["open"][number] {
  if (kind === "command") return "commands";
  if (kind === "edit") return "edits";
  return kind === "agent" || kind === "network" ? "agents" : "other";
}

/** The first line that was read or changed. */
function lineOf(view: ToolView | undefined): number | undefined {
  if (view?.kind === "read") return view.firstLine;
  return view?.kind === "edit" ? view.changes?.[0]?.hunks?.[0]?.newStart : undefined;
}

function CopyLink({ place }: { place: PartPlace }) {
  const { linkTo } = useRenderContext();
  if (!linkTo) return null;
  return (
    <CopyButton
      text={() => linkTo(place)}
      label="Copy link to this call"
      icon={<Link2 size={14} aria-hidden />}
    />
  );
}
