export function findChromium(): Promise<{ path: string; args: string[] } | null>;
