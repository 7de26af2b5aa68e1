import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Copy, Download } from "lucide-react";
import { useState } from "react";
import { listFormats } from "../api/convert";
import { previewShare, type ShareFormat, type SharePreview, shareFile } from "../api/share";
import { Button } from "../ui/Button";
import { copyWithToast } from "../ui/clipboard";
import { Dialog } from "../ui/Dialog";
import { downloadFile } from "../ui/download";
import { bytes, plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { toastError } from "../ui/Toasts";
import { Contents } from "./Contents";
import { DEFAULT_OPTIONS, FORMATS, type Options, requestOf } from "./options";
import { SecretKinds } from "./SecretKinds";
import { SecretList } from "./SecretList";
import styles from "./ShareDialog.module.css";

/** Exports a session as a file: its format, the secrets to replace and the parts to leave out. */
export function ShareDialog({ threadId, onClose }: { threadId: string; onClose: () => void }) {
  const [options, setOptions] = useState<Options>(DEFAULT_OPTIONS);
  const [isBusy, setBusy] = useState(false);
  const request = requestOf(options);
  const preview = useQuery({
    queryKey: ["share", threadId, request],
    queryFn: ({ signal }) => previewShare(threadId, request, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const change = (changes: Partial<Options>) => setOptions((before) => ({ ...before, ...changes }));
  const createFile = async (use: (name: string, data: Blob) => void | Promise<void>) => {
    setBusy(true);
    try {
      const { name, data } = await shareFile(threadId, request);
      await use(name, data);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  const copy = () => createFile(async (_, data) => copyWithToast(await data.text()));
  const isStale = preview.isPlaceholderData || preview.isFetching;
  return (
    <Dialog title="Share this session" wide onClose={onClose}>
      <div className={styles.share}>
        <div className={styles.column}>
          <FormatChoice options={options} onChange={change} />
          <SecretKinds options={options} kinds={preview.data?.kinds ?? []} onChange={change} />
          <Contents threadId={threadId} options={options} onChange={change} />
        </div>
        <div className={styles.column} aria-busy={isStale}>
          {preview.isError ? (
            <Failure error={preview.error} />
          ) : preview.data ? (
            <>
              <Summary preview={preview.data} format={options.format} />
              <SecretList
                findings={preview.data.findings}
                keep={options.keep}
                onKeep={(id, isKept) =>
                  change({
                    keep: isKept ? [...options.keep, id] : options.keep.filter((one) => one !== id),
                  })
                }
              />
            </>
          ) : (
            <Loading what="Looking for secrets" />
          )}
        </div>
      </div>
      <div className={styles.foot}>
        <span role="status" className={styles.size}>
          {preview.data && !preview.isError && `${preview.data.name} · ${bytes(preview.data.bytes)}`}
        </span>
        {options.format !== "html" && (
          <Button
            icon={<Copy size={14} />}
            disabled={isBusy || isStale || preview.isError}
            onClick={() => void copy()}
          >
            Copy
          </Button>
        )}
        <Button
          kind="primary"
          icon={<Download size={14} />}
          disabled={isBusy || isStale || preview.isError}
          onClick={() => void createFile(downloadFile)}
        >
          Download
        </Button>
      </div>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly options: Options;
  readonly onChange: (changes: Partial<Options>) => void;
}

function FormatChoice({ options, onChange }: ChoiceProps) {
  const formats = useQuery({ queryKey: ["formats"], queryFn: ({ signal }) => listFormats(signal) });
  return (
    <fieldset className={styles.group}>
      <legend>Format</legend>
      {(Object.keys(FORMATS) as ShareFormat[]).map((name) => (
        <label key={name} className={styles.form} data-chosen={options.format === name}>
          <input
            type="radio"
            name="share-format"
            checked={options.format === name}
            onChange={() => onChange({ format: name })}
          />
          <span>
            <strong>{FORMATS[name].title}</strong>
            <span className={styles.what}>{FORMATS[name].description}</span>
          </span>
        </label>
      ))}
      {(options.format === "json" || options.format === "jsonl") && (
        <label className={styles.as}>
          Message format
          <select value={options.as} onChange={(event) => onChange({ as: event.target.value })}>
            {(formats.data?.items ?? [])
              .filter((format) => format.writes)
              .map((format) => (
                <option key={format.name} value={format.name}>
                  {format.title}
                </option>
              ))}
          </select>
        </label>
      )}
    </fieldset>
  );
}

/** A summary of the file. */
function Summary({ preview, format }: { preview: SharePreview; format: ShareFormat }) {
  const replaced = preview.findings.filter((finding) => !finding.kept);
  const removed = Object.entries(preview.removed);
  return (
    <section className={styles.summary} aria-label="Contents of the file">
      <h3>Contents of the file</h3>
      <ul>
        <li>
          {plural(preview.messages, "message")} of the displayed branch, with all their parts
          {removed.length === 0 ? "." : ", except:"}
        </li>
        {removed.map(([what, times]) => (
          <li key={what}>
            {what}, {plural(times, "time")}: a placeholder is in its place.
          </li>
        ))}
        <li>
          {replaced.length
            ? `${plural(replaced.length, "secret is", "secrets are")} redacted.`
            : "Nothing is redacted."}{" "}
          The search can miss secrets: check the file before you send it.
        </li>
        {format !== "markdown" && <li>Images and other files are not searched.</li>}
        {format === "fixture" && (
          <li>The requests to models, including instructions, and their responses.</li>
        )}
        {preview.notices.map((notice) => (
          <li key={notice}>{notice}.</li>
        ))}
        {preview.losses.length > 0 && (
          <li>
            The format cannot represent {plural(preview.losses.length, "value")}, such as{" "}
            <code>{preview.losses[0]?.path}</code>: {preview.losses[0]?.why}.
          </li>
        )}
      </ul>
    </section>
  );
}
