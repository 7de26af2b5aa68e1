import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./Button";
import { copyText } from "./clipboard";
import { toastError } from "./Toasts";

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
    try {
      await copyText(typeof text === "string" ? text : await text());
      setDone(true);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <IconButton label={done ? "Copied" : label} onClick={() => void copy()}>
      {done ? <Check size={14} /> : icon}
    </IconButton>
  );
}
