import { useBlocker } from '@tanstack/react-router';
import { Button } from './button.js';
import { Actions, Dialog } from './dialog.js';

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

export interface LossQuestionProps {
  title: string;
  /** On the button that gives up what was typed. */
  verb: string;
  isAsked: boolean;
  onStay: () => void;
  onLose: () => void;
}

/** Asks whether what was typed may be lost. */
export const LossQuestion = ({ title, verb, isAsked, onStay, onLose }: LossQuestionProps) => (
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
