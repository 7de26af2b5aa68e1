/** What the drawing of messages is given at a moment of a replay. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { BlobAddresses, loadBlob } from "../api/blobs";
import type { Run } from "../partita.gen";
import { Messages } from "../parts/Messages";
import { toThread } from "../ui/routing";
import type { Viewing } from "../viewing/viewing";
import type { RunTimeline } from "./runTimeline";

export function useMomentViewing(run: Run, timeline: RunTimeline, place: number): Viewing {
  const [blobs] = useState(() => new BlobAddresses());
  useEffect(() => () => blobs.close(), [blobs]);
  const version = useSyncExternalStore(blobs.subscribe, blobs.version);
  const live = place < timeline.events.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a blob that has come is drawn again
  return useMemo(
    () => ({
      threadId: run.threadId,
      live,
      timing: () => undefined, // a part may not be over at this moment
      loadBlob,
      blobHref: (url: string) => blobs.of(url),
      linkTo: (part) => new URL(toThread(run.threadId, part.messageId, part.path), location.href).href,
      Messages,
    }),
    [run.threadId, live, blobs, version, timeline],
  );
}
