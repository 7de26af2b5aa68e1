import { Download, ExternalLink, File as FileIcon, FileImage, FileText } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { FilePart, ImagePart, ReasoningFilePart } from "../partita.gen";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { OUTWARD, visible } from "../ui/hostile";
import { Loading } from "../ui/States";
import { type Address, shownAs, useAddress } from "./addresses";
import styles from "./FileView.module.css";
import { ImageView } from "./ImageView";
import type { PartProps } from "./PartView";

const PdfView = lazy(() => import("./PdfView").then((it) => ({ default: it.PdfView })));

type AnyFile = FilePart | ImagePart | ReasoningFilePart;

/** Bytes; a bigger picture is shown when somebody asks for it. */
const MAX_EAGER = 20_000_000;

/** A file: looked at where it can be, else its name and a way to have it. */
export function FileView({ part }: PartProps<AnyFile>) {
  const address = useAddress(part.url);
  const [isOpen, setOpen] = useState(false);
  const mediaType = part.mediaType ?? (part.type === "image" ? "image/*" : "application/octet-stream");
  const kind = isDrawable(part.url, mediaType) ? shownAs(mediaType) : "file";
  const name = nameOf(part);
  const chip = <Chip name={name} mediaType={mediaType} address={address} />;
  if (address.kind !== "here") return chip;
  if (kind === "image" && ((address.size ?? 0) <= MAX_EAGER || isOpen))
    return <ImageView href={address.href} name={name} />;
  if (kind === "audio" || kind === "video")
    return (
      <div className={styles.media}>
        <Player kind={kind} href={address.href} name={name} />
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
      {isOpen && kind === "pdf" && (
        <Suspense fallback={<Loading />}>
          <PdfView url={part.url} name={name} />
        </Suspense>
      )}
    </div>
  );
}

/** A `data:` address says itself what it is; it is believed only where it says the same as the part. */
function isDrawable(url: string, mediaType: string): boolean {
  const said = /^data:([^;,]*)/i.exec(url)?.[1];
  return said === undefined || shownAs(said) === shownAs(mediaType);
}

export function nameOf(part: AnyFile): string {
  const given = part.type === "image" ? part.name : part.filename;
  return visible(given || (part.type === "image" ? "Image" : "File"));
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

function Chip({ name, mediaType, address }: { name: string; mediaType: string; address: Address }) {
  const Icon = mediaType.startsWith("image/") ? FileImage : mediaType.endsWith("pdf") ? FileText : FileIcon;
  const size = address.kind === "here" && address.size !== undefined ? bytes(address.size) : null;
  return (
    <span className={styles.chip}>
      <Icon size={15} aria-hidden />
      <span className={styles.name}>{name}</span>
      <span className={styles.facts}>{[visible(mediaType), size].filter(Boolean).join(" · ")}</span>
      {address.kind === "here" && (
        <a
          className={styles.get}
          href={address.href}
          download={fileName(name)}
          aria-label={`Download ${name}`}
        >
          <Download size={14} aria-hidden />
        </a>
      )}
      {address.kind === "elsewhere" && (
        <a className={styles.get} href={address.href} title={visible(address.href)} {...OUTWARD}>
          <ExternalLink size={14} aria-hidden /> Open from {address.host}
        </a>
      )}
      {address.kind === "none" && <span className={styles.facts}>not available here</span>}
    </span>
  );
}

const fileName = (name: string): string => name.replace(/[/\\:]/g, "_").slice(0, 200);
