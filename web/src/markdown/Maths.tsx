import { useEffect, useRef, useState } from "react";
import { visible } from "../ui/hostile";
import styles from "./Maths.module.css";
import type { MathsToken } from "./rules";

const OPTIONS = {
  output: "mathml",
  trust: false,
  strict: "ignore",
  throwOnError: true,
  maxExpand: 200,
  maxSize: 20,
  // These two would write a style into the markup, which the policy of the page refuses.
  macros: { "\\pmb": "\\boldsymbol", "\\fcolorbox": "\\colorbox" },
} as const;

/** A box with a frame as a box without: a macro cannot leave out a colour. */
const unframed = (text: string): string => text.replace(/\\fcolorbox\s*\{[^{}]*\}/g, "\\colorbox");

/** Maths as MathML, which the browser draws; until that is there, or if it is none, the source. */
export function Maths({ token }: { token: MathsToken }) {
  const { text, display, open } = token;
  const place = useRef<HTMLSpanElement>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    if (open) return;
    let isHere = true;
    void import("katex").then(({ default: katex }) => {
      if (!isHere || !place.current) return;
      try {
        katex.render(unframed(text), place.current, {
          ...OPTIONS,
          displayMode: display,
          macros: { ...OPTIONS.macros },
        });
        setFailure(null);
        setDrawn(true);
      } catch (error) {
        setDrawn(false);
        setFailure(error instanceof Error ? error.message : String(error));
      }
    });
    return () => {
      isHere = false;
    };
  }, [text, display, open]);
  return (
    <span className={display ? styles.display : styles.inline} title={failure ? visible(failure) : undefined}>
      <span ref={place} hidden={!isDrawn} />
      {!isDrawn && <code className={failure ? styles.bad : styles.source}>{visible(text)}</code>}
    </span>
  );
}
