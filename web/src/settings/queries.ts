/** The settings of the server and its sources, for the user of its machine. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { startTransition, useEffect, useOptimistic, useState } from "react";
import { accessKey } from "../api/client";
import { type ImportStatus, listen } from "../api/feed";
import {
  changeServerSettings,
  getPrices,
  getRedaction,
  getServerSettings,
  getSources,
  importNow,
  type ServerSetting,
  type ServerSettings,
  type SettingKey,
} from "../api/settings";

const SOURCES = ["sources"];
const SETTINGS = ["server-settings"];
const PRICES = ["prices"];

/** Whether the caller may be the user of the server's machine. The server decides: others get an error. */
export const mayBeLocal = (): boolean => accessKey() === null;

export const useSources = () =>
  useQuery({ queryKey: SOURCES, queryFn: ({ signal }) => getSources(signal), enabled: mayBeLocal() });

export const usePrices = () =>
  useQuery({ queryKey: PRICES, queryFn: ({ signal }) => getPrices(signal), enabled: mayBeLocal() });

export const useRedaction = () =>
  useQuery({
    queryKey: ["redaction"],
    queryFn: ({ signal }) => getRedaction(signal),
    enabled: mayBeLocal(),
  });

export const useServerSettings = () =>
  useQuery({ queryKey: SETTINGS, queryFn: ({ signal }) => getServerSettings(signal), enabled: mayBeLocal() });

/** A setting of the server; undefined until it has loaded. */
export const useServerSetting = (key: SettingKey): ServerSetting | undefined =>
  useServerSettings().data?.settings.find((one) => one.key === key);

/** Writes settings into the file of the user. They are shown at once; an error restores the former ones. */
export function useChangeSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: changeServerSettings,
    onMutate: (changes) => {
      const before = client.getQueryData<ServerSettings>(SETTINGS);
      const change = (one: ServerSetting) => ({ ...one, value: changes[one.key] ?? [] });
      if (before)
        client.setQueryData(SETTINGS, {
          ...before,
          settings: before.settings.map((one) => (one.key in changes ? change(one) : one)),
        });
      return { before };
    },
    onError: (_error, _changes, context) => client.setQueryData(SETTINGS, context?.before),
    onSuccess: (settings) => {
      client.setQueryData(SETTINGS, settings);
      void client.invalidateQueries({ queryKey: PRICES });
      return client.invalidateQueries({ queryKey: SOURCES });
    },
  });
}

/** The values of a setting that are chosen by checkboxes: these must change within their event, before it is saved. */
export function useChoice(key: SettingKey, stored: readonly string[]) {
  const change = useChangeSettings();
  const [chosen, show] = useOptimistic(stored);
  /** Shows the next values, and saves them; null restores the default. */
  const choose = (next: readonly string[], saved: readonly string[] | null) =>
    startTransition(async () => {
      show(next);
      await change.mutateAsync({ [key]: saved }).catch(() => undefined); // the caller shows `error`
    });
  return { chosen, choose, error: change.error };
}

export const useImportNow = () => useMutation({ mutationFn: importNow });

/** The progress of the import of the server. When one ends, the sources are loaded again. */
export function useImportStatus(): ImportStatus | null {
  const client = useQueryClient();
  const [status, setStatus] = useState<ImportStatus | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const nothing = () => undefined;
    listen(
      {
        connected: nothing,
        threads: nothing,
        runs: nothing,
        deleted: nothing,
        import: (next) => {
          setStatus(next);
          if (next.state !== "reading") void client.invalidateQueries({ queryKey: SOURCES });
        },
      },
      stop.signal,
    );
    return () => stop.abort();
  }, [client]);
  return status;
}
