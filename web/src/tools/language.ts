/** The language of a file by its name. */
export function languageOf(path: string): string | undefined {
  const name = /[^/\\]*$/.exec(path)?.[0] ?? "";
  if (/^(?:Makefile|Dockerfile)$/.test(name)) return name.toLowerCase();
  return /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase();
}
