import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Upload, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Inspection, inspect, listFormats, MOST_BYTES } from "../api/convert";
import { Button } from "../ui/Button";
import { bytes, plural } from "../ui/format";
import { visible } from "../ui/hostile";
import { Failure, Loading } from "../ui/States";
import { toast } from "../ui/Toasts";
import styles from "./Convert.module.css";
import { type Finding, findingsOf, marksOf } from "./findings";
import { Lines } from "./Lines";
import { Results, type ResultTab } from "./Results";
import { SAMPLES } from "./samples";
import { TakenFor } from "./TakenFor";

/** Characters; a longer text is looked at, not written in. */
const MOST_WRITTEN = 200_000;

interface Pasted {
  readonly text: string;
  /** Grows with every change: a text of megabytes is no name for itself. */
  readonly version: number;
}

/** Paste or drop anything: what it is, what it says, what it is in another format, and what gets lost. */
export function Convert() {
  const [pasted, setPasted] = useState<Pasted>({ text: "", version: 0 });
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState("ai-sdk-ui-v7");
  const [carry, setCarry] = useState(false);
  const [tab, setTab] = useState<ResultTab>("conversation");
  const [isWriting, setWriting] = useState(true);
  const [chosen, setChosen] = useState<{ id: string } | null>(null);
  const asked = useSettled(pasted);
  const isTooLarge = asked.text.length > MOST_BYTES;

  const formats = useQuery({ queryKey: ["formats"], queryFn: ({ signal }) => listFormats(signal) });
  const query = useQuery({
    queryKey: ["inspect", asked.version, from, to, carry],
    queryFn: async ({ signal }) => ({
      said: await inspect(asked.text, { from, to, carry }, signal),
      text: asked.text,
    }),
    enabled: asked.text.trim() !== "" && !isTooLarge,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const result = asked.text.trim() ? query.data : undefined;
  const findings = useMemo(() => (result ? findingsOf(result.said, result.text) : []), [result]);
  const marks = useMemo(
    () => (result?.text === pasted.text ? marksOf(findings) : []),
    [result, findings, pasted.text],
  );

  const write = (text: string) => setPasted((before) => ({ text, version: before.version + 1 }));
  const replace = (text: string) => {
    write(text);
    setFrom(null);
    setChosen(null);
    setWriting(text === "");
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MOST_BYTES)
      toast(`${file.name} is larger than ${bytes(MOST_BYTES)}. Import it instead: partita import`, {
        bad: true,
      });
    else replace(await file.text());
  };
  const choose = (finding: Finding) => {
    if (finding.side === "writing") setTab("canonical");
    else setWriting(false);
    setChosen({ id: finding.id });
  };

  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Convert</h1>
        <p>
          Messages of any format, a stream, a provider’s answer, the log of an agent: paste it, drop it, or
          try
          {SAMPLES.map((sample) => (
            <Button key={sample.name} small onClick={() => replace(sample.text)}>
              {sample.name}
            </Button>
          ))}
        </p>
      </header>
      <div className={styles.columns}>
        <Source
          text={pasted.text}
          isWriting={isWriting && pasted.text.length <= MOST_WRITTEN}
          onWriting={setWriting}
          onWrite={write}
          onReplace={replace}
          onFile={(file) => void take(file)}
        >
          <Lines
            text={pasted.text}
            label="Source"
            marks={marks}
            chosen={chosen}
            onChoose={(id) => {
              setChosen({ id });
              setTab("losses");
            }}
          />
        </Source>
        <section className={styles.results} aria-label="What it is" aria-busy={query.isFetching}>
          {isTooLarge ? (
            <p className={styles.hint}>
              That is more than {bytes(MOST_BYTES)}. Import it instead: <code>partita import FILE</code>
            </p>
          ) : query.isError ? (
            <Failure error={query.error} retry={() => void query.refetch()} />
          ) : result ? (
            <>
              <TakenFor
                inspection={result.said}
                formats={formats.data?.items ?? []}
                from={from}
                onFrom={setFrom}
              />
              <Trouble inspection={result.said} findings={findings} onChoose={choose} />
              {result.said.messages && (
                <Results
                  inspection={result.said}
                  findings={findings}
                  formats={formats.data?.items ?? []}
                  to={to}
                  onTo={setTo}
                  carry={carry}
                  onCarry={setCarry}
                  tab={tab}
                  onTab={setTab}
                  chosen={chosen}
                  onChoose={choose}
                />
              )}
            </>
          ) : query.isFetching ? (
            <Loading what="Reading" />
          ) : (
            <p className={styles.hint}>What it was taken for, and what became of it, is shown here.</p>
          )}
        </section>
      </div>
    </div>
  );
}

interface SourceProps {
  readonly text: string;
  readonly isWriting: boolean;
  readonly onWriting: (isWriting: boolean) => void;
  readonly onWrite: (text: string) => void;
  readonly onReplace: (text: string) => void;
  readonly onFile: (file: File | undefined) => void;
  readonly children: React.ReactNode;
}

function Source({ text, isWriting, onWriting, onWrite, onReplace, onFile, children }: SourceProps) {
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const paste = (event: React.ClipboardEvent) => {
    const given = event.clipboardData.getData("text");
    const isWritten = event.target instanceof HTMLTextAreaElement && text !== "";
    // A field for writing is no place for megabytes; and what was shown is replaced, not added to.
    if (given && (!isWritten || given.length + text.length > MOST_WRITTEN)) {
      event.preventDefault();
      onReplace(given);
    }
  };
  return (
    <section
      className={styles.source}
      aria-label="Input"
      data-over={isOver}
      onPaste={paste}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file) onFile(file);
        else onReplace(event.dataTransfer.getData("text"));
      }}
    >
      <div className={styles.bar}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <span role="group" aria-label="The source is" className={styles.choices}>
          <Button
            small
            kind={isWriting ? "plain" : "quiet"}
            aria-pressed={isWriting}
            disabled={text.length > MOST_WRITTEN}
            title={text.length > MOST_WRITTEN ? "It is too long to be written in" : undefined}
            onClick={() => onWriting(true)}
          >
            Edit
          </Button>
          <Button
            small
            kind={isWriting ? "quiet" : "plain"}
            aria-pressed={!isWriting}
            disabled={!text}
            onClick={() => onWriting(false)}
          >
            Marked
          </Button>
        </span>
        <span className={styles.size}>{text && bytes(text.length)}</span>
        <span className={styles.choices}>
          <Button small kind="quiet" icon={<Upload size={14} />} onClick={() => picker.current?.click()}>
            File
          </Button>
          <Button small kind="quiet" icon={<X size={14} />} disabled={!text} onClick={() => onReplace("")}>
            Clear
          </Button>
          <input
            ref={picker}
            type="file"
            hidden
            aria-label="Choose a file"
            onChange={(event) => {
              onFile(event.target.files?.[0]);
              event.target.value = "";
            }}
          />
        </span>
      </div>
      {isWriting ? (
        <textarea
          className={styles.field}
          aria-label="Paste here"
          placeholder={"Paste here, or drop a file.\n\nNothing is stored, and nothing leaves your server."}
          value={text}
          spellCheck={false}
          autoCapitalize="off"
          onChange={(event) => onWrite(event.target.value)}
        />
      ) : (
        children
      )}
    </section>
  );
}

interface TroubleProps {
  readonly inspection: Inspection;
  readonly findings: readonly Finding[];
  readonly onChoose: (finding: Finding) => void;
}

/** What is wrong with the text, in words, and where. */
function Trouble({ inspection, findings, onChoose }: TroubleProps) {
  const problem = findings.find((finding) => finding.tone === "error");
  return (
    <>
      {problem && (
        <div className={styles.trouble} role="alert">
          <p>{visible(problem.what)}</p>
          {problem.why && <p className={styles.hintOf}>{visible(problem.why)}</p>}
          {problem.path && (
            <Button small disabled={!problem.ranges.length} onClick={() => onChoose(problem)}>
              Show {visible(problem.path)}
            </Button>
          )}
        </div>
      )}
      {inspection.errors?.length ? (
        <p className={styles.trouble}>
          The stream itself reports {plural(inspection.errors.length, "error")}:{" "}
          {visible(inspection.errors.slice(0, 3).join("; "))}
        </p>
      ) : null}
    </>
  );
}

/** The text once nobody has changed it for a moment; the longer it is, the longer the moment. */
function useSettled(pasted: Pasted): Pasted {
  const [settled, setSettled] = useState(pasted);
  useEffect(() => {
    const wait = pasted.text.length > 1_000_000 ? 600 : 250;
    const timer = setTimeout(() => setSettled(pasted), wait);
    return () => clearTimeout(timer);
  }, [pasted]);
  return settled;
}
