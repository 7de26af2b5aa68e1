import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { getFacets } from "../api/threads";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./Dialogs.module.css";
import { cleanTag, storeTags, type Tagged, tagCounts, withTag } from "./tagging";

interface Props {
  readonly sessions: readonly Tagged[];
  /** Called with the new tags before they are stored. */
  readonly onChange?: (changed: readonly Tagged[]) => void;
  readonly onClose: () => void;
}

const MAX_SUGGESTIONS = 12;

/** Adds and removes the tags of one or several sessions. Changes are stored at once. */
export function TagsDialog({ sessions, onChange, onClose }: Props) {
  const [shown, setShown] = useState(sessions);
  const [text, setText] = useState("");
  const id = useId();
  const known = useQuery({
    queryKey: ["threads", "facets", "tags"],
    queryFn: ({ signal }) => getFacets({}, signal),
  });
  const counts = tagCounts(shown);
  const isOnAll = (tag: string) => counts.some((one) => one.tag === tag && one.count === shown.length);
  const typed = text.trim().toLowerCase();
  const suggestions = (known.data?.tags ?? [])
    .map(({ value }) => value)
    .filter((tag) => !isOnAll(tag) && tag.toLowerCase().includes(typed))
    .slice(0, MAX_SUGGESTIONS);

  const change = (tag: string, isAdded: boolean) => {
    const changed = withTag(shown, tag, isAdded);
    if (!changed.length) return;
    const byId = new Map(changed.map((one) => [one.id, one]));
    setShown(shown.map((one) => byId.get(one.id) ?? one));
    onChange?.(changed);
    storeTags(changed);
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const tag = cleanTag(text);
    if (tag) change(tag, true);
    setText("");
  };
  const title = shown.length === 1 ? "Tags" : `Tags of ${plural(shown.length, "session")}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <label className="visually-hidden" htmlFor={id}>
          New tag
        </label>
        <input
          id={id}
          className={styles.field}
          value={text}
          placeholder="Add a tag"
          autoComplete="off"
          maxLength={60}
          onChange={(event) => setText(event.target.value)}
        />
        <Button kind="primary" type="submit" disabled={!cleanTag(text)}>
          Add
        </Button>
      </form>
      <ul className={styles.tags} aria-label="Tags">
        {counts.map(({ tag, count }) => (
          <li key={tag}>
            <button type="button" className={styles.tag} onClick={() => change(tag, false)}>
              <bdi>{visible(tag)}</bdi>
              {count < shown.length && (
                <span className={styles.some}>
                  {count} of {shown.length}
                </span>
              )}
              <X size={12} aria-hidden />
              <span className="visually-hidden">: remove</span>
            </button>
          </li>
        ))}
        {!counts.length && <li className={styles.none}>No tags yet</li>}
      </ul>
      {suggestions.length > 0 && (
        <>
          <h3 className={styles.label}>Used before</h3>
          <ul className={styles.tags} aria-label="Suggestions">
            {suggestions.map((tag) => (
              <li key={tag}>
                <button
                  type="button"
                  className={styles.suggestion}
                  onClick={() => {
                    change(tag, true);
                    setText("");
                  }}
                >
                  <Plus size={12} aria-hidden />
                  <bdi>{visible(tag)}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className={styles.foot}>
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
