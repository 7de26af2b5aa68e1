import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { tryRedaction } from "../api/settings";
import { plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import { textOf } from "./AddFolder";
import styles from "./Redaction.module.css";

/** A field that shows how a text would be redacted, with texts that may not be saved yet. */
export function RedactionTest({ texts }: { texts: readonly string[] }) {
  const [text, setText] = useState("");
  const tried = useDeferredValue(text);
  const result = useQuery({
    queryKey: ["redaction-test", tried, texts],
    queryFn: ({ signal }) => tryRedaction(tried, texts, signal),
    enabled: tried.trim() !== "",
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const data = tried.trim() === "" ? undefined : result.data;
  return (
    <div className={styles.form}>
      <label htmlFor="redaction-test">Test</label>
      <textarea
        id="redaction-test"
        rows={2}
        maxLength={20_000}
        spellCheck={false}
        placeholder="Write a text, to see what is replaced"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.result} role="status">
        {result.error ? (
          <p className={styles.error}>{textOf(result.error)}</p>
        ) : (
          data && (
            <>
              <p className={styles.note}>{plural(data.replaced, "secret")} replaced</p>
              <pre>{visible(data.text)}</pre>
            </>
          )
        )}
      </div>
    </div>
  );
}
