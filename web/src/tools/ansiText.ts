/** The text of terminal output without its escape sequences. */

export const ESC = "\u001b";
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const LINK_OR_TITLE = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const OTHER_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-ln-~]|[()*+][0-9A-Za-z]|[=>78cDEHMNOZ])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
export const COLOUR = /\u001b\[[0-9;:]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a character followed by a backspace
const OVERSTRUCK = /[^\n\u0008]\u0008/g;

/** A line whose only escape sequences are those of colours. */
export const withoutOtherSequences = (line: string): string =>
  line.includes(ESC) || line.includes("\b")
    ? line.replace(LINK_OR_TITLE, "").replace(OTHER_SEQUENCES, "").replace(OVERSTRUCK, "")
    : line;

/** The visible text of a line that was overwritten after carriage returns, as by a progress bar. */
export function merged(line: string): string {
  const text = line.replace(/\r+$/, "");
  if (!text.includes("\r")) return text;
  const versions = text.split("\r").filter(Boolean);
  if (text.includes(ESC)) return versions.at(-1) ?? "";
  return versions.reduce((before, after) => after + before.slice(after.length), "");
}

/** The visible text of a line, without colours. */
export const plainLine = (line: string): string => merged(withoutOtherSequences(line)).replace(COLOUR, "");
