/** A chart as a picture: a copy of it, with the colours that it has now, drawn on a canvas. */

const SVG = "http://www.w3.org/2000/svg";
const KEPT = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;
const SCALE = 2;
const MARGIN = 16;
const HEAD = 34;
const ENTRY = 20;

export interface Entry {
  readonly name: string;
  /** The swatch of the legend, as it stands on the page. */
  readonly swatch: SVGElement | null;
}

/** A copy of an element in which every colour and size stands as it is computed now. */
export function inlined(element: Element): Element {
  const copy = element.cloneNode(true) as Element;
  const originals = [element, ...element.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, index) => {
    const style = getComputedStyle(original);
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      if (value && !value.startsWith("url(")) copies[index]?.setAttribute(name, value);
    }
    copies[index]?.removeAttribute("class");
  });
  return copy;
}

/** The picture: title, chart, legend on the ground that the page has. */
export function drawing(svg: SVGSVGElement, title: string, legend: readonly Entry[]): SVGSVGElement {
  const root = getComputedStyle(document.documentElement);
  const colour = (name: string) => root.getPropertyValue(name).trim();
  const { width, height } = svg.getBoundingClientRect();
  const whole = [
    width + 2 * MARGIN,
    height + HEAD + 2 * MARGIN + (legend.length && ENTRY * legend.length + 8),
  ];
  const picture = make("svg", {
    xmlns: SVG,
    width: whole[0],
    height: whole[1],
    viewBox: `0 0 ${whole.join(" ")}`,
  });
  picture.setAttribute("font-family", "system-ui, sans-serif");
  picture.append(make("rect", { width: whole[0], height: whole[1], fill: colour("--surface") }));
  picture.append(text(title, MARGIN, MARGIN + 16, colour("--text"), 15));
  const chart = inlined(svg);
  for (const [name, value] of Object.entries({ x: MARGIN, y: MARGIN + HEAD, width, height }))
    chart.setAttribute(name, String(value));
  picture.append(chart);
  legend.forEach(({ name, swatch }, index) => {
    const y = MARGIN + HEAD + height + 8 + index * ENTRY;
    if (swatch) {
      const copy = inlined(swatch);
      copy.setAttribute("x", String(MARGIN));
      copy.setAttribute("y", String(y));
      picture.append(copy);
    }
    picture.append(text(name, MARGIN + 30, y + 11, colour("--text-soft"), 12));
  });
  return picture as SVGSVGElement;
}

function make(name: string, attributes: Record<string, string | number | undefined>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function text(words: string, x: number, y: number, fill: string, size: number): SVGElement {
  const element = make("text", { x, y, fill, "font-size": size });
  element.textContent = words;
  return element;
}

/** The bytes of the picture, at twice the size. */
export async function toPng(picture: SVGSVGElement): Promise<Blob> {
  const width = Number(picture.getAttribute("width"));
  const height = Number(picture.getAttribute("height"));
  const source = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
  const url = URL.createObjectURL(source);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * SCALE);
    canvas.height = Math.ceil(height * SCALE);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser has no canvas to draw on.");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("The picture could not be made.");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}
