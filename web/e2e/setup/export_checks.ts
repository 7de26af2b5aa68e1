/** What is checked within an exported page. Each function runs in the browser, and so contains all that it needs. */

interface Part {
  readonly type: string;
  readonly text?: unknown;
  readonly parts?: readonly Part[];
  readonly children?: readonly Message[];
}

interface Message {
  readonly id: string;
  readonly content: { readonly parts: readonly Part[] };
}

export interface Found {
  readonly missing: string[];
  readonly messages: number;
  readonly parts: number;
}

/** Waits until all messages are drawn, and opens whatever is folded or shortened. */
export async function openEverything(): Promise<void> {
  const end = performance.now() + 60_000;
  const frame = () => {
    if (performance.now() > end) throw new Error("the messages are not drawn within a minute");
    return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  };
  const buttons = () => [...document.querySelectorAll<HTMLElement>("section button")];
  while (!document.querySelector('section[aria-busy="false"]')) await frame();
  document.querySelector<HTMLElement>('button[aria-label="Expand all"]')?.click();
  while (!document.querySelector('button[aria-label="Collapse all"]')) await frame();
  for (let round = 0; round < 40; round += 1) {
    await frame();
    const closed = buttons().filter(
      (one) => one.ariaExpanded === "false" || /^Show (?:all|more (?:of|\())/.test(one.textContent ?? ""),
    );
    if (!closed.length) break;
    for (const one of closed) one.click();
  }
}

/** The messages, parts and words of the data of a page that its document does not show. */
export function missingIn(): Found {
  const missing: string[] = [];
  let messages = 0;
  let parts = 0;
  const places = new Map<string, Element>();
  for (const one of document.querySelectorAll("[data-place]"))
    places.set(one.getAttribute("data-place") ?? "", one);
  const letters = (text: string) =>
    text
      .normalize()
      .replace(/[^\p{L}\p{N}]+/gu, "")
      .toLowerCase();
  const shownIn = (element: Element) => {
    const attributes = [...element.querySelectorAll("[href], [alt], [title], [start]")].flatMap((one) =>
      ["href", "alt", "title", "start"].map((name) => one.getAttribute(name) ?? ""),
    );
    return letters([element.textContent, ...attributes, ...attributes.map(unescaped)].join(" "));
  };
  const unescaped = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const wordsOf = (text: string) => {
    // Numbers of lists are drawn by the browser; entities are decoded.
    const source = text
      .normalize()
      .replace(/^[>\s*+-]*\d+[.)]\s/gm, " ")
      .replace(/&[a-z]+\d*;|&#x?[\da-f]+;/gi, " ");
    return new Set(
      source
        .split(/[^\p{L}\p{N}]+/u)
        .map(letters)
        .filter(Boolean),
    );
  };
  const lookAt = (messageId: string, path: string, list: readonly Part[]) => {
    list.forEach((part, index) => {
      const place = `${path}${path && "."}${index}`;
      const element = places.get(`${messageId}/${place}`);
      parts += 1;
      if (!element) {
        missing.push(`part ${messageId}/${place} (${part.type})`);
        return;
      }
      if (typeof part.text === "string" && (part.type === "text" || part.type === "reasoning")) {
        const shown = shownIn(element);
        const lost = [...wordsOf(part.text)].filter((word) => !shown.includes(word));
        if (lost.length) missing.push(`words of ${messageId}/${place}: ${lost.slice(0, 8).join(" ")}`);
      }
      if (part.parts) lookAt(messageId, `${place}.parts`, part.parts);
      part.children?.forEach((child, at) => {
        lookAtMessage(child, messageId, `${place}.children.${at}`);
      });
    });
  };
  const lookAtMessage = (message: Message, messageId: string, path: string) => {
    messages += 1;
    if (!places.has(path ? `${messageId}/${path}` : messageId)) missing.push(`message ${messageId} ${path}`);
    lookAt(messageId, path, message.content.parts);
  };
  const data = JSON.parse(document.getElementById("partita")?.textContent ?? "") as { messages: Message[] };
  for (const message of data.messages) lookAtMessage(message, message.id, "");
  return { missing, messages, parts };
}

/** How many pictures a page has, and how many of them the browser cannot decode. */
export async function picturesIn(): Promise<{ pictures: number; unloaded: number }> {
  const pictures = [...document.querySelectorAll<HTMLImageElement>("section img")];
  for (const one of pictures) {
    one.loading = "eager"; // what is not near the screen would not be loaded
    await one.decode().catch(() => {});
  }
  return { pictures: pictures.length, unloaded: pictures.filter((one) => !one.naturalWidth).length };
}

/** What of the text of messages has become part of the page: scripts that ran, elements and links of theirs. */
export function strangers(): readonly string[] {
  const elements = document.querySelectorAll(
    "#root :is(script, style, link, meta, base, object, embed, iframe, form, a[href^='javascript:' i])",
  );
  const hit = "hit" in window ? ["a script of a message ran"] : [];
  return [...hit, ...[...elements].map((one) => one.outerHTML.slice(0, 200))];
}
