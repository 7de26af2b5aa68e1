import { ImageIcon } from "lucide-react";
import { OUTWARD, visible } from "../ui/hostile";
import { useViewing } from "../viewing/viewing";
import styles from "./Markdown.module.css";

/** Pictures that cannot hold a script, nor ask for anything. */
export const DRAWN_IMAGE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp);base64,/i;

/** A picture that is here is shown; one from elsewhere is a link, for looking at it tells that somebody does. */
export function Picture({ href, text }: { href: string; text: string }) {
  const { blobHref } = useViewing();
  const here = DRAWN_IMAGE.test(href) ? href : href.startsWith("blob:sha256:") ? blobHref(href) : null;
  if (here) return <img className={styles.picture} src={here} alt={visible(text)} loading="lazy" />;
  const name = visible(text) || "Picture";
  if (/^https?:/i.test(href) && URL.canParse(href)) {
    const url = new URL(href);
    return (
      <a className={styles.chip} href={url.href} title={visible(url.href)} {...OUTWARD}>
        <ImageIcon size={13} aria-hidden />
        {name} <span className={styles.host}>Open image from {url.host}</span>
      </a>
    );
  }
  return (
    <span className={styles.chip} title={visible(href.slice(0, 200))}>
      <ImageIcon size={13} aria-hidden />
      {name} <span className={styles.host}>not shown</span>
    </span>
  );
}
