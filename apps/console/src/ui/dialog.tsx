import { Dialog as Base } from '@base-ui/react/dialog';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { createContext, type ReactNode, type RefObject, useContext, useState } from 'react';
import { Button, type ButtonProps } from './button.js';
import { Form, TextField } from './field.js';
import { ErrorNote } from './messages.js';

interface DialogProps {
  title: string;
  open: boolean;
  /** Without it a button in the dialog alone closes it: what it shows cannot be seen again. */
  onClose?: () => void;
  children: ReactNode;
  /** Wide enough for an editor. */
  wide?: boolean | undefined;
  /** Where the keyboard begins; at the first control by default. */
  initialFocus?: RefObject<HTMLElement | null> | undefined;
}

/** Whether something else covers the page: its dialogs wait, with what was typed in them. */
export const Covered = createContext(false);

/** A dialog over the page: Escape and a click beside it close it, and the focus goes back to where it was. */
export function Dialog({ title, open, onClose, children, wide = false, initialFocus }: DialogProps) {
  const isCovered = useContext(Covered);
  return (
    <Base.Root open={open && !isCovered} onOpenChange={(isOpen) => !isOpen && onClose?.()}>
      <Base.Portal keepMounted={open}>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup
          {...(initialFocus && { initialFocus })}
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-surface shadow-xl ${wide ? 'max-w-4xl' : 'max-w-lg'}`}
        >
          <div className="flex items-start gap-3 border-b border-line px-4 py-3">
            <Base.Title className="grow text-lg font-semibold">{title}</Base.Title>
            {onClose && (
              <Base.Close
                aria-label="Close"
                className="-mr-1 rounded-md px-2 text-lg leading-6 text-muted hover:bg-hover hover:text-text"
              >
                ×
              </Base.Close>
            )}
          </div>
          <div className="overflow-y-auto px-4 py-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export const Actions = ({ children }: { children: ReactNode }) => (
  <div className="mt-4 flex flex-wrap justify-end gap-2">{children}</div>
);

interface ConfirmProps extends Pick<ButtonProps, 'look' | 'size' | 'disabled'> {
  /** On the button that opens the dialog and on the one that does it: "Delete". */
  verb: string;
  title: string;
  /** What happens, and whether it can be undone. */
  children: ReactNode;
  /** What one types before it can be done; for what cannot be undone. */
  typed?: string | undefined;
  /** Does it; the dialog closes when it has been done and shows the error when not. */
  onConfirm: () => Promise<unknown>;
}

export function Confirm({
  verb,
  title,
  children,
  onConfirm,
  typed,
  look = 'danger',
  ...button
}: ConfirmProps) {
  const question = { verb, title, children, onConfirm, typed };
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  // What is being done may turn the question into its opposite before the dialog has closed.
  const [asked, setAsked] = useState(question);
  const doing = useMutation({ mutationFn: () => asked.onConfirm(), onSuccess: () => setOpen(false) });
  const ask = () => {
    doing.reset();
    setAsked(question);
    setText('');
    setOpen(true);
  };
  const close = () => setOpen(false);
  const isMeant = asked.typed === undefined || text.trim() === asked.typed.trim();
  return (
    <>
      <Button {...button} look={look} onClick={ask}>
        {verb}
      </Button>
      <Dialog title={asked.title} open={isOpen} onClose={close}>
        <Form onSubmit={() => isMeant && doing.mutate()}>
          <div>{asked.children}</div>
          {asked.typed !== undefined && (
            <TextField
              className="mt-3"
              label={
                <>
                  Type <span className="font-semibold break-all">{asked.typed}</span> to confirm
                </>
              }
              value={text}
              onChange={setText}
              autoComplete="off"
              spellCheck={false}
            />
          )}
          <ErrorNote error={doing.error} />
          <Actions>
            <Button onClick={close}>Cancel</Button>
            <Button
              type="submit"
              look={look === 'danger' ? 'danger' : 'primary'}
              pending={doing.isPending}
              disabled={!isMeant}
            >
              {asked.verb}
            </Button>
          </Actions>
        </Form>
      </Dialog>
    </>
  );
}

/** Asks before a page is left on which something was typed and not saved; the browser asks before the tab closes. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    // Another part of the address changes while one scrolls or scrubs.
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
    withResolver: true,
  });
  return (
    <LossQuestion
      title="Leave without saving?"
      verb="Leave"
      isAsked={status === 'blocked'}
      onStay={() => reset?.()}
      onLose={() => proceed?.()}
    />
  );
}

interface LossQuestionProps {
  title: string;
  verb: string;
  isAsked: boolean;
  onStay: () => void;
  onLose: () => void;
}

const LossQuestion = ({ title, verb, isAsked, onStay, onLose }: LossQuestionProps) => (
  <Dialog title={title} open={isAsked} onClose={onStay}>
    <p>What was changed here is not saved and would be lost.</p>
    <Actions>
      <Button onClick={onStay}>Stay</Button>
      <Button look="danger" onClick={onLose}>
        {verb}
      </Button>
    </Actions>
  </Dialog>
);

interface FormButtonProps extends Pick<ButtonProps, 'look' | 'size' | 'disabled' | 'aria-label'> {
  verb: string;
  title: string;
  wide?: boolean;
  onOpen?: () => void;
  /** The form; it is there while the dialog is open. */
  children: (close: () => void) => ReactNode;
}

/** Opens a dialog with a form: once something was typed, Escape, a click beside it and leaving the page ask first. */
export function FormButton({ verb, title, wide, onOpen, children, ...button }: FormButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [isTyped, setTyped] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const note = () => setTyped(true);
  const open = () => {
    onOpen?.();
    setOpen(true);
  };
  const close = () => {
    setOpen(false);
    setTyped(false);
    setAsked(false);
  };
  return (
    <>
      <Button {...button} onClick={open}>
        {verb}
      </Button>
      <Dialog title={title} wide={wide} open={isOpen} onClose={isTyped ? () => setAsked(true) : close}>
        {/* An editor takes what is pasted into it without an input event. */}
        <div onInput={note} onPaste={note}>
          {children(close)}
        </div>
        <LeaveGuard isChanged={isTyped} />
        <LossQuestion
          title="Close without saving?"
          verb="Discard"
          isAsked={isAsked}
          onStay={() => setAsked(false)}
          onLose={close}
        />
      </Dialog>
    </>
  );
}
