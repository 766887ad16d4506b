import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { ErrorNote, problemsOf } from '../ui/error-note.js';
import { DraftError } from './version-draft.js';
import type { VersionProblems } from './version-problems.js';

export interface SaveBarProps {
  verb: string;
  pending: boolean;
  error: unknown;
  problems: VersionProblems;
  onSave: () => void;
  /** Leads to the first field that is wrong. */
  onShow: () => void;
  /** The way back. */
  cancel: ReactNode;
}

/** At the end of the page, always seen: which parts are wrong, or what else the API said, and the button that saves. */
export const SaveBar = ({ verb, pending, error, problems, onSave, onShow, cancel }: SaveBarProps) => (
  <div className="sticky bottom-0 z-10 -mx-4 mt-6 border-t border-line bg-bg px-4 py-3 sm:-mx-6 sm:px-6">
    {areAllShown(error, problems) ? (
      <Places error={error} problems={problems} onShow={onShow} />
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

const pointersOf = (error: unknown): string[] =>
  (error instanceof DraftError ? error.pointers : problemsOf(error)).map(({ pointer }) => pointer);

/** Whether the fields say all of it. */
const areAllShown = (error: unknown, { isShown }: VersionProblems): boolean =>
  error instanceof DraftError || (pointersOf(error).length > 0 && pointersOf(error).every(isShown));

/** What is wrong is said at the fields, and not here again. */
function Places({ error, problems, onShow }: Pick<SaveBarProps, 'error' | 'problems' | 'onShow'>) {
  const names = new Set(pointersOf(error).map((pointer) => problems.nameOf(pointer) ?? pointer));
  return (
    <p role="alert" className="mb-2 flex flex-wrap items-center gap-2 font-medium text-bad">
      {error instanceof DraftError ? error.message : 'It was not saved.'} Look at: {[...names].join(', ')}.
      <Button size="small" onClick={onShow}>
        Show
      </Button>
    </p>
  );
}
