import { useBlocker } from '@tanstack/react-router';
import { Button } from './button.js';
import { Actions, Dialog } from './dialog.js';

/** Asks before a page is left on which something was typed and not saved; the browser asks before the tab closes. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
    withResolver: true,
  });
  return (
    <Dialog title="Leave without saving?" open={status === 'blocked'} onClose={() => reset?.()}>
      <p>What was changed on this page is not saved and would be lost.</p>
      <Actions>
        <Button onClick={() => reset?.()}>Stay</Button>
        <Button look="danger" onClick={() => proceed?.()}>
          Leave
        </Button>
      </Actions>
    </Dialog>
  );
}
