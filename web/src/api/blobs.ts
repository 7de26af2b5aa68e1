/** The bytes of `blob:sha256:…`, whole or in ranges, and URLs for elements that load them. */
import { accessKey, address, request } from "./client";

/** Bytes of a blob. `size` is that of the whole blob. */
export interface BlobPiece {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly size: number;
  readonly mediaType: string;
}

const pathOf = (url: string): string => `api/blobs/${encodeURIComponent(url.replace(/^blob:sha256:/, ""))}`;

/** The bytes from `first` to `last`, inclusive; without them, all bytes. */
export async function loadBlob(url: string, first?: number, last?: number): Promise<BlobPiece> {
  const range = first === undefined ? undefined : `bytes=${first}-${last ?? ""}`;
  const response = await request(pathOf(url), range ? { headers: { range } } : {});
  const data = new Uint8Array(await response.arrayBuffer());
  const whole = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  return {
    data,
    size: whole ? Number(whole) : data.length,
    mediaType: response.headers.get("content-type") ?? "application/octet-stream",
  };
}

/**
 * URLs of blobs for `<img>` and other elements. If the server requires a key, elements cannot send it. Then the bytes
 * are fetched here, and the URL is null until they have loaded.
 */
export class BlobAddresses {
  private readonly objectUrls = new Map<string, string | null>();
  private readonly listeners = new Set<() => void>();
  private loaded = 0;

  of(url: string): string | null {
    if (!accessKey()) return address(pathOf(url));
    if (!this.objectUrls.has(url)) void this.fetch(url);
    return this.objectUrls.get(url) ?? null;
  }

  private async fetch(url: string): Promise<void> {
    this.objectUrls.set(url, null);
    try {
      const { data, mediaType } = await loadBlob(url);
      this.objectUrls.set(url, URL.createObjectURL(new Blob([data], { type: mediaType })));
    } catch {
      return; // the URL stays null
    }
    this.loaded += 1;
    for (const listener of this.listeners) listener();
  }

  /** Changes when another blob has loaded. */
  readonly version = (): number => this.loaded;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  close(): void {
    for (const url of this.objectUrls.values()) if (url) URL.revokeObjectURL(url);
    this.objectUrls.clear();
  }
}
