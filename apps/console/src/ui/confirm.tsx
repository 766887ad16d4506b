import { type ReactNode, useState } from 'react';
import { Button, type ButtonProps } from './button.js';
import { Actions, Dialog } from './dialog.js';
import { ErrorNote } from './error-note.js';

export interface ConfirmProps extends Pick<ButtonProps, 'look' | 'size' | 'disabled'> {
  /** On the button that opens the dialog and on the one that does it: "Delete". */
  verb: string;
  title: string;
  /** What happens, and whether it can be undone. */
  children: ReactNode;
  /** Does it; the dialog closes when it has been done and shows the error when not. */
  onConfirm: () => Promise<unknown>;
}

/** A button for what should not happen by a slip. */
export function Confirm({ verb, title, children, onConfirm, look = 'danger', ...rest }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const open = (next: boolean) => {
    setError(null);
    setOpen(next);
  };
  const confirm = async () => {
    setPending(true);
    setError(null);
    try {
      await onConfirm();
      setOpen(false);
    } catch (caught) {
      setError(caught);
    } finally {
      setPending(false);
    }
  };
  return (
    <>
      <Button {...rest} look={look} onClick={() => open(true)}>
        {verb}
      </Button>
      <Dialog title={title} open={isOpen} onClose={() => open(false)}>
        <div>{children}</div>
        <ErrorNote error={error} />
        <Actions>
          <Button onClick={() => open(false)}>Cancel</Button>
          <Button
            look={look === 'danger' ? 'danger' : 'primary'}
            pending={isPending}
            onClick={() => void confirm()}
          >
            {verb}
          </Button>
        </Actions>
      </Dialog>
    </>
  );
}
