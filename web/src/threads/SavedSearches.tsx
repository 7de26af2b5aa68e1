import { Bookmark, BookmarkPlus, Pencil, Search, Trash2 } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Menu, type MenuItem } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import {
  removeSearch,
  renameSearch,
  type SavedSearch,
  saveSearch,
  useSavedSearches,
} from "../ui/savedSearches";
import styles from "./Dialogs.module.css";

interface Props {
  readonly className?: string;
  /** The search of the list now; null if there is nothing to save. */
  readonly search: Omit<SavedSearch, "name"> | null;
  /** What the search is called if the user does not change it. */
  readonly suggestion: string;
  readonly onOpen: (search: SavedSearch) => void;
}

type Open = "save" | "edit" | null;

/** The menu of the saved searches, beside the search field. */
export function SavedSearches({ className, search, suggestion, onOpen }: Props) {
  const saved = useSavedSearches();
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [open, setOpen] = useState<Open>(null);
  const items: MenuItem[] = [
    ...saved.map((one) => ({
      label: <bdi>{visible(one.name)}</bdi>,
      icon: <Search size={14} />,
      run: () => onOpen(one),
    })),
    {
      label: "Save this search …",
      icon: <BookmarkPlus size={14} />,
      disabled: search === null,
      run: () => setOpen("save"),
    },
    ...(saved.length
      ? [{ label: "Edit saved searches …", icon: <Pencil size={14} />, run: () => setOpen("edit") }]
      : []),
  ];
  return (
    <>
      <IconButton
        label="Saved searches"
        className={className}
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        onClick={({ currentTarget }) => setAnchor((was) => (was ? null : currentTarget))}
      >
        <Bookmark size={14} />
      </IconButton>
      {anchor && (
        <Menu label="Saved searches" anchor={anchor} items={items} onClose={() => setAnchor(null)} />
      )}
      {open === "save" && search && (
        <SaveDialog search={search} suggestion={suggestion} onClose={() => setOpen(null)} />
      )}
      {open === "edit" && <EditDialog saved={saved} onClose={() => setOpen(null)} />}
    </>
  );
}

interface SaveProps {
  readonly search: Omit<SavedSearch, "name">;
  readonly suggestion: string;
  readonly onClose: () => void;
}

function SaveDialog({ search, suggestion, onClose }: SaveProps) {
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

function EditDialog({ saved, onClose }: { saved: readonly SavedSearch[]; onClose: () => void }) {
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
