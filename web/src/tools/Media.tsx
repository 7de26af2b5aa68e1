import { Download, File } from "lucide-react";
import type { FilePart, ImagePart } from "../partita.gen";
import { OUTWARD, safeHref, visible } from "../ui/hostile";
import { useViewing } from "../viewing/viewing";
import styles from "./Media.module.css";

const PICTURE = /^(?:data:image\/(?:png|jpeg|gif|webp|avif|bmp)[;,]|blob:)/i;

/** An image or a file that a tool gave. Nothing is loaded from elsewhere. */
export function Media({ file }: { file: ImagePart | FilePart }) {
  const { blobHref } = useViewing();
  const name = visible((file.type === "image" ? file.name : file.filename) ?? "");
  const kind = visible(file.mediaType ?? "");
  const address = file.url.startsWith("blob:sha256:") ? blobHref(file.url.replace(/#.*$/s, "")) : file.url;
  const isImage = file.type === "image" || kind.startsWith("image/");
  if (isImage && address && (PICTURE.test(file.url) || file.url.startsWith("blob:sha256:")))
    return (
      <figure className={styles.figure}>
        <img className={styles.image} src={address} alt={name || "Image that the tool gave"} />
        {name && <figcaption className={styles.caption}>{name}</figcaption>}
      </figure>
    );
  const words = [name || (isImage ? "Image" : "File"), kind].filter(Boolean).join(" · ");
  return (
    <p className={styles.file}>
      <File size={14} aria-hidden />
      <span>{words}</span>
      <Address url={file.url} address={address} />
    </p>
  );
}

function Address({ url, address }: { url: string; address: string | null }) {
  const outward = safeHref(url);
  if (outward)
    return (
      <a href={outward} {...OUTWARD}>
        {visible(outward)}
      </a>
    );
  if (!url.startsWith("blob:sha256:") || !address) return null;
  return (
    <a href={address} download>
      <Download size={13} aria-hidden /> Download
    </a>
  );
}
