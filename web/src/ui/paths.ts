/** Paths of files: relative to a folder, absolute, and as the URL that opens them in an editor. */

const ABSOLUTE = /^(?:[/\\]|[A-Za-z]:[/\\])/;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Schemes that run scripts, show other content or leave the page. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set([
  "about",
  "blob",
  "chrome",
  "data",
  "file",
  "filesystem",
  "ftp",
  "javascript",
  "mailto",
  "vbscript",
  "view-source",
  "ws",
  "wss",
]);

/** The path relative to the folder if it is inside, else the path itself. */
export function relativePath(path: string, folder: string | undefined): string {
  const root = folder?.replace(/[/\\]+$/, "");
  if (!root || !path.startsWith(root) || !/[/\\]/.test(path[root.length] ?? "")) return path;
  return path.slice(root.length + 1);
}

/** The absolute path; null if it is unknown. */
export function absolutePath(path: string, folder: string | undefined): string | null {
  if (!path || path.startsWith("~")) return null;
  if (ABSOLUTE.test(path)) return path;
  if (!folder || !ABSOLUTE.test(folder)) return null;
  return `${folder.replace(/[/\\]+$/, "")}/${path.replace(/^\.[/\\]/, "")}`;
}

/** The folders of a path, and the name of the file with the separator before it. */
export function splitPath(path: string): readonly [folders: string, name: string] {
  const at = Math.max(path.lastIndexOf("/", path.length - 2), path.lastIndexOf("\\", path.length - 2));
  return at > 0 ? [path.slice(0, at), path.slice(at)] : ["", path];
}

/**
 * The URL that opens a file at a line, by a template with `{path}`, `{line}` and `{column}`; null if the template is
 * empty or unsafe, or the path is unknown.
 */
export function editorUrl(
  template: string,
  path: string,
  folder: string | undefined,
  line = 1,
  column = 1,
): string | null {
  const scheme = SCHEME.exec(template)?.[1]?.toLowerCase();
  const absolute = absolutePath(path, folder)?.replaceAll("\\", "/");
  if (!scheme || UNSAFE_SCHEMES.has(scheme) || !absolute || !template.includes("{path}")) return null;
  const encoded = absolute.split("/").map(encodeSegment).join("/");
  const url = template
    .replace(/\/?\{path\}/g, (found) => (found[0] === "/" ? `/${encoded.replace(/^\/+/, "")}` : encoded))
    .replaceAll("{line}", String(line))
    .replaceAll("{column}", String(column));
  return URL.canParse(url) ? url : null;
}

/** The URL that opens a folder in an editor, by the same template; null if there is none. */
export const folderUrl = (template: string, folder: string): string | null =>
  editorUrl(template.replace(/[:&](?:\w+=)?\{(?:line|column)\}/g, ""), folder, undefined);

/** A lone surrogate cannot be encoded. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment.replace(/\p{Surrogate}/gu, "\ufffd")).replaceAll("%3A", ":");
