import { Bookmark, BookmarkPlus, Pencil, Search } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/Button";
import { lazyComponent } from "../ui/lazyModule";
import { Menu, type MenuItem } from "../ui/Menu";
import { visible } from "../ui/sanitize";
import { type SavedSearch, useSavedSearches } from "../ui/savedSearches";

const SaveDialog = lazyComponent(() => import("./SavedSearchDialogs").then((it) => it.SaveDialog));
const EditDialog = lazyComponent(() => import("./SavedSearchDialogs").then((it) => it.EditDialog));

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
