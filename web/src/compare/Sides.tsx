import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight } from "lucide-react";
import { useState } from "react";
import { getThread } from "../api/runs";
import type { Run } from "../partita.gen";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { moment } from "../ui/format";
import { visible } from "../ui/hostile";
import { go, toCompare, toRun, toThread } from "../ui/routing";
import { RunPicker } from "./RunPicker";
import styles from "./Sides.module.css";

interface Props {
  readonly a: Run | undefined;
  readonly b: Run | undefined;
  readonly onChoose: (side: "a" | "b", id: string) => void;
}

/** Which two runs are compared, and other ones to choose. */
export function Sides({ a, b, onChoose }: Props) {
  const [choosing, setChoosing] = useState<"a" | "b" | null>(null);
  return (
    <div className={styles.sides}>
      <Side name="A" run={a} onChange={() => setChoosing("a")} />
      <div className={styles.between}>
        <IconButton label="Swap sides" disabled={!a || !b} onClick={() => go(toCompare(b?.id, a?.id))}>
          <ArrowLeftRight size={17} />
        </IconButton>
        <CopyButton label="Copy a link to this comparison" text={() => location.href} />
      </div>
      <Side name="B" run={b} onChange={() => setChoosing("b")} />
      {choosing && (
        <Dialog title={`Choose run ${choosing.toUpperCase()}`} wide onClose={() => setChoosing(null)}>
          <RunPicker
            first={(choosing === "a" ? a : b)?.threadId ?? (choosing === "a" ? b : a)?.threadId}
            onChoose={(id) => {
              setChoosing(null);
              onChoose(choosing, id);
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
      <div className={styles.told}>
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
          <span className={styles.facts}>No run is chosen.</span>
        )}
      </div>
      <Button small onClick={onChange} aria-label={run ? `Change run ${name}` : `Choose run ${name}`}>
        {run ? "Change" : "Choose"}
      </Button>
    </section>
  );
}
