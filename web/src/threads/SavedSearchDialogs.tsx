import { Trash2 } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { visible } from "../ui/sanitize";
import { removeSearch, renameSearch, type SavedSearch, saveSearch } from "../ui/savedSearches";
import styles from "./Dialogs.module.css";

interface SaveProps {
  readonly search: Omit<SavedSearch, "name">;
  readonly suggestion: string;
  readonly onClose: () => void;
}

/** Names the search of the list, and saves it. */
export function SaveDialog({ search, suggestion, onClose }: SaveProps) {
  const [name, setName] = useState(suggestion);
  const id = useId();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    saveSearch({ ...search, name: name.trim() });
    onClose();
  };
  return (
    <Dialog title="Save this search" onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <label className="visually-hidden" htmlFor={id}>
          Name
        </label>
        <input
          id={id}
          className={styles.field}
          value={name}
          maxLength={80}
          autoComplete="off"
          onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)}
        />
        <Button kind="primary" type="submit" disabled={!name.trim()}>
          Save
        </Button>
      </form>
    </Dialog>
  );
}

/** Renames and deletes saved searches. */
export function EditDialog({ saved, onClose }: { saved: readonly SavedSearch[]; onClose: () => void }) {
  return (
    <Dialog title="Saved searches" onClose={onClose}>
      {saved.length === 0 && <p className={styles.none}>No saved searches</p>}
      <ul className={styles.names}>
        {saved.map(({ name }) => (
          <li key={name}>
            <input
              className={styles.field}
              aria-label={`Name of ${visible(name)}`}
              defaultValue={name}
              maxLength={80}
              onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
              onBlur={(event) => {
                if (!renameSearch(name, event.target.value)) event.target.value = name;
              }}
            />
            <IconButton label={`Delete ${name}`} onClick={() => removeSearch(name)}>
              <Trash2 size={15} />
            </IconButton>
          </li>
        ))}
      </ul>
      <div className={styles.foot}>
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
