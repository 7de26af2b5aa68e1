import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Upload, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Inspection, inspect, listFormats, MAX_BYTES } from "../api/convert";
import { rememberAllViews } from "../context/toolViews";
import { Button } from "../ui/Button";
import { bytes, plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import { toast } from "../ui/Toasts";
import { useTitle } from "../ui/useTitle";
import styles from "./Convert.module.css";
import { DetectedFormat } from "./DetectedFormat";
import { type Finding, findingsOf, marksOf } from "./findings";
import { Results, type ResultTab } from "./Results";
import { SourceView } from "./SourceView";
import { SAMPLES } from "./samples";

/** Characters. Longer texts cannot be edited. */
const MAX_EDITABLE = 200_000;

interface Input {
  readonly text: string;
  /** Incremented with every change. A text of several megabytes is not suitable as a query key. */
  readonly version: number;
}

/** Detects the format of a pasted text, converts it and shows what is lost. */
export function Convert() {
  useTitle("Convert");
  const [input, setInput] = useState<Input>({ text: "", version: 0 });
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState("ai-sdk-ui-v7");
  const [carry, setCarry] = useState(false);
  const [tab, setTab] = useState<ResultTab>("conversation");
  const [isEditing, setEditing] = useState(true);
  const [chosen, setChosen] = useState<{ id: string } | null>(null);
  const settled = useDebounced(input);
  const isTooLarge = settled.text.length > MAX_BYTES;

  const formats = useQuery({ queryKey: ["formats"], queryFn: ({ signal }) => listFormats(signal) });
  const query = useQuery({
    queryKey: ["inspect", settled.version, from, to, carry],
    queryFn: async ({ signal }) => {
      const inspection = await inspect(settled.text, { from, to, carry }, signal);
      rememberAllViews(inspection.messages ?? [], inspection.views);
      return { inspection, text: settled.text };
    },
    structuralSharing: false, // views belong to the parts that have arrived, not to copies
    enabled: settled.text.trim() !== "" && !isTooLarge,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const result = settled.text.trim() ? query.data : undefined;
  const findings = useMemo(() => (result ? findingsOf(result.inspection, result.text) : []), [result]);
  const marks = useMemo(
    () => (result?.text === input.text ? marksOf(findings) : []),
    [result, findings, input.text],
  );

  const write = (text: string) => setInput((before) => ({ text, version: before.version + 1 }));
  const replace = (text: string) => {
    write(text);
    setFrom(null);
    setChosen(null);
    setEditing(text === "");
  };
  const openFile = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MAX_BYTES)
      toast(`${file.name} is larger than ${bytes(MAX_BYTES)}. Import it instead: partita import`, {
        bad: true,
      });
    else replace(await file.text());
  };
  const choose = (finding: Finding) => {
    if (finding.side === "writing") setTab("canonical");
    else setEditing(false);
    setChosen({ id: finding.id });
  };

  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Convert</h1>
        <p>
          Paste or drop messages of any format, a stream, a provider’s response or the log of an agent, or try
          a sample:
          {SAMPLES.map((sample) => (
            <Button key={sample.name} small onClick={() => replace(sample.text)}>
              {sample.name}
            </Button>
          ))}
        </p>
      </header>
      <div className={styles.columns}>
        <Source
          text={input.text}
          isEditing={isEditing && input.text.length <= MAX_EDITABLE}
          onEditing={setEditing}
          onWrite={write}
          onReplace={replace}
          onFile={(file) => void openFile(file)}
        >
          <SourceView
            text={input.text}
            label="Source"
            marks={marks}
            chosen={chosen}
            onChoose={(id) => {
              setChosen({ id });
              setTab("losses");
            }}
          />
        </Source>
        <section className={styles.results} aria-label="Result" aria-busy={query.isFetching}>
          {isTooLarge ? (
            <p className={styles.hint}>
              The text is larger than {bytes(MAX_BYTES)}. Import it instead: <code>partita import FILE</code>
            </p>
          ) : query.isError ? (
            <Failure error={query.error} retry={() => void query.refetch()} />
          ) : result ? (
            <>
              <DetectedFormat
                inspection={result.inspection}
                formats={formats.data?.items ?? []}
                from={from}
                onFrom={setFrom}
              />
              <Problems inspection={result.inspection} findings={findings} onChoose={choose} />
              {result.inspection.messages && (
                <Results
                  inspection={result.inspection}
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
            <p className={styles.hint}>The detected format and the conversion appear here.</p>
          )}
        </section>
      </div>
    </div>
  );
}

interface SourceProps {
  readonly text: string;
  readonly isEditing: boolean;
  readonly onEditing: (isEditing: boolean) => void;
  readonly onWrite: (text: string) => void;
  readonly onReplace: (text: string) => void;
  readonly onFile: (file: File | undefined) => void;
  readonly children: React.ReactNode;
}

function Source({ text, isEditing, onEditing, onWrite, onReplace, onFile, children }: SourceProps) {
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const paste = (event: React.ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    const isEdit = event.target instanceof HTMLTextAreaElement && text !== "";
    // A paste replaces the text unless the user is editing it and the result stays small.
    if (pasted && (!isEdit || pasted.length + text.length > MAX_EDITABLE)) {
      event.preventDefault();
      onReplace(pasted);
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
        <span role="group" aria-label="Source view" className={styles.choices}>
          <Button
            small
            kind={isEditing ? "plain" : "quiet"}
            aria-pressed={isEditing}
            disabled={text.length > MAX_EDITABLE}
            title={text.length > MAX_EDITABLE ? "The text is too long to edit" : undefined}
            onClick={() => onEditing(true)}
          >
            Edit
          </Button>
          <Button
            small
            kind={isEditing ? "quiet" : "plain"}
            aria-pressed={!isEditing}
            disabled={!text}
            onClick={() => onEditing(false)}
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
            aria-label="Select a file"
            onChange={(event) => {
              onFile(event.target.files?.[0]);
              event.target.value = "";
            }}
          />
        </span>
      </div>
      {isEditing ? (
        <textarea
          className={styles.field}
          aria-label="Source text"
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

interface ProblemsProps {
  readonly inspection: Inspection;
  readonly findings: readonly Finding[];
  readonly onChoose: (finding: Finding) => void;
}

/** The errors of the text. */
function Problems({ inspection, findings, onChoose }: ProblemsProps) {
  const problem = findings.find((finding) => finding.tone === "error");
  return (
    <>
      {problem && (
        <div className={styles.problem} role="alert">
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
        <p className={styles.problem}>
          The stream contains {plural(inspection.errors.length, "error")}:{" "}
          {visible(inspection.errors.slice(0, 3).join("; "))}
        </p>
      ) : null}
    </>
  );
}

/** The input after the user has paused typing. The delay is longer for long texts. */
function useDebounced(input: Input): Input {
  const [settled, setSettled] = useState(input);
  useEffect(() => {
    const delay = input.text.length > 1_000_000 ? 600 : 250;
    const timer = setTimeout(() => setSettled(input), delay);
    return () => clearTimeout(timer);
  }, [input]);
  return settled;
}
