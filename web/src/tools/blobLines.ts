/** The lines of a blob, loaded in pieces. */
import { useCallback, useMemo, useRef, useState } from "react";
import { type BlobPiece, useRenderContext } from "../context/renderContext";
import { Lines } from "./lines";
import { NEXT_BYTES } from "./outputs";

/** Decodes pieces of bytes into lines. A character that is split between two pieces is decoded correctly. */
class LineDecoder {
  readonly lines: Lines;
  loaded = 0;
  private readonly utf8 = new TextDecoder();

  constructor(
    readonly size: number,
    colours: boolean,
  ) {
    this.lines = new Lines(colours);
  }

  add(data: Uint8Array<ArrayBuffer>): void {
    this.loaded += data.length;
    const isLast = this.loaded >= this.size;
    this.lines.add(this.utf8.decode(data, { stream: !isLast }), isLast);
  }
}

interface BlobLines {
  readonly lines: Lines["all"];
  readonly loaded: number;
  readonly size: number;
  readonly isLoading: boolean;
  readonly more: () => Promise<void>;
}

export function useBlobLines(url: string, first: BlobPiece, colours: boolean): BlobLines {
  const { loadBlob } = useRenderContext();
  const decoder = useMemo(() => {
    const created = new LineDecoder(first.size, colours);
    created.add(first.data);
    return created;
  }, [first, colours]);
  const [, setLoaded] = useState(0);
  const [isLoading, setLoading] = useState(false);
  const isBusy = useRef(false);
  const more = useCallback(async () => {
    if (isBusy.current || decoder.loaded >= decoder.size) return;
    isBusy.current = true;
    setLoading(true);
    try {
      const from = decoder.loaded;
      const piece = await loadBlob(url, from, Math.min(from + NEXT_BYTES, decoder.size) - 1);
      decoder.add(piece.data);
      setLoaded(decoder.loaded);
    } finally {
      isBusy.current = false;
      setLoading(false);
    }
  }, [url, decoder, loadBlob]);
  return { lines: decoder.lines.all, loaded: decoder.loaded, size: decoder.size, isLoading, more };
}
