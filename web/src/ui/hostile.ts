/** Text and addresses from anywhere, made safe to look at and to press. */

/** What is not seen, or makes what is seen lie: controls, bidi orders, what has no width, halves of characters. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2028\u2029\ufff9-\ufffb]/gu;
const PLAIN = /^[\n\t\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff]*$/;

const JOINERS = /[\u200c\u200d]/;
const MARKS_OF_DIRECTION = /[\u200e\u200f\u061c]/;
const VARIATION = /[\ufe00-\ufe0f]/;
const IDEOGRAPHIC_VARIATION = /[\u{e0100}-\u{e01ef}]/u;
const TAG = /[\u{e0020}-\u{e007f}]/u;

const BEFORE_EMOJI_JOINER = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u;
const EMOJI = /^[\p{Extended_Pictographic}\u2640\u2642]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
// Scripts whose letters take another form beside a joiner.
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

const NEAR = 2; // UTF-16 units: one character on either side

/** The text with every trick in it shown as `⟦U+202E⟧`; what people write is left as it is. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, (sign: string, at: number) =>
    isOrdinary(sign, text, at) ? sign : `⟦U+${codeOf(sign)}⟧`,
  );
}

const codeOf = (sign: string): string =>
  (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

function isOrdinary(sign: string, text: string, at: number): boolean {
  if (sign === "\n" || sign === "\t") return true;
  const before = text.slice(Math.max(0, at - NEAR), at);
  const after = text.slice(at + sign.length, at + sign.length + NEAR);
  if (sign === "\r") return after.startsWith("\n");
  if (JOINERS.test(sign)) {
    if (sign === "\u200d" && BEFORE_EMOJI_JOINER.test(before) && EMOJI.test(after)) return true;
    return JOINING.test(before);
  }
  if (MARKS_OF_DIRECTION.test(sign)) return RIGHT_TO_LEFT.test(before) || RIGHT_TO_LEFT.test(after);
  if (VARIATION.test(sign)) return before !== "" && !VARIATION.test(before.slice(-1));
  if (IDEOGRAPHIC_VARIATION.test(sign)) return /\p{Script=Han}$/u.test(before);
  return TAG.test(sign) && isOfFlag(text, at);
}

/** Whether a tag is of a flag such as Scotland's: tags alone back to a black flag. */
function isOfFlag(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 16), at);
  return /\u{1f3f4}[\u{e0020}-\u{e007e}]{0,7}$/u.test(before);
}

const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** The address if a link may lead there, else null: no scripts, no files, nothing relative. */
export function safeHref(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const found = new URL(url);
  return PROTOCOLS.has(found.protocol) ? found.href : null;
}

/** What every link into the open carries. */
export const OUTWARD = { target: "_blank", rel: "noopener noreferrer nofollow" } as const;
