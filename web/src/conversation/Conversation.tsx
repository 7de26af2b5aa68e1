import { useQuery } from "@tanstack/react-query";
import { TableOfContents } from "lucide-react";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { arrivedThread, getThread, isImported } from "../api/threads";
import { Composer, type ComposerControl } from "../chat/Composer";
import { useClientCallActions, waitsForUser } from "../chat/clientCalls";
import { ImportedThread } from "../chat/ForkAndContinue";
import { type Live, mergeLive, useLive } from "../chat/live";
import { useThreadAgent } from "../chat/useThreadAgent";
import { linkTo } from "../context/useServerContext";
import { FindBar } from "../find/FindBar";
import type { Place } from "../find/matches";
import { useFind } from "../find/useFind";
import { useMarks } from "../find/useMarks";

import { useOutlinePane } from "../outline/useOutlinePane";
import { Summary } from "../session/Summary";

import { IconButton } from "../ui/Button";
import { copyWithToast } from "../ui/clipboard";
import { lazyComponent } from "../ui/lazyModule";
import { go, toFiles, toRun, toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { BranchNote } from "./BranchNote";
import styles from "./Conversation.module.css";
import { ConversationContext } from "./ConversationContext";
import { MessageCache } from "./cache";
import type { Filter } from "./filter";
import { focusInMessage, focusPendingCall } from "./focus";
import { Header } from "./Header";
import { HeaderActions } from "./HeaderActions";
import { ListBar } from "./ListBar";
import { type ListControl, MessageList } from "./MessageList";
import { MessageMap } from "./MessageMap";
import { isLong, type Row, rowsOf } from "./rows";
import { SessionOutline } from "./SessionOutline";
import { Toolbar } from "./Toolbar";
import { useActions } from "./useActions";
import { useEndActions } from "./useEndActions";
import { useKeys } from "./useKeys";
import { useMenu } from "./useMenu";
import { useNewestRun } from "./useNewestRun";
import { useOutline } from "./useOutline";
import { useOverview } from "./useOverview";
import { usePosition } from "./usePosition";
import { useRenderContexts } from "./useRenderContexts";
import { useResume } from "./useResume";
import { useStops } from "./useStops";
import { useSummary } from "./useSummary";
import { TAIL_LENGTH, useTail } from "./useTail";
import { useThreadUpdates } from "./useThreadUpdates";
import { useTurns } from "./useTurns";

const WaterfallDialog = lazyComponent(() =>
  import("../outline/WaterfallDialog").then((it) => it.WaterfallDialog),
);
const SessionDialog = lazyComponent(() => import("./SessionDialog").then((it) => it.SessionDialog));
const SessionFiles = lazyComponent(() => import("./SessionFiles").then((it) => it.SessionFiles));
const EditMessage = lazyComponent(() => import("./EditMessage").then((it) => it.EditMessage));
const Usage = lazyComponent(() => import("./Usage").then((it) => it.Usage));
const RawPanel = lazyComponent(() => import("./RawPanel").then((it) => it.RawPanel));
const ShareDialog = lazyComponent(() => import("../share/ShareDialog").then((it) => it.ShareDialog));

const NO_ROWS: readonly Row[] = [];

interface Props {
  readonly threadId: string;
  /** The message and part in the page's address. */
  readonly message: string | null;
  readonly part: string | null;
  /** The words in the page's address that are marked. */
  readonly query: string | null;
  /** Whether the changed files are shown, and the one in the page's address. */
  readonly isFiles: boolean;
  readonly file: string | null;
}

/** The panel that is open above the messages. */
export type Panel = "usage" | "share" | "tags" | "note";

/** A session: its header, messages and composer. */
export function Conversation({ threadId, message, part, query, isFiles, file }: Props) {
  const [cache] = useState(() => new MessageCache(threadId));
  const [branch, setBranch] = useState<string | null>(null);
  const [internal, setInternal] = useState(false);
  const [selected, setSelected] = useState<string | null>(message);
  const [panel, setPanel] = useState<Panel | null>(null);
  const [raw, setRaw] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [folds, setFolds] = useState<{ readonly open: boolean } | null>(null);
  const [filter, setFilter] = useState<Filter>(() => new Set());
  const [timelineOf, setTimelineOf] = useState<string | null>(null);
  const list = useRef<ListControl>(null);
  const composer = useRef<ComposerControl>(null);

  const {
    data: thread,
    refetch,
    error: noThread,
  } = useQuery({
    queryKey: ["thread", threadId],
    queryFn: () => getThread(threadId),
    initialData: () => arrivedThread(threadId),
  });
  const { outline, error, isStale, reload } = useOutline(threadId, { branch, internal, message, cache });
  const whole = outline?.complete ? outline : undefined;
  const pane = useOutlinePane(outline && (() => isLong(outline)));
  const overview = useOverview(threadId, branch, whole, cache);
  const turns = useTurns(whole, overview);
  const { summary, isLoading } = useSummary(threadId, thread);
  const { agent, last, choose, refresh: refetchAgents } = useThreadAgent(threadId, thread);
  const refresh = useCallback(async () => {
    const [found] = await Promise.all([reload(), refetch(), refetchAgents()]);
    // The caller replaces live messages with the stored ones: those must be loaded.
    await cache.load(found.data?.rows.slice(-TAIL_LENGTH) ?? []);
  }, [reload, refetch, refetchAgents, cache]);
  const stored = useTail(cache, outline);
  const live = useLive(threadId, { stored, agent, last: last?.name, onSettled: refresh });
  useThreadUpdates(threadId, refresh, live.followActiveRun);

  const liveIds = live.messages.map(({ id, role }) => `${role} ${id}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a delta does not change the rows
  const rows = useMemo(() => rowsOf(outline, live.messages, live.after), [outline, liveIds, live.after]);
  const allRows = whole ? rows : NO_ROWS;
  const liveById = useMemo(() => new Map(live.messages.map((one) => [one.id, one])), [live.messages]);
  useBranchOf(message, rows, whole !== undefined && !isStale, branch, setBranch);

  const showRaw = useCallback((id: string) => setRaw(id), []);
  const canWrite = thread !== undefined && !isImported(thread);
  const newest = mergeLive(stored, live).at(-1);
  const replies = useReplies(live, composer);
  const isWaiting = canWrite && waitsForUser(newest, last, live);
  const showWaiting = () => focusPendingCall() || (newest && list.current?.show(newest.id));
  const clientCallActions = useClientCallActions(newest, last, { ...live, ...replies });
  const contexts = useRenderContexts({
    threadId,
    cache,
    respondToApproval: replies.respondToApproval,
    clientCallActions,
    endActions: useEndActions({ last: newest, live, agent, canWrite, composer }),
    showRaw,
    folder: thread?.project,
    message,
    part,
  });
  const target = useMemo(
    () => (message === null ? null : { message, part, quiet: query !== null }),
    [message, part, query],
  );
  const frame = useRef<HTMLDivElement>(null);
  const position = usePosition(frame, list, message, part);
  const showPlace = (place: Place, words: string | null = null) => {
    position.show(place);
    go(toThread(threadId, place.messageId, place.part, words), { replace: true });
    setSelected(place.messageId);
    list.current?.show(place.messageId, place.part, words === null);
  };
  const find = useFind({
    threadId,
    rows: allRows,
    route: useMemo(
      () => ({ query, place: message === null ? null : { messageId: message, part } }),
      [query, message, part],
    ),
    top: useCallback(() => list.current?.top() ?? null, []),
    onShow: (place: Place | null, words: string | null) => {
      if (place) showPlace(place, words);
      else go(toThread(threadId, message, part, words), { replace: true });
    },
  });
  useMarks({
    frame,
    parts: find.parts,
    current: find.current,
    fallback: find.words,
    list: {
      show: (place) => list.current?.show(place.messageId, place.part, false),
      hold: () => list.current?.hold(),
    },
  });
  const actions = useActions({ threadId, cache, live, composer, canWrite, refresh, setBranch, setEditing });
  const copyLink = (id?: string) => void copyWithToast(linkTo(threadId, id), "Link copied");
  const toStop = useStops({ rows, turns, position, onShow: showPlace });
  useKeys({ list, selected, copyLink, showRaw, setFolds, find: find.open, toStop });
  const runOf = (id?: string | null) => (id && (liveById.get(id) ?? cache.get(id))?.runId) || undefined;
  const newestRun = useNewestRun(threadId, stored.findLast((one) => one.runId)?.runId || undefined);
  const currentRun = () =>
    runOf(selected) ?? (outline?.opensAtEnd ? undefined : runOf(position.get()?.messageId)) ?? newestRun;
  const more = useMenu({
    threadId,
    hasRun: newestRun !== undefined,
    currentRun,
    copyLink,
    internal,
    setInternal,
    setPanel,
  });
  const write = () => composer.current?.focus();
  const resume = useResume({ thread, overview, canWrite, write, fork: actions.fork });
  const timeline = turns.nodes?.find(({ turn }) => turn.messageId === timelineOf);
  const edited = editing === null ? undefined : cache.get(editing);

  if (noThread) return <Failure error={noThread} retry={() => void refresh()} />;
  return (
    <ConversationContext folds={folds} overview={overview}>
      <div className={styles.conversation}>
        <Header
          thread={thread}
          summary={summary}
          isLoading={isLoading}
          overview={overview}
          models={outline?.models ?? []}
          isRunning={live.busy}
          isWaiting={isWaiting}
          actions={
            <HeaderActions
              onReplay={newestRun === undefined ? undefined : () => go(toRun(currentRun() ?? newestRun))}
              onFind={find.open}
              onShare={() => setPanel("share")}
              resume={resume}
              more={more}
            />
          }
        />
        <Summary
          overview={overview}
          onShow={showPlace}
          onFiles={() => go(toFiles(threadId))}
          onUsage={() => setPanel("usage")}
        />
        <Toolbar threadId={threadId} isFiles={isFiles} files={overview?.files.length}>
          {!isFiles && (
            <>
              <ListBar rows={rows} filter={filter} onFilter={setFilter} onEnd={() => list.current?.toEnd()} />
              <IconButton label="Outline" pressed={pane.isOpen} onClick={pane.toggle} data-outline-toggle>
                <TableOfContents size={16} />
              </IconButton>
            </>
          )}
        </Toolbar>
        {branch !== null && <BranchNote onActivate={() => actions.chooseBranch(branch)} />}
        {find.isOpen && <FindBar find={find} />}
        <div className={styles.body}>
          {isFiles && (
            <SessionFiles
              threadId={threadId}
              branch={branch}
              overview={overview}
              folder={thread?.project}
              selected={file}
            />
          )}
          <div className={styles.column} data-hidden={isFiles}>
            <div ref={frame} className={styles.messages}>
              {error && !whole ? (
                <Failure error={error} retry={() => void refresh()} />
              ) : outline && thread ? (
                rows.length ? (
                  <MessageList
                    rows={rows}
                    outline={outline}
                    cache={cache}
                    live={liveById}
                    target={target}
                    filter={filter}
                    onFilter={setFilter}
                    overview={overview}
                    onTimeline={setTimelineOf}
                    canWrite={canWrite}
                    opensAtEnd={outline.opensAtEnd}
                    selected={selected}
                    onSelect={(messageId) => {
                      setSelected(messageId);
                      position.show({ messageId, part: null });
                    }}
                    actions={actions}
                    editing={editing}
                    editor={
                      edited?.role === "user" && (
                        <EditMessage
                          message={edited}
                          live={live}
                          onClose={(isSent) => {
                            flushSync(() => setEditing(null)); // no key is lost between the field and what follows it
                            if (isSent) composer.current?.focus();
                            else focusInMessage(edited.id, "[data-action=edit]");
                          }}
                        />
                      )
                    }
                    contexts={contexts}
                    liveId={live.streamingId}
                    control={list}
                  />
                ) : (
                  <Empty title="No messages yet" />
                )
              ) : (
                <Loading />
              )}
              {thread && rows.length > 0 && (
                <MessageMap turns={turns} find={find} list={list} onShow={showPlace} />
              )}
            </div>
            {thread && !canWrite && <ImportedThread thread={thread} />}
            {canWrite && (
              <Composer
                live={live}
                thread={thread}
                agent={agent}
                onChoose={choose}
                control={composer}
                onShowWaiting={isWaiting ? showWaiting : undefined}
              />
            )}
          </div>
          {pane.isOpen && outline && !isFiles && (
            <SessionOutline
              pane={pane}
              turns={turns}
              position={position}
              folder={thread?.project}
              onShow={(messageId, part) => showPlace({ messageId, part })}
              onTimeline={({ turn }) => setTimelineOf(turn.messageId)}
            />
          )}
        </div>
        {raw !== null && (
          <RawPanel
            key={raw}
            threadId={threadId}
            messageId={raw}
            parentId={cache.parentOf(raw)}
            onClose={() => setRaw(null)}
          />
        )}
        {timeline && (
          <WaterfallDialog
            turn={timeline.turn}
            calls={timeline.calls}
            folder={thread?.project}
            onShow={(messageId, part) => showPlace({ messageId, part })}
            onClose={() => setTimelineOf(null)}
          />
        )}
        {panel === "usage" && outline && <Usage usage={outline.usage} onClose={() => setPanel(null)} />}
        {thread && (panel === "tags" || panel === "note") && (
          <SessionDialog thread={thread} kind={panel} onClose={() => setPanel(null)} />
        )}
        {panel === "share" && <ShareDialog threadId={threadId} onClose={() => setPanel(null)} />}
      </div>
    </ConversationContext>
  );
}

/** The replies to calls. The focus moves on to the next call that waits for one, or to the composer. */
function useReplies(
  { respondToApproval, addToolOutput }: Pick<Live, "respondToApproval" | "addToolOutput">,
  composer: RefObject<ComposerControl | null>,
) {
  return useMemo(() => {
    const moveFocus = () => focusPendingCall() || composer.current?.focus();
    return {
      respondToApproval: (...args: Parameters<typeof respondToApproval>) => {
        moveFocus();
        return respondToApproval(...args);
      },
      addToolOutput: (...args: Parameters<typeof addToolOutput>) => {
        moveFocus();
        return addToolOutput(...args);
      },
    };
  }, [respondToApproval, addToolOutput, composer]);
}

/** Switches to the branch of the message in the address if the current branch does not contain it. */
function useBranchOf(
  message: string | null,
  rows: readonly { readonly id: string }[],
  isLoaded: boolean,
  branch: string | null,
  setBranch: (through: string) => void,
): void {
  const isMissing = message !== null && isLoaded && !rows.some(({ id }) => id === message);
  useEffect(() => {
    if (isMissing && branch !== message) setBranch(message);
  }, [isMissing, branch, message, setBranch]);
}
