/** Export of a thread as a file. */
import { request as send } from "./client";

export type ShareFormat = "html" | "markdown" | "json" | "jsonl" | "fixture";
export type ExcludedKind = "reasoning" | "tool-outputs" | "tool-calls" | "files" | "system" | "sub-agents";

export interface ShareRequest {
  readonly format: ShareFormat;
  readonly as?: string;
  readonly redact: {
    readonly kinds?: readonly string[];
    readonly custom?: readonly { readonly text: string; readonly pattern: boolean }[];
    readonly keep?: readonly string[];
  };
  readonly leaveOut: {
    readonly kinds?: readonly ExcludedKind[];
    readonly messages?: readonly string[];
    readonly parts?: readonly { readonly message: string; readonly path: string }[];
  };
  readonly messages?: { readonly internal?: boolean };
}

export interface SecretFinding {
  readonly id: string;
  readonly kind: string;
  readonly mark: string;
  readonly preview: string;
  readonly kept: boolean;
  readonly times: number;
  readonly places: readonly string[];
}

export interface SharePreview {
  readonly name: string;
  readonly bytes: number;
  readonly messages: number;
  readonly findings: readonly SecretFinding[];
  readonly removed: Readonly<Record<string, number>>;
  readonly losses: readonly { readonly path: string; readonly what: string; readonly why: string }[];
  readonly notices: readonly string[];
  readonly kinds: readonly { readonly name: string; readonly what: string; readonly wanted: boolean }[];
}

const at = (threadId: string): string => `api/threads/${encodeURIComponent(threadId)}/share`;

const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

export async function previewShare(
  threadId: string,
  request: ShareRequest,
  signal?: AbortSignal,
): Promise<SharePreview> {
  return (await post(`${at(threadId)}/preview`, request, signal)).json() as Promise<SharePreview>;
}

export interface SharedFile {
  readonly name: string;
  readonly data: Blob;
}

export const shareFile = async (threadId: string, request: ShareRequest): Promise<SharedFile> =>
  fileOf(await post(at(threadId), request));

/** Several threads as one file. */
export const shareFiles = async (threadIds: readonly string[], request: ShareRequest): Promise<SharedFile> =>
  fileOf(await post("api/share", { ...request, ids: threadIds }));

async function fileOf(response: Response): Promise<SharedFile> {
  const disposition = response.headers.get("content-disposition") ?? "";
  const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? "conversation";
  return { name, data: await response.blob() };
}
