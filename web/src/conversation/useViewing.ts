/** What the drawing of messages needs in a conversation: blobs, times, links, raw events, answers. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { BlobAddresses, loadBlob } from "../api/blobs";
import type { Live } from "../chat/live";
import { Messages } from "../parts/Messages";
import { toThread } from "../ui/routing";
import type { Viewing } from "../viewing/viewing";
import type { MessageCache } from "./cache";

interface Given {
  readonly threadId: string;
  readonly cache: MessageCache;
  readonly answer: Live["answer"];
  readonly showRaw: (messageId: string) => void;
  /** The part that the address names. */
  readonly message: string | null;
  readonly part: string | null;
}

export const linkTo = (threadId: string, messageId: string, path?: string): string =>
  new URL(toThread(threadId, messageId, path), location.href).href;

/** How stored messages are drawn, and how the one that is being written is. */
export function useViewings(given: Given): readonly [Viewing, Viewing] {
  const { threadId, cache, answer, showRaw, message, part } = given;
  const [blobs] = useState(() => new BlobAddresses());
  useEffect(() => () => blobs.close(), [blobs]);
  const version = useSyncExternalStore(blobs.subscribe, blobs.version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new addresses of blobs make a new view
  return useMemo(() => {
    const stored: Viewing = {
      threadId,
      live: false,
      timing: ({ messageId, path }) => cache.timing(messageId, path),
      loadBlob,
      blobHref: (url) => blobs.of(url),
      answer,
      linkTo: ({ messageId, path }) => linkTo(threadId, messageId, path),
      showRaw,
      target: message === null ? undefined : { messageId: message, path: part ?? "" },
      Messages,
    };
    return [stored, { ...stored, live: true }] as const;
  }, [threadId, cache, answer, showRaw, message, part, blobs, version]);
}
