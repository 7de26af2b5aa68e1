/** Where the bytes of a file are, and what may be done with them. */
import { safeHref } from "../ui/hostile";
import { useViewing, type Viewing } from "../viewing/viewing";

export type Address =
  /** Here: it may be shown. */
  | { readonly kind: "here"; readonly href: string; readonly size?: number }
  /** Elsewhere: to be opened by a press, in a tab of its own. */
  | { readonly kind: "elsewhere"; readonly href: string; readonly host: string }
  /** Nowhere we would go. */
  | { readonly kind: "none" };

export function addressOf(url: string, blobHref: Viewing["blobHref"]): Address {
  if (/^data:/i.test(url)) return { kind: "here", href: url, size: sizeOfData(url) };
  if (url.startsWith("blob:sha256:")) {
    const href = blobHref(url);
    return href ? { kind: "here", href } : { kind: "none" };
  }
  const safe = /^https?:/i.test(url) ? safeHref(url) : null;
  return safe ? { kind: "elsewhere", href: safe, host: new URL(safe).host } : { kind: "none" };
}

export function useAddress(url: string): Address {
  return addressOf(url, useViewing().blobHref);
}

/** How many bytes a `data:` address holds. */
export function sizeOfData(url: string): number {
  const comma = url.indexOf(",");
  const length = Math.max(0, url.length - comma - 1);
  if (!/;base64$/i.test(url.slice(0, comma))) return length;
  const padding = url.endsWith("==") ? 2 : url.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((length * 3) / 4) - padding);
}

/** The bytes of a `data:` address. */
export function bytesOfData(url: string): Uint8Array<ArrayBuffer> {
  const comma = url.indexOf(",");
  const text = url.slice(comma + 1);
  if (!/;base64$/i.test(url.slice(0, comma))) return new TextEncoder().encode(decodeURIComponent(text));
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/** What a file can be shown as. A picture that can hold scripts or styles is a file like any other. */
export type Shown = "image" | "audio" | "video" | "pdf" | "file";

export function shownAs(mediaType: string): Shown {
  const type = mediaType.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (/^image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|\*)$/.test(type)) return "image";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return type === "application/pdf" ? "pdf" : "file";
}
