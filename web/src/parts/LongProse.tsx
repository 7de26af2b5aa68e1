import { Markdown } from "../markdown/Markdown";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";

/** A text with fewer characters and lines is not high enough to be cut. */
const SHORT_LENGTH = 600;
const SHORT_LINES = 12;

interface Props {
  readonly text: string;
  readonly label: string;
  readonly size: "small" | "medium" | "large";
  /** The text is still streaming: it is not cut. */
  readonly live: boolean;
  readonly breaks?: boolean;
}

/** A Markdown text, cut if it is high. */
export function LongProse({ text, label, size, live, breaks }: Props) {
  const markdown = <Markdown text={text} live={live} breaks={breaks} />;
  const lines = text.split("\n").length;
  if (live || (text.length < SHORT_LENGTH && lines < SHORT_LINES)) return markdown;
  return (
    <ShowAll label={label} size={size} what={lines > 1 ? plural(lines, "line") : undefined}>
      {markdown}
    </ShowAll>
  );
}
