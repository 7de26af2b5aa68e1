/** What messages of a thread are drawn with wherever the server has them: their blobs, and links to their parts. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { BlobAddresses, loadBlob } from "../api/blobs";
import { classifyCalls } from "../api/messages";
import { Messages } from "../parts/Messages";
import { toThread } from "../ui/routing";
import { ToolViews } from "../viewing/toolViews";
import type { Viewing } from "../viewing/viewing";

export type Served = Pick<
  Viewing,
  "threadId" | "loadBlob" | "blobHref" | "toolViews" | "linkTo" | "Messages"
>;

export const linkTo = (threadId: string, messageId: string, path?: string): string =>
  new URL(toThread(threadId, messageId, path), location.href).href;

/** The very same until another blob has come, which is drawn anew. */
export function useServed(threadId: string): Served {
  const [blobs] = useState(() => new BlobAddresses());
  useEffect(() => () => blobs.close(), [blobs]);
  const toolViews = useMemo(() => new ToolViews((calls) => classifyCalls(threadId, calls)), [threadId]);
  const version = useSyncExternalStore(blobs.subscribe, blobs.version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new addresses of blobs make a new view
  return useMemo(
    () => ({
      threadId,
      loadBlob,
      blobHref: (url) => blobs.of(url),
      toolViews,
      linkTo: ({ messageId, path }) => linkTo(threadId, messageId, path),
      Messages,
    }),
    [threadId, blobs, toolViews, version],
  );
}
