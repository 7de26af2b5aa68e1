import { Download, ExternalLink, File as FileIcon, FileImage, FileText } from "lucide-react";
import { useState } from "react";
import type { FilePart, ImagePart, ReasoningFilePart } from "../partita.gen";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { lazyComponent } from "../ui/lazyModule";
import { Loading } from "../ui/States";
import { EXTERNAL_LINK, visible } from "../ui/sanitize";
import styles from "./FileView.module.css";
import { type FileSource, mediaKind, useFileSource } from "./fileUrls";
import { ImageView } from "./ImageView";
import type { PartProps } from "./PartView";

const PdfView = lazyComponent(() => import("./PdfView").then((it) => it.PdfView), <Loading />);

type AnyFile = FilePart | ImagePart | ReasoningFilePart;

/** Bytes. A larger image is displayed only when the user opens it. */
const MAX_EAGER = 20_000_000;

/** A file: a preview if possible, else its name and a download link. */
export function FileView({ part }: PartProps<AnyFile>) {
  const source = useFileSource(part.url);
  const [isOpen, setOpen] = useState(false);
  const mediaType = part.mediaType ?? (part.type === "image" ? "image/*" : "application/octet-stream");
  const kind = hasConsistentType(part.url, mediaType) ? mediaKind(mediaType) : "file";
  const name = nameOf(part);
  const chip = <Chip name={name} mediaType={mediaType} source={source} />;
  if (source.kind !== "local") return chip;
  if (kind === "image" && ((source.size ?? 0) <= MAX_EAGER || isOpen))
    return <ImageView href={source.href} name={name} />;
  if (kind === "audio" || kind === "video")
    return (
      <div className={styles.media}>
        <Player kind={kind} href={source.href} name={name} />
        {chip}
      </div>
    );
  if (kind === "file") return chip;
  return (
    <div className={styles.media}>
      <div className={styles.line}>
        {chip}
        <Button small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Close" : "Preview"}
        </Button>
      </div>
      {isOpen && kind === "pdf" && <PdfView url={part.url} name={name} />}
    </div>
  );
}

/** Whether the media type in a `data:` URL agrees with that of the part. */
function hasConsistentType(url: string, mediaType: string): boolean {
  const inUrl = /^data:([^;,]*)/i.exec(url)?.[1];
  return inUrl === undefined || mediaKind(inUrl) === mediaKind(mediaType);
}

function nameOf(part: AnyFile): string {
  const name = part.type === "image" ? part.name : part.filename;
  return visible(name || (part.type === "image" ? "Image" : "File"));
}

function Player({ kind, href, name }: { kind: "audio" | "video"; href: string; name: string }) {
  return kind === "audio" ? (
    // biome-ignore lint/a11y/useMediaCaption: there are none
    <audio className={styles.player} controls preload="none" src={href} aria-label={name} />
  ) : (
    // biome-ignore lint/a11y/useMediaCaption: there are none
    <video className={styles.player} controls preload="none" src={href} aria-label={name} />
  );
}

function Chip({ name, mediaType, source }: { name: string; mediaType: string; source: FileSource }) {
  const Icon = mediaType.startsWith("image/") ? FileImage : mediaType.endsWith("pdf") ? FileText : FileIcon;
  const size = source.kind === "local" && source.size !== undefined ? bytes(source.size) : null;
  return (
    <span className={styles.chip}>
      <Icon size={15} aria-hidden />
      <span className={styles.name}>{name}</span>
      <span className={styles.facts}>{[visible(mediaType), size].filter(Boolean).join(" · ")}</span>
      {source.kind === "local" && (
        <a
          className={styles.get}
          href={source.href}
          download={fileName(name)}
          aria-label={`Download ${name}`}
        >
          <Download size={14} aria-hidden />
        </a>
      )}
      {source.kind === "remote" && (
        <a className={styles.get} href={source.href} title={visible(source.href)} {...EXTERNAL_LINK}>
          <ExternalLink size={14} aria-hidden /> Open from {source.host}
        </a>
      )}
      {source.kind === "none" && <span className={styles.facts}>not available</span>}
    </span>
  );
}

const fileName = (name: string): string => name.replace(/[/\\:]/g, "_").slice(0, 200);
