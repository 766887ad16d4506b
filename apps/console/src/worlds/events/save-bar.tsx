import type { ReactNode } from 'react';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/error-note.js';
import { DraftError } from './version-draft.js';
import type { VersionProblems } from './version-problems.js';

export interface SaveBarProps {
  verb: string;
  pending: boolean;
  error: unknown;
  problems: VersionProblems;
  onSave: () => void;
  /** The way back. */
  cancel: ReactNode;
}

/** At the end of the page, always seen: what the API said, and the button that saves. */
export const SaveBar = ({ verb, pending, error, problems, onSave, cancel }: SaveBarProps) => (
  <div className="sticky bottom-0 z-10 -mx-4 mt-6 border-t border-line bg-bg px-4 py-3 sm:-mx-6 sm:px-6">
    {error instanceof DraftError ? (
      <p role="alert" className="mb-2 font-medium text-bad">
        {error.message} Look at:{' '}
        {error.pointers.map(({ pointer }) => problems.nameOf(pointer) ?? pointer).join(', ')}.
      </p>
    ) : (
      <ErrorNote
        title="It was not saved"
        error={error}
        shownElsewhere={problems.isShown}
        nameOf={problems.nameOf}
      />
    )}
    <div className="flex justify-end gap-2">
      {cancel}
      <Button look="primary" pending={pending} onClick={onSave}>
        {verb}
      </Button>
    </div>
  </div>
);
