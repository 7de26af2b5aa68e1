import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./Lazy.module.css";

/** How far below the window content is rendered. */
const MARGIN = "800px 0px";

/** Content that is rendered when it comes near the window. Before, there is a space of about its height. */
export function Lazy({ rows, children }: { rows: number; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { root: document.getElementById("main"), rootMargin: MARGIN },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  if (isNear) return children;
  return <div ref={place} className={styles.place} style={{ "--rows": rows } as object} />;
}
