import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./Button";

/** Copies a text, or the result of a function. */
export function CopyButton({
  text,
  label,
  icon = <Copy size={14} />,
}: {
  text: string | (() => string | Promise<string>);
  label: string;
  icon?: ReactNode;
}) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
    setDone(true);
  };
  return (
    <IconButton label={done ? "Copied" : label} onClick={() => void copy()}>
      {done ? <Check size={14} /> : icon}
    </IconButton>
  );
}
