import { RefreshCw, X } from "lucide-react";
import type { LogLocation } from "../api/settings";
import { ImportBar } from "../threads/ImportBar";
import { agentName } from "../ui/AgentMark";
import { Button, IconButton } from "../ui/Button";
import { Failure, Loading } from "../ui/States";
import { AddFolder } from "./AddFolder";
import { FileNote } from "./FileNote";
import {
  useChangeSettings,
  useChoice,
  useImportNow,
  useImportStatus,
  useServerSetting,
  useServerSettings,
  useSources,
} from "./queries";
import { SourceList, summaryOf } from "./SourceList";
import styles from "./Sources.module.css";

/** Where sessions of agents are searched for, and what is imported. */
export function Sources() {
  const sources = useSources();
  const settings = useServerSettings();
  const status = useImportStatus();
  const start = useImportNow();
  const failed = sources.error ?? settings.error;
  if (failed) return <Failure error={failed} retry={() => void sources.refetch()} />;
  if (!sources.data || !settings.data) return <Loading />;
  const { items, isFollowing } = sources.data;
  const isReading = status?.state === "reading" || start.isPending;
  return (
    <div className={styles.sources}>
      <div className={styles.head}>
        {status?.state === "reading" ? (
          <ImportBar status={status} />
        ) : (
          <p>
            {summaryOf(items)}.{" "}
            {isFollowing
              ? "New messages are imported as they are written."
              : "New sessions are not imported by themselves: the server was started without import."}
          </p>
        )}
        <Button
          icon={<RefreshCw size={15} aria-hidden />}
          disabled={isReading}
          onClick={() => start.mutate()}
        >
          Import now
        </Button>
      </div>
      {start.error && (
        <p role="alert" className={styles.error}>
          {start.error.message}
        </p>
      )}
      <Agents items={items.filter((one) => one.agent)} />
      <Folders items={items.filter((one) => !one.agent)} />
      <FileNote file={settings.data.file} />
    </div>
  );
}

/** The folders of agents, and for each agent whether it is imported. */
function Agents({ items }: { items: readonly LogLocation[] }) {
  const setting = useServerSetting("import.agents");
  const agents = [...new Set(items.flatMap((one) => one.agent ?? []))];
  const stored = setting?.value.length ? setting.value : agents;
  const { chosen, choose, error } = useChoice("import.agents", stored);
  const toggle = (agent: string, isWanted: boolean) => {
    const next = agents.filter((one) => (one === agent ? isWanted : chosen.includes(one)));
    choose(next, next.length === agents.length ? null : next);
  };
  return (
    <section className={styles.section} aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      {setting?.isReadOnly && <p className={styles.note}>Set by {setting.sourceName}; change it there.</p>}
      <fieldset className={styles.agents} disabled={setting?.isReadOnly}>
        <legend className="visually-hidden">Import sessions of</legend>
        {agents.map((agent) => (
          <label key={agent}>
            <input
              type="checkbox"
              checked={chosen.includes(agent)}
              disabled={chosen.length === 1 && chosen[0] === agent}
              title={
                chosen.length === 1 && chosen[0] === agent ? "At least one agent is imported" : undefined
              }
              onChange={(event) => toggle(agent, event.target.checked)}
            />
            {agentName(agent)}
          </label>
        ))}
      </fieldset>
      {error && (
        <p role="alert" className={styles.error}>
          {error.message}
        </p>
      )}
      <SourceList items={items} />
    </section>
  );
}

/** The folders that the user added. */
function Folders({ items }: { items: readonly LogLocation[] }) {
  const setting = useServerSetting("import.folders");
  const change = useChangeSettings();
  const folders = setting?.value ?? [];
  const save = (next: readonly string[]) =>
    change.mutateAsync({ "import.folders": next.length ? next : null });
  /** The setting may have `~` instead of the home folder. */
  const remove = (path: string) =>
    void save(folders.filter((one) => one !== path && !(one.startsWith("~") && path.endsWith(one.slice(1)))));
  return (
    <section className={styles.section} aria-labelledby="folders">
      <h2 id="folders">More folders</h2>
      <p className={styles.note}>
        Such as copies of sessions of another machine. They are searched for logs of all known agents.
      </p>
      {setting?.isReadOnly ? (
        <p className={styles.note}>Set by {setting.sourceName}; change it there.</p>
      ) : (
        <AddFolder onAdd={(folder) => save([...folders, folder])} isPending={change.isPending} />
      )}
      <SourceList
        items={items}
        action={({ path }) =>
          !setting?.isReadOnly && (
            <IconButton label={`Remove ${path}`} onClick={() => remove(path)}>
              <X size={15} />
            </IconButton>
          )
        }
      />
    </section>
  );
}
