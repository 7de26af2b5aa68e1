import type { ButtonHTMLAttributes, ReactNode } from "react";
import styles from "./Button.module.css";
import { visible } from "./sanitize";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly small?: boolean;
  readonly icon?: ReactNode;
}

export function Button({ kind = "plain", small, icon, children, className, ...rest }: Props) {
  const names = [styles.button, styles[kind], small && styles.small, className].filter(Boolean).join(" ");
  return (
    <button type="button" className={names} data-kind={kind} {...rest}>
      {icon}
      {children}
    </button>
  );
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The accessible name and the tooltip. */
  readonly label: string;
  readonly pressed?: boolean;
}

/** A button with an icon and no text. */
export function IconButton({ label, pressed, children, className, ...rest }: IconProps) {
  const shown = visible(label);
  return (
    <button
      type="button"
      className={[styles.icon, className].filter(Boolean).join(" ")}
      aria-label={shown}
      title={shown}
      aria-pressed={pressed}
      {...rest}
    >
      {children}
    </button>
  );
}
