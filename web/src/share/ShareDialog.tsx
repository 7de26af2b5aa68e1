import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Copy, Download } from "lucide-react";
import { useState } from "react";
import { listFormats } from "../api/convert";
import { previewShare, type ShareFormat, type SharePreview, shareFile } from "../api/share";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { bytes, plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { save } from "../ui/saving";
import { toast, toastError } from "../ui/Toasts";
import { Chosen } from "./Chosen";
import { Found } from "./Found";
import { Kinds } from "./Kinds";
import { FORMATS, type Options, requestOf, START } from "./options";
import styles from "./ShareDialog.module.css";

/** A session as a file: in which form, without which secrets, without which parts. */
export function ShareDialog({ threadId, onClose }: { threadId: string; onClose: () => void }) {
  const [options, setOptions] = useState<Options>(START);
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
  const made = async (use: (name: string, data: Blob) => void | Promise<void>) => {
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
  const copy = () =>
    made(async (_, data) => {
      await navigator.clipboard.writeText(await data.text());
      toast("Copied");
    });
  const isStale = preview.isPlaceholderData || preview.isFetching;
  return (
    <Dialog title="Share this session" wide onClose={onClose}>
      <div className={styles.share}>
        <div className={styles.column}>
          <FormatChoice options={options} onChange={change} />
          <Kinds options={options} kinds={preview.data?.kinds ?? []} onChange={change} />
          <Chosen threadId={threadId} options={options} onChange={change} />
        </div>
        <div className={styles.column} aria-busy={isStale}>
          {preview.isError ? (
            <Failure error={preview.error} />
          ) : preview.data ? (
            <>
              <Leaves preview={preview.data} format={options.format} />
              <Found
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
          onClick={() => void made(save)}
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
      <legend>Form</legend>
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
            <span className={styles.what}>{FORMATS[name].what}</span>
          </span>
        </label>
      ))}
      {options.format === "jsonl" && (
        <label className={styles.as}>
          Messages as
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

/** What leaves, in words. */
function Leaves({ preview, format }: { preview: SharePreview; format: ShareFormat }) {
  const replaced = preview.findings.filter((finding) => !finding.kept);
  const removed = Object.entries(preview.removed);
  return (
    <section className={styles.leaves} aria-label="What leaves">
      <h3>What leaves</h3>
      <ul>
        <li>
          {plural(preview.messages, "message")} of the branch that is shown, with everything in them
          {removed.length === 0 ? "." : ", but for:"}
        </li>
        {removed.map(([what, times]) => (
          <li key={what}>
            {what}, {plural(times, "time")}: a mark stands in its place.
          </li>
        ))}
        <li>
          {replaced.length
            ? `${plural(replaced.length, "secret is", "secrets are")} replaced by a mark.`
            : "No secret is replaced."}{" "}
          A search can miss things: look the file over before you send it.
        </li>
        {format !== "markdown" && <li>Pictures and other files are not looked into.</li>}
        {format === "fixture" && (
          <li>What models were asked, instructions among it, and what they answered.</li>
        )}
        {preview.notices.map((notice) => (
          <li key={notice}>{notice}.</li>
        ))}
        {preview.losses.length > 0 && (
          <li>
            The format cannot carry {plural(preview.losses.length, "thing")}, such as{" "}
            <code>{preview.losses[0]?.path}</code>: {preview.losses[0]?.why}.
          </li>
        )}
      </ul>
    </section>
  );
}
