/** Where the bytes of a file are, and how the file can be displayed. */

import { type RenderContext, useRenderContext } from "../context/renderContext";
import { safeHref } from "../ui/sanitize";

export type FileSource =
  /** In the page or on its server: it can be displayed. */
  | { readonly kind: "local"; readonly href: string; readonly size?: number }
  /** On another host: only a link, opened in a new tab. */
  | { readonly kind: "remote"; readonly href: string; readonly host: string }
  /** Not available, or not safe to open. */
  | { readonly kind: "none" };

export function sourceOf(url: string, blobHref: RenderContext["blobHref"]): FileSource {
  if (/^data:/i.test(url)) return { kind: "local", href: url, size: sizeOfData(url) };
  if (url.startsWith("blob:sha256:")) {
    const href = blobHref(url);
    return href ? { kind: "local", href } : { kind: "none" };
  }
  const safe = /^https?:/i.test(url) ? safeHref(url) : null;
  return safe ? { kind: "remote", href: safe, host: new URL(safe).host } : { kind: "none" };
}

export function useFileSource(url: string): FileSource {
  return sourceOf(url, useRenderContext().blobHref);
}

/** The size in bytes of a `data:` URL. */
export function sizeOfData(url: string): number {
  const comma = url.indexOf(",");
  const length = Math.max(0, url.length - comma - 1);
  if (!/;base64$/i.test(url.slice(0, comma))) return length;
  const padding = url.endsWith("==") ? 2 : url.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((length * 3) / 4) - padding);
}

/** The bytes of a `data:` URL. */
export function bytesOfData(url: string): Uint8Array<ArrayBuffer> {
  const comma = url.indexOf(",");
  const text = url.slice(comma + 1);
  if (!/;base64$/i.test(url.slice(0, comma))) return new TextEncoder().encode(decodeURIComponent(text));
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** How a file is displayed. Images that can contain scripts or styles, such as SVG, are plain files. */
type MediaKind = "image" | "audio" | "video" | "pdf" | "file";

export function mediaKind(mediaType: string): MediaKind {
  const type = mediaType.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (/^image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|\*)$/.test(type)) return "image";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return type === "application/pdf" ? "pdf" : "file";
}
