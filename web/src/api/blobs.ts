/** The bytes behind `blob:sha256:…`, whole or in pieces, and addresses for what the browser loads itself. */
import { accessKey, address, ask } from "./client";

/** Bytes of a blob, and how many there are in all. */
export interface BlobPiece {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly size: number;
  readonly mediaType: string;
}

const pathOf = (url: string): string => `api/blobs/${encodeURIComponent(url.replace(/^blob:sha256:/, ""))}`;

/** From `first` up to `last`, both included; without them, all. */
export async function loadBlob(url: string, first?: number, last?: number): Promise<BlobPiece> {
  const range = first === undefined ? undefined : `bytes=${first}-${last ?? ""}`;
  const response = await ask(pathOf(url), range ? { headers: { range } } : {});
  const data = new Uint8Array(await response.arrayBuffer());
  const whole = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  return {
    data,
    size: whole ? Number(whole) : data.length,
    mediaType: response.headers.get("content-type") ?? "application/octet-stream",
  };
}

/**
 * Addresses of blobs. Where the server asks for a key, the browser cannot show it for a picture: then the bytes are
 * fetched here, and there is no address until they have come.
 */
export class BlobAddresses {
  private readonly made = new Map<string, string | null>();
  private readonly listeners = new Set<() => void>();
  private count = 0;

  of(url: string): string | null {
    if (!accessKey()) return address(pathOf(url));
    if (!this.made.has(url)) void this.fetch(url);
    return this.made.get(url) ?? null;
  }

  private async fetch(url: string): Promise<void> {
    this.made.set(url, null);
    try {
      const { data, mediaType } = await loadBlob(url);
      this.made.set(url, URL.createObjectURL(new Blob([data], { type: mediaType })));
    } catch {
      return; // who draws it sees that there is none
    }
    this.count += 1;
    for (const listener of this.listeners) listener();
  }

  /** How many have come: it changes when there is something new to draw. */
  readonly version = (): number => this.count;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  close(): void {
    for (const made of this.made.values()) if (made) URL.revokeObjectURL(made);
    this.made.clear();
  }
}
