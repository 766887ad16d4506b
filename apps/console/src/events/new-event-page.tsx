import { OrreryError } from '@orrery/sdk';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/use-change.js';
import { EVENTS, eventsKey } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { TextField } from '../ui/field.js';
import { problemAt } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { NEW_VERSION, type VersionDraft, versionBodyOf } from './version-draft.js';
import { VersionEditor } from './version-editor.js';
import { versionProblems } from './version-problems.js';

const FIRST = '/firstVersion';

export default function NewEventPage() {
  const { world } = useParams({ from: '/worlds/$world/new-event' });
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = useChange(
    async (orrery, firstVersion: VersionDraft) =>
      orrery.answer('post', EVENTS, {
        path: { worldAddress: world },
        body: {
          name: name.trim(),
          ...(description.trim() !== '' && { description: description.trim() }),
          firstVersion: versionBodyOf(firstVersion),
        },
      }),
    [eventsKey(world)],
    ({ data, message }) =>
      navigate({
        to: '/worlds/$world/events/$event',
        ignoreBlocker: true,
        params: { world, event: data.name },
        state: message ? { said: message } : {},
      }),
  );
  // Texts that are no JSON are told without the way to the version.
  const isSent = create.error instanceof OrreryError;
  return (
    <VersionEditor
      title="New event"
      lead="What can happen in this world. Further versions of it can follow."
      world={world}
      initial={NEW_VERSION}
      isChanged={name !== '' || description !== ''}
      save={create}
      problems={versionProblems(create.error, isSent ? FIRST : '')}
      verb="Create the event"
      cancel={
        <ButtonLink to="/worlds/$world" params={{ world }}>
          Cancel
        </ButtonLink>
      }
    >
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
    </VersionEditor>
  );
}
