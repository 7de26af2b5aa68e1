/** The frame that renders diagrams. It has no origin and no network access, and sends only heights to the page. */
import mermaid from "mermaid";
import type { DiagramRequest, DiagramResponse } from "../markdown/mermaidMessages";

const send = (response: DiagramResponse): void => window.parent.postMessage(response, "*");

/** Options that a diagram must not override, in addition to those of the library. */
const SECURE = [
  "secure",
  "securityLevel",
  "startOnLoad",
  "maxTextSize",
  "maxEdges",
  "suppressErrorRendering",
  "htmlLabels",
  "flowchart",
  "theme",
  "themeCSS",
  "themeVariables",
  "fontFamily",
  "altFontFamily",
  "dompurifyConfig",
] as const;

function configure({ colours, dark }: DiagramRequest): void {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: "base",
    maxTextSize: 50_000,
    maxEdges: 1000,
    suppressErrorRendering: true,
    htmlLabels: false, // the library would parse HTML labels before it sanitizes them
    flowchart: { htmlLabels: false },
    secure: [...SECURE],
    fontFamily: "system-ui, sans-serif",
    themeVariables: {
      darkMode: dark,
      background: colours.ground,
      primaryColor: colours["accent-wash"],
      primaryTextColor: colours.text,
      primaryBorderColor: colours.accent,
      secondaryColor: colours["violet-wash"],
      tertiaryColor: colours.sunken,
      lineColor: colours["text-soft"],
      textColor: colours.text,
      noteBkgColor: colours["warn-wash"],
      noteTextColor: colours.text,
      fontSize: "14px",
    },
  });
}

let queue = Promise.resolve();
let count = 0;

/** Removes the attributes of tags. The library parses labels as HTML before it sanitizes them. */
const withoutAttributes = (source: string): string => source.replace(/<([a-z][\w-]*)[\s/][^<>]*>/gi, "<$1>");

async function render(request: DiagramRequest): Promise<void> {
  const container = document.getElementById("diagram");
  if (!container) return;
  try {
    // If the color scheme differs from that of the page, the browser gives the frame its own background.
    document.documentElement.style.colorScheme = request.dark ? "dark" : "light";
    configure(request);
    count += 1;
    const { svg } = await mermaid.render(`d${count}`, withoutAttributes(request.source));
    container.innerHTML = svg;
    const element = container.querySelector("svg");
    send({ type: "drawn", height: (element?.getBoundingClientRect().height ?? 0) + 8 });
  } catch (error) {
    container.replaceChildren();
    send({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

window.addEventListener("message", (event: MessageEvent<DiagramRequest>) => {
  if (event.source !== window.parent || typeof event.data?.source !== "string") return;
  queue = queue.then(() => render(event.data));
});
send({ type: "ready" });
