import { ImageIcon } from "lucide-react";
import { useRenderContext } from "../context/renderContext";
import { EXTERNAL_LINK, visible } from "../ui/sanitize";
import styles from "./Markdown.module.css";

/** Image types that can neither contain scripts nor load resources. */
const SAFE_IMAGE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp);base64,/i;

/** An embedded image is displayed. A remote image is a link: loading it would reveal the reader to the host. */
export function Image({ href, text }: { href: string; text: string }) {
  const { blobHref } = useRenderContext();
  const local = SAFE_IMAGE.test(href) ? href : href.startsWith("blob:sha256:") ? blobHref(href) : null;
  if (local) return <img className={styles.picture} src={local} alt={visible(text)} loading="lazy" />;
  const name = visible(text) || "Image";
  if (/^https?:/i.test(href) && URL.canParse(href)) {
    const url = new URL(href);
    return (
      <a className={styles.chip} href={url.href} title={visible(url.href)} {...EXTERNAL_LINK}>
        <ImageIcon size={13} aria-hidden />
        {name} <span className={styles.host}>Open image from {url.host}</span>
      </a>
    );
  }
  return (
    <span className={styles.chip} title={visible(href.slice(0, 200))}>
      <ImageIcon size={13} aria-hidden />
      {name} <span className={styles.host}>not displayed</span>
    </span>
  );
}
