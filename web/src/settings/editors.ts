/** The editors that open files by a URL, and whether a URL can be used for that. */

export interface Editor {
  readonly name: string;
  /** With `{path}`, `{line}` and `{column}`; empty: no links. */
  readonly url: string;
}

export const EDITORS: readonly Editor[] = [
  { name: "VS Code", url: "vscode://file/{path}:{line}:{column}" },
  { name: "Cursor", url: "cursor://file/{path}:{line}:{column}" },
  { name: "Zed", url: "zed://file/{path}:{line}:{column}" },
  { name: "JetBrains", url: "jetbrains://idea/navigate/reference?path={path}:{line}:{column}" },
  { name: "Sublime Text", url: "subl://open?url=file://{path}&line={line}&column={column}" },
  { name: "None", url: "" },
];

/** The choice for a URL that the user writes. */
export const CUSTOM = "Custom";

/** The name of the editor with this URL. */
export const editorOf = (url: string): string => EDITORS.find((one) => one.url === url)?.name ?? CUSTOM;
