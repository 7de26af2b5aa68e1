import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getThread } from "../api/messages";
import { Composer } from "../chat/Composer";
import { useReplying } from "../chat/clientCalls";
import { isImported } from "../chat/continuing";
import { overlay, useLive } from "../chat/live";
import { useAsked } from "../chat/useAsked";
import { linkTo } from "../drawing/useServed";
import { FoldAll } from "../ui/Fold";
import { go, toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { toast } from "../ui/Toasts";
import { BranchNote } from "./BranchNote";
import styles from "./Conversation.module.css";
import { MessageCache } from "./cache";
import { EditMessage } from "./EditMessage";
import { Find } from "./Find";
import { Header } from "./Header";
import { type ListControl, MessageList } from "./MessageList";
import { RawPanel } from "./RawPanel";
import { rowsOf } from "./rows";
import { Usage } from "./Usage";
import { useActions } from "./useActions";
import { useGrowth } from "./useGrowth";
import { useKeys } from "./useKeys";
import { useMenu } from "./useMenu";
import { useOutline } from "./useOutline";
import { TAIL, useTail } from "./useTail";
import { useViewings } from "./useViewing";

const ShareDialog = lazy(() => import("../share/ShareDialog").then((it) => ({ default: it.ShareDialog })));

interface Props {
  readonly threadId: string;
  /** The message, and the part of it, that the address names. */
  readonly message: string | null;
  readonly part: string | null;
}

/** What is open above the messages. */
export type Above = "find" | "usage" | "share";

/** A session, from its title to where one writes. */
export function Conversation({ threadId, message, part }: Props) {
  const [cache] = useState(() => new MessageCache(threadId));
  const [branch, setBranch] = useState<string | null>(null);
  const [internal, setInternal] = useState(false);
  const [selected, setSelected] = useState<string | null>(message);
  const [above, setAbove] = useState<Above | null>(null);
  const [raw, setRaw] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [folds, setFolds] = useState<{ readonly open: boolean } | null>(null);
  const list = useRef<ListControl>(null);

  const {
    data: thread,
    refetch,
    error: noThread,
  } = useQuery({
    queryKey: ["thread", threadId],
    queryFn: () => getThread(threadId),
  });
  const { outline, error, isOld, reload } = useOutline(threadId, branch, internal);
  const { agent, last, choose, again: askWho } = useAsked(threadId, thread);
  const again = useCallback(async () => {
    const [found] = await Promise.all([reload(), refetch(), askWho()]);
    // Who waits for this has shown the last messages until now: they must be there.
    await cache.load(found.data?.rows.slice(-TAIL) ?? []);
  }, [reload, refetch, askWho, cache]);
  const stored = useTail(cache, outline);
  const live = useLive(threadId, { stored, agent, last: last?.name, onSettled: again });
  useGrowth(threadId, again, live.wake);

  const liveIds = live.messages.map(({ id, role }) => `${role} ${id}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a delta does not change the rows
  const rows = useMemo(() => rowsOf(outline, live.messages, live.after), [outline, liveIds, live.after]);
  const liveById = useMemo(() => new Map(live.messages.map((one) => [one.id, one])), [live.messages]);
  useMissing(message, rows, outline !== undefined && !isOld, branch, setBranch);

  const showRaw = useCallback((id: string) => setRaw(id), []);
  const replying = useReplying(overlay(stored, live).at(-1), last, live);
  const [viewing, writing] = useViewings({
    threadId,
    cache,
    answer: live.answer,
    replying,
    showRaw,
    message,
    part,
  });
  const target = useMemo(() => (message === null ? null : { message, part }), [message, part]);
  const canSpeak = thread !== undefined && !isImported(thread);
  const actions = useActions({ threadId, cache, live, canSpeak, again, setBranch, setEditing });
  const copyLink = (id: string) =>
    void navigator.clipboard.writeText(linkTo(threadId, id)).then(() => toast("The link is copied."));
  useKeys({ list, selected, copyLink, showRaw, setFolds, find: () => setAbove("find") });
  const chosen = selected ?? rows.at(-1)?.id;
  const items = useMenu({
    threadId,
    runId:
      (chosen && (liveById.get(chosen) ?? cache.get(chosen))?.runId) ||
      stored.findLast((one) => one.runId)?.runId,
    internal,
    setInternal,
    setAbove,
  });
  const edited = editing === null ? undefined : cache.get(editing);

  if (noThread) return <Failure error={noThread} retry={() => void again()} />;
  return (
    <FoldAll.Provider value={folds}>
      <div className={styles.conversation}>
        <Header
          thread={thread}
          count={rows.length}
          models={outline?.models ?? []}
          usage={outline?.usage}
          busy={live.busy}
          items={items}
        />
        {branch !== null && <BranchNote onActivate={() => actions.chooseBranch(branch)} />}
        {outline ? (
          rows.length ? (
            <MessageList
              rows={rows}
              outline={outline}
              cache={cache}
              live={liveById}
              target={target}
              selected={selected}
              onSelect={setSelected}
              actions={actions}
              editing={editing}
              editor={
                edited?.role === "user" && (
                  <EditMessage message={edited} live={live} onClose={() => setEditing(null)} />
                )
              }
              viewing={viewing}
              writing={live.writing}
              writingView={writing}
              control={list}
            />
          ) : (
            <Empty title="Nothing has been said yet" />
          )
        ) : error ? (
          <Failure error={error} retry={() => void again()} />
        ) : (
          <Loading />
        )}
        {thread && <Composer live={live} thread={thread} agent={agent} onChoose={choose} />}
        {raw !== null && (
          <RawPanel
            key={raw}
            threadId={threadId}
            messageId={raw}
            holderId={cache.holderOf(raw)}
            onClose={() => setRaw(null)}
          />
        )}
        {above === "find" && (
          <Find
            threadId={threadId}
            onClose={() => setAbove(null)}
            onChoose={(id) => {
              setAbove(null);
              setSelected(id);
              go(toThread(threadId, id), { replace: true });
              list.current?.show(id);
            }}
          />
        )}
        {above === "usage" && outline && <Usage usage={outline.usage} onClose={() => setAbove(null)} />}
        {above === "share" && (
          <Suspense>
            <ShareDialog threadId={threadId} onClose={() => setAbove(null)} />
          </Suspense>
        )}
      </div>
    </FoldAll.Provider>
  );
}

/** A message that the address names and this branch has not: the branch through it is shown instead. */
function useMissing(
  message: string | null,
  rows: readonly { readonly id: string }[],
  isKnown: boolean,
  branch: string | null,
  setBranch: (through: string) => void,
): void {
  const isMissing = message !== null && isKnown && !rows.some(({ id }) => id === message);
  useEffect(() => {
    if (isMissing && branch !== message) setBranch(message);
  }, [isMissing, branch, message, setBranch]);
}
