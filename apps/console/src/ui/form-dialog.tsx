import { useState } from 'react';
import { Dialog, type DialogProps } from './dialog.js';
import { LeaveGuard, LossQuestion } from './leave-guard.js';

/** A dialog with a form: once something was typed, Escape, a click beside it and leaving the page ask first. */
export function FormDialog({ open, onClose, children, ...look }: DialogProps) {
  const [isTyped, setTyped] = useState(false);
  const [isAsked, setAsked] = useState(false);
  if (!open && (isTyped || isAsked)) {
    setTyped(false);
    setAsked(false);
  }
  const note = () => setTyped(true);
  return (
    <Dialog {...look} open={open} onClose={() => (isTyped ? setAsked(true) : onClose())}>
      {/* An editor takes what is pasted into it without an input event. */}
      <div onInput={note} onPaste={note}>
        {children}
      </div>
      <LeaveGuard isChanged={isTyped} />
      <LossQuestion
        title="Close without saving?"
        verb="Discard"
        isAsked={isAsked}
        onStay={() => setAsked(false)}
        onLose={onClose}
      />
    </Dialog>
  );
}
