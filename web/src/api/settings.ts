/** The settings of the server, and where it searches for logs: for the user of its machine. */
import { getJson, type Listing, request, sendJson } from "./client";

export interface LogLocation {
  /** The agent that writes there; null for a folder that the user added. */
  readonly agent: string | null;
  readonly path: string;
  readonly exists: boolean;
  readonly isImported: boolean;
  readonly isFollowed: boolean;
  readonly files: number;
  /** Files that were never imported. */
  readonly newFiles: number;
  /** Stored sessions that were imported from it. */
  readonly sessions: number;
  readonly updatedAt: string | null;
  readonly problems: readonly { readonly file: string; readonly what: string; readonly hint: string }[];
  readonly problemCount: number;
}

export interface Sources {
  readonly items: readonly LogLocation[];
  /** Whether new sessions are imported while the server runs. */
  readonly isFollowing: boolean;
}

export type SettingKey = "import.agents" | "import.folders" | "prices" | "export.secrets" | "export.replace";

export interface ServerSetting {
  readonly key: SettingKey;
  readonly value: readonly string[];
  readonly source: "environment" | "project" | "user" | "default";
  /** The environment variable, or the file with the line. */
  readonly sourceName: string;
  readonly isReadOnly: boolean;
}

export interface ServerSettings {
  /** The file that is written. */
  readonly file: string;
  readonly settings: readonly ServerSetting[];
}

/** US dollars per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
}

export interface ModelPrice {
  readonly model: string;
  readonly responses: number;
  /** Responses without a cost. */
  readonly unpriced: number;
  readonly cost: number | null;
  /** `settings`: an own price; `list`: the price list; null: none is known. */
  readonly source: "settings" | "list" | null;
  readonly rates: Rates | null;
  /** The price in the price list. */
  readonly listed: Rates | null;
}

/** The models in the store with their prices, the most expensive first. */
export const getPrices = (signal?: AbortSignal): Promise<Listing<ModelPrice>> =>
  getJson("api/prices", {}, signal);

export const getSources = (signal?: AbortSignal): Promise<Sources> => getJson("api/sources", {}, signal);

/** Imports what is new in all places, in the background: the feed reports the progress. */
export const importNow = (): Promise<void> => sendJson("POST", "api/sources/import");

export const getServerSettings = (signal?: AbortSignal): Promise<ServerSettings> =>
  getJson("api/settings", {}, signal);

/** Changes settings; null removes one from the file. */
export const changeServerSettings = (
  changes: Readonly<Partial<Record<SettingKey, readonly string[] | null>>>,
): Promise<ServerSettings> => sendJson("PATCH", "api/settings", changes);

/** A kind of secret, and whether exports leave it out by default. */
export interface RedactedKind {
  readonly name: string;
  readonly what: string;
  /** It is replaced without a setting. */
  readonly isAlways: boolean;
  readonly isRedacted: boolean;
}

export const getRedaction = (signal?: AbortSignal): Promise<Listing<RedactedKind>> =>
  getJson("api/redaction", {}, signal);

/** A text with its secrets replaced, and with these other texts instead of those in the settings. */
export async function tryRedaction(
  text: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly replaced: number }> {
  const response = await request("api/redaction/test", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text, texts }),
    signal,
  });
  return response.json();
}
