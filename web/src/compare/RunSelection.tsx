import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight } from "lucide-react";
import { useState } from "react";
import { getThread } from "../api/threads";
import type { Run } from "../partita.gen";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { moment } from "../ui/format";
import { go, toCompare, toRun, toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { RunPicker } from "./RunPicker";
import styles from "./RunSelection.module.css";

interface Props {
  readonly a: Run | undefined;
  readonly b: Run | undefined;
  readonly onChoose: (side: "a" | "b", id: string) => void;
}

/** The two runs that are compared, with buttons to select others. */
export function RunSelection({ a, b, onChoose }: Props) {
  const [selecting, setSelecting] = useState<"a" | "b" | null>(null);
  return (
    <div className={styles.sides}>
      <Side name="A" run={a} onChange={() => setSelecting("a")} />
      <div className={styles.between}>
        <IconButton label="Swap sides" disabled={!a || !b} onClick={() => go(toCompare(b?.id, a?.id))}>
          <ArrowLeftRight size={17} />
        </IconButton>
        <CopyButton label="Copy link to this comparison" text={() => location.href} />
      </div>
      <Side name="B" run={b} onChange={() => setSelecting("b")} />
      {selecting && (
        <Dialog title={`Select run ${selecting.toUpperCase()}`} wide onClose={() => setSelecting(null)}>
          <RunPicker
            first={(selecting === "a" ? a : b)?.threadId ?? (selecting === "a" ? b : a)?.threadId}
            onChoose={(id) => {
              setSelecting(null);
              onChoose(selecting, id);
            }}
          />
        </Dialog>
      )}
    </div>
  );
}

function Side({ name, run, onChange }: { name: string; run: Run | undefined; onChange: () => void }) {
  const thread = useQuery({
    queryKey: ["thread", run?.threadId, "title"],
    enabled: run !== undefined,
    queryFn: ({ signal }) => getThread(run?.threadId ?? "", signal),
  });
  const when = run?.startedAt ?? run?.createdAt;
  return (
    <section className={styles.side} aria-label={`Run ${name}`}>
      <span className={styles.name} aria-hidden>
        {name}
      </span>
      <div className={styles.text}>
        {run ? (
          <>
            <a className={styles.thread} href={toThread(run.threadId, run.messageId)}>
              {visible(thread.data?.title || "Untitled session")}
            </a>
            <span className={styles.facts}>
              {[run.model && visible(run.model), when && moment(when), run.status]
                .filter(Boolean)
                .join(" · ")}
              {" · "}
              <a href={toRun(run.id)}>replay</a>
            </span>
          </>
        ) : (
          <span className={styles.facts}>No run selected.</span>
        )}
      </div>
      <Button small onClick={onChange} aria-label={run ? `Change run ${name}` : `Select run ${name}`}>
        {run ? "Change" : "Select"}
      </Button>
    </section>
  );
}
