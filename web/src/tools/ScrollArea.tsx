import type { ReactNode, Ref } from "react";

interface Props {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
  readonly ref?: Ref<HTMLDivElement>;
}

/** A scrolling element that can be reached by keyboard. */
export function ScrollArea({ label, className, children, ref }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <div
      ref={ref}
      role="group"
      aria-label={label}
      className={className}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
    >
      {children}
    </div>
  );
}
