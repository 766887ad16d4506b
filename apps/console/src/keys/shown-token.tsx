import { Button } from '../ui/button.js';
import { CopyableCode } from '../ui/copy.js';
import { Actions, Dialog } from '../ui/dialog.js';

/** A new token, for the only time. */
export const ShownToken = ({ token, onClose }: { token: string | undefined; onClose: () => void }) => (
  <Dialog title="The new key" open={token !== undefined} onClose={onClose}>
    <p className="mb-3">Copy it now: it is not shown again, and nobody can look it up.</p>
    <div className="rounded-md border border-line bg-sunken px-3 py-2">
      <CopyableCode text={token ?? ''} what="the new key" />
    </div>
    <Actions>
      <Button look="primary" onClick={onClose}>
        I have it
      </Button>
    </Actions>
  </Dialog>
);
