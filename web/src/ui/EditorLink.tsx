import { SquareArrowOutUpRight } from "lucide-react";
import type { ReactNode } from "react";
import styles from "./Button.module.css";
import { editorUrl } from "./paths";
import { usePreference } from "./preferences";
import { EXTERNAL_LINK, visible } from "./sanitize";

interface Props {
  readonly path: string;
  /** The folder of the project. Without it the files are not on this machine. */
  readonly folder: string | undefined;
  readonly line?: number;
  /** What is linked; by default an icon. Without a link it is displayed unchanged. */
  readonly children?: ReactNode;
  readonly className?: string;
  /** What is linked names the link, and is not repeated in what it does. */
  readonly isNamed?: boolean;
}

/** A link that opens a file at a line in the editor of the user's choice. */
export function EditorLink({ path, folder, line, children, className, isNamed }: Props) {
  const [template] = usePreference("editor");
  const href = folder === undefined ? null : editorUrl(template, path, folder, line);
  if (href === null) return children ?? null;
  const label = visible(`Open ${path}${line === undefined ? "" : `, line ${line},`} in the editor`);
  const web = /^https?:/.test(href) ? EXTERNAL_LINK : { rel: EXTERNAL_LINK.rel };
  return (
    <a
      className={className ?? (children === undefined ? styles.icon : undefined)}
      href={href}
      title={label}
      aria-label={isNamed ? undefined : label}
      {...web}
    >
      {children ?? <SquareArrowOutUpRight size={14} aria-hidden />}
    </a>
  );
}
