import { Download, File } from "lucide-react";
import { useRenderContext } from "../context/renderContext";
import type { FilePart, ImagePart } from "../partita.gen";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import styles from "./Media.module.css";

const DISPLAYABLE_IMAGE = /^(?:data:image\/(?:png|jpeg|gif|webp|avif|bmp)[;,]|blob:)/i;

/** An image or a file in an output. Nothing is loaded from other hosts. */
export function Media({ file }: { file: ImagePart | FilePart }) {
  const { blobHref } = useRenderContext();
  const name = visible((file.type === "image" ? file.name : file.filename) ?? "");
  const kind = visible(file.mediaType ?? "");
  const address = file.url.startsWith("blob:sha256:") ? blobHref(file.url.replace(/#.*$/s, "")) : file.url;
  const isImage = file.type === "image" || kind.startsWith("image/");
  if (isImage && address && (DISPLAYABLE_IMAGE.test(file.url) || file.url.startsWith("blob:sha256:")))
    return (
      <figure className={styles.figure}>
        <img className={styles.image} src={address} alt={name || "Image in the tool output"} />
        {name && <figcaption className={styles.caption}>{name}</figcaption>}
      </figure>
    );
  const label = [name || (isImage ? "Image" : "File"), kind].filter(Boolean).join(" · ");
  return (
    <p className={styles.file}>
      <File size={14} aria-hidden />
      <span>{label}</span>
      <Address url={file.url} address={address} />
    </p>
  );
}

function Address({ url, address }: { url: string; address: string | null }) {
  const outward = safeHref(url);
  if (outward)
    return (
      <a href={outward} {...EXTERNAL_LINK}>
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
