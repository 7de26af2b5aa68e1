import { ImageOff } from "lucide-react";
import { useState } from "react";
import { Dialog } from "../ui/Dialog";
import styles from "./FileView.module.css";

/** A small image. A click opens it in a dialog. */
export function ImageView({ href, name }: { href: string; name: string }) {
  const [isLarge, setLarge] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken)
    return (
      <span className={styles.chip}>
        <ImageOff size={15} aria-hidden /> {name} <span className={styles.facts}>cannot be displayed</span>
      </span>
    );
  return (
    <>
      <button type="button" className={styles.image} title="Enlarge" onClick={() => setLarge(true)}>
        <img src={href} alt={name} loading="lazy" decoding="async" onError={() => setBroken(true)} />
      </button>
      {isLarge && (
        <Dialog title={name} wide onClose={() => setLarge(false)}>
          <img className={styles.large} src={href} alt={name} />
        </Dialog>
      )}
    </>
  );
}
