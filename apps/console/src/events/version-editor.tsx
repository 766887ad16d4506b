import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.js';
import { LeaveGuard } from '../ui/dialog.js';
import { Required, showFirstWrong, useFirstWrong, useRequired } from '../ui/form.js';
import { ErrorNote, problemsOf } from '../ui/messages.js';
import { Page } from '../ui/page.js';
import { DraftError, isSameDraft, type VersionDraft } from './version-draft.js';
import { VersionForm } from './version-form.js';
import type { VersionProblems } from './version-problems.js';

export interface VersionEditorProps {
  title: string;
  lead: string;
  world: string;
  initial: VersionDraft;
  save: UseMutationResult<unknown, Error, VersionDraft>;
  problems: VersionProblems;
  verb: string;
  cancel: ReactNode;
  /** Above the version: fields of the event. */
  children?: ReactNode;
  /** Whether something was entered in them. */
  isChanged?: boolean;
}

export function VersionEditor({ title, lead, world, initial, children, ...props }: VersionEditorProps) {
  const { save, isChanged = false } = props;
  const [draft, setDraft] = useState(initial);
  const required = useRequired();
  useFirstWrong(required.part, save.error);
  return (
    <Page title={title} lead={lead}>
      <LeaveGuard isChanged={isChanged || !isSameDraft(draft, initial)} />
      <Required required={required}>
        {children}
        <VersionForm
          world={world}
          draft={draft}
          change={(part) => setDraft((now) => ({ ...now, ...part }))}
          problems={props.problems}
        />
      </Required>
      <SaveBar
        {...props}
        onShow={() => showFirstWrong(required.part.current)}
        onSave={() => required.isComplete() && save.mutate(draft)}
      />
    </Page>
  );
}

interface SaveBarProps extends Pick<VersionEditorProps, 'save' | 'problems' | 'verb' | 'cancel'> {
  onSave: () => void;
  onShow: () => void;
}

const SaveBar = ({ verb, save: { error, isPending }, problems, onSave, onShow, cancel }: SaveBarProps) => (
  <div className="sticky bottom-0 z-10 -mx-4 mt-6 border-t border-line bg-bg px-4 py-3 sm:-mx-6 sm:px-6">
    {areAllShown(error, problems) ? (
      <p role="alert" className="mb-2 flex flex-wrap items-center gap-2 font-medium text-bad">
        {error instanceof DraftError ? error.message : 'It was not saved.'} Look at:{' '}
        {partsIn(error, problems).join(', ')}.
        <Button size="small" onClick={onShow}>
          Show
        </Button>
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
      <Button look="primary" pending={isPending} onClick={onSave}>
        {verb}
      </Button>
    </div>
  </div>
);

const pointersOf = (error: unknown): string[] =>
  (error instanceof DraftError ? error.pointers : problemsOf(error)).map(({ pointer }) => pointer);

const areAllShown = (error: unknown, { isShown }: VersionProblems): boolean =>
  error instanceof DraftError || (pointersOf(error).length > 0 && pointersOf(error).every(isShown));

const partsIn = (error: unknown, { nameOf }: VersionProblems): string[] => [
  ...new Set(pointersOf(error).map((pointer) => nameOf(pointer) ?? pointer)),
];
