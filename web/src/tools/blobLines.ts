/** The lines of a blob, fetched piece by piece. */
import { useCallback, useMemo, useRef, useState } from "react";
import { type BlobPiece, useViewing } from "../viewing/viewing";
import { Lines } from "./lines";
import { NEXT } from "./outputs";

/** Bytes in, lines out: a character that was cut between two pieces is put together again. */
export class Gathering {
  readonly lines: Lines;
  loaded = 0;
  private readonly decoder = new TextDecoder();

  constructor(
    readonly size: number,
    colours: boolean,
  ) {
    this.lines = new Lines(colours);
  }

  add(data: Uint8Array<ArrayBuffer>): void {
    this.loaded += data.length;
    const isLast = this.loaded >= this.size;
    this.lines.add(this.decoder.decode(data, { stream: !isLast }), isLast);
  }
}

export interface BlobLines {
  readonly lines: Lines["all"];
  readonly loaded: number;
  readonly size: number;
  readonly isLoading: boolean;
  readonly more: () => Promise<void>;
}

export function useBlobLines(url: string, first: BlobPiece, colours: boolean): BlobLines {
  const { loadBlob } = useViewing();
  const gathering = useMemo(() => {
    const made = new Gathering(first.size, colours);
    made.add(first.data);
    return made;
  }, [first, colours]);
  const [, setLoaded] = useState(0);
  const [isLoading, setLoading] = useState(false);
  const isBusy = useRef(false);
  const more = useCallback(async () => {
    if (isBusy.current || gathering.loaded >= gathering.size) return;
    isBusy.current = true;
    setLoading(true);
    try {
      const from = gathering.loaded;
      const piece = await loadBlob(url, from, Math.min(from + NEXT, gathering.size) - 1);
      gathering.add(piece.data);
      setLoaded(gathering.loaded);
    } finally {
      isBusy.current = false;
      setLoading(false);
    }
  }, [url, gathering, loadBlob]);
  return { lines: gathering.lines.all, loaded: gathering.loaded, size: gathering.size, isLoading, more };
}
