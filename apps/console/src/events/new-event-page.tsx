import { OrreryError } from '@orrery/sdk';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { problemAt } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';
import { Required, showFirstWrong, useFirstWrong, useRequired } from '../ui/form.js';
import { LeaveGuard } from '../ui/leave-guard.js';
import { Card, Page } from '../ui/page.js';
import { SaveBar } from './save-bar.js';
import { isSameDraft, NEW_VERSION, type VersionDraft, versionBodyOf } from './version-draft.js';
import { VersionForm } from './version-form.js';
import { versionProblems } from './version-problems.js';

/** Where the version is in the request. */
const FIRST = '/firstVersion';

export function NewEventPage() {
  const { world } = useParams({ from: '/worlds/$world/new-event' });
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [draft, setDraft] = useState(NEW_VERSION);
  const create = useChange(
    async (orrery, firstVersion: VersionDraft) =>
      orrery.answer('post', '/api/worlds/{worldAddress}/events', {
        path: { worldAddress: world },
        body: {
          name: name.trim(),
          ...(description.trim() !== '' && { description: description.trim() }),
          firstVersion: versionBodyOf(firstVersion),
        },
      }),
    [[...worldKey(world), 'events']],
  );
  // Texts that are no JSON are told without the way to the version.
  const problems = versionProblems(create.error, isSent(create.error) ? FIRST : '');
  const isChanged = name !== '' || description !== '' || !isSameDraft(draft, NEW_VERSION);
  const required = useRequired();
  useFirstWrong(required.part, create.error);
  const save = () =>
    required.isComplete() &&
    create.mutate(draft, {
      onSuccess: ({ data, message }) =>
        void navigate({
          to: '/worlds/$world/events/$event',
          ignoreBlocker: true,
          params: { world, event: data.name },
          state: message ? { said: message } : {},
        }),
    });
  return (
    <Page title="New event" lead="What can happen in this world. Further versions of it can follow.">
      <LeaveGuard isChanged={isChanged} />
      <Required required={required}>
        <Card className="mb-5 grid gap-4 sm:grid-cols-2">
          <TextField
            label="Name"
            required
            value={name}
            onChange={setName}
            hint="Such as race_result."
            error={problemAt(create.error, '/name')}
          />
          <TextField
            label="Description"
            value={description}
            onChange={setDescription}
            error={problemAt(create.error, '/description')}
          />
        </Card>
        <VersionForm
          world={world}
          draft={draft}
          change={(part) => setDraft((now) => ({ ...now, ...part }))}
          problems={problems}
        />
      </Required>
      <SaveBar
        verb="Create the event"
        pending={create.isPending}
        error={create.error}
        problems={problems}
        onShow={() => showFirstWrong(required.part.current)}
        onSave={save}
        cancel={
          <ButtonLink to="/worlds/$world" params={{ world }}>
            Cancel
          </ButtonLink>
        }
      />
    </Page>
  );
}

const isSent = (error: unknown): boolean => error instanceof OrreryError;
