import type { ReactNode, Ref } from "react";

interface Props {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
  readonly ref?: Ref<HTMLDivElement>;
}

/** A window that scrolls, and that keys reach. */
export function Scrolling({ label, className, children, ref }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      ref={ref}
      role="group"
      aria-label={label}
      className={className}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
      tabIndex={0}
    >
      {children}
    </div>
  );
}
