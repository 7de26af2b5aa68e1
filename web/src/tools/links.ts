/** The web: which page, which query, which results. */
import { type Call, detail, word } from "./call";
import { firstText, isObject } from "./json";

export interface Link {
  readonly title: string;
  readonly url: string;
  readonly about: string;
}

const MOST = 500;

export const urlOf = (call: Call): string =>
  word(call, "url", "uri") ||
  firstText(call.input.action, "url") ||
  (/https?:\/\/\S+/.exec(word(call, "prompt"))?.[0] ?? "");

export const queryOf = (call: Call): string =>
  word(call, "query", "q", "search_term", "objective") || firstText(call.input.action, "query", "url");

/** Titles and addresses of the results, as far as they are told. */
export function linksOf(call: Call): Link[] {
  const found: Link[] = [];
  const waiting: unknown[] = [detail(call, "results", "sources", "webResults"), call.given.value];
  for (let looked = 0; waiting.length && found.length < MOST && looked < 20 * MOST; looked++) {
    const item = waiting.shift();
    if (Array.isArray(item)) waiting.unshift(...item.slice(0, MOST));
    else if (isObject(item)) {
      const url = firstText(item, "url", "uri", "link");
      if (!url) waiting.unshift(item.content, item.results);
      else if (!found.some((one) => one.url === url)) {
        const about = firstText(item, "snippet", "description", "text", "content");
        found.push({ url, title: firstText(item, "title", "name"), about });
      }
    }
  }
  return found;
}
