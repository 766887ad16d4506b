import { OrreryError } from '@orrery/sdk';
import { Button } from './button.js';
import { Diff } from './lazily.js';

/** What a form was filled from: where somebody else has changed that since, its change is refused (412). */
export interface Guard {
  /** Of the change that the form sends. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Goes on from what is there now. */
  readonly renew: () => void;
}

/** Whether a change was refused because somebody else had changed the thing. */
export const isConflict = (error: unknown): boolean =>
  error instanceof OrreryError && error.code === 'revision_mismatch';

export interface ConflictProps {
  /** As it is now, and as the form would make it. */
  theirs: unknown;
  mine: unknown;
  /** Sends the form again, whatever is there. */
  onOverwrite: () => void;
}

/** What is shown where somebody else has changed what a form changes: both, to choose from. */
export const Conflict = ({ theirs, mine, onOverwrite }: ConflictProps) => (
  <div role="alert" className="my-3 space-y-2.5 rounded-md border border-warn/40 bg-warn-soft px-3.5 py-2.5">
    <p className="font-semibold text-warn">Somebody else has changed it since you opened it</p>
    <p>Nothing was saved. Cancel keeps what is there now; or save yours over it.</p>
    <Diff
      label="What is there now, and yours"
      titles={['There now', 'Yours']}
      left={theirs}
      right={mine}
      onlyChanges
    />
    <Button size="small" onClick={onOverwrite}>
      Save mine over it
    </Button>
  </div>
);
