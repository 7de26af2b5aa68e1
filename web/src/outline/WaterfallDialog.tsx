import type { ComponentProps } from "react";
import { Dialog } from "../ui/Dialog";
import { visible } from "../ui/sanitize";
import { Waterfall } from "./Waterfall";

interface Props extends ComponentProps<typeof Waterfall> {
  readonly onClose: () => void;
}

/** The times of a turn in a dialog. A click on a call closes it and goes there. */
export const WaterfallDialog = ({ onClose, onShow, ...props }: Props) => (
  <Dialog title={`Timeline: ${visible(props.turn.title || "Untitled")}`} onClose={onClose} wide>
    <Waterfall
      {...props}
      onShow={(messageId, part) => {
        onClose();
        onShow(messageId, part);
      }}
    />
  </Dialog>
);
