import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { versionsQuery } from '../api/events.js';
import { useChange } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Required, showFirstWrong, useFirstWrong, useRequired } from '../ui/form.js';
import { LeaveGuard } from '../ui/leave-guard.js';
import { Page } from '../ui/page.js';
import { SaveBar } from './save-bar.js';
import {
  isSameDraft,
  NEW_VERSION,
  type VersionDraft,
  versionBodyOf,
  versionDraftOf,
} from './version-draft.js';
import { VersionForm } from './version-form.js';
import { versionProblems } from './version-problems.js';

const PATH = '/api/worlds/{worldAddress}/events/{eventName}/event-versions';

/** A draft that is edited (`?version=`), or a new version (`?from=`). */
export function EditVersionPage() {
  const { world, event } = useParams({ from: '/worlds/$world/events/$event/edit' });
  const { version, from } = useSearch({ from: '/worlds/$world/events/$event/edit' });
  const query = useQuery(versionsQuery(useOrrery(), world, event));
  return (
    <Await query={query} what="the versions">
      {({ data }) => {
        const source = data.find((one) => one.version === (version ?? from));
        return (
          <VersionEditor
            key={`${version} ${from}`}
            {...{ world, event, version }}
            initial={source === undefined ? NEW_VERSION : versionDraftOf(source)}
          />
        );
      }}
    </Await>
  );
}

interface EditorProps {
  world: string;
  event: string;
  version: number | undefined;
  initial: VersionDraft;
}

function VersionEditor({ world, event, version, initial }: EditorProps) {
  const [draft, setDraft] = useState(initial);
  const navigate = useNavigate();
  const path = { worldAddress: world, eventName: event };
  const save = useChange(
    async (orrery, given: VersionDraft) => {
      const body = versionBodyOf(given);
      return version === undefined
        ? orrery.answer('post', PATH, { path, body })
        : orrery.answer('put', `${PATH}/{version}`, { path: { ...path, version }, body });
    },
    [[...worldKey(world), 'events']],
  );
  const problems = versionProblems(save.error);
  const page = { to: '/worlds/$world/events/$event', params: { world, event } } as const;
  const required = useRequired();
  useFirstWrong(required.part, save.error);
  const submit = () =>
    required.isComplete() &&
    save.mutate(draft, {
      onSuccess: ({ data, message }) =>
        void navigate({
          ...page,
          search: { right: data.version },
          state: message ? { said: message } : {},
          ignoreBlocker: true,
        }),
    });
  return (
    <Page
      title={version === undefined ? `New version of ${event}` : `${event}, version ${version}`}
      lead="A version can be bound before it is locked; from then on it never changes."
    >
      <LeaveGuard isChanged={!isSameDraft(draft, initial)} />
      <Required required={required}>
        <VersionForm
          world={world}
          draft={draft}
          change={(part) => setDraft((now) => ({ ...now, ...part }))}
          problems={problems}
        />
      </Required>
      <SaveBar
        verb={version === undefined ? 'Create the version' : `Save version ${version}`}
        pending={save.isPending}
        error={save.error}
        problems={problems}
        onShow={() => showFirstWrong(required.part.current)}
        onSave={submit}
        cancel={<ButtonLink {...page}>Cancel</ButtonLink>}
      />
    </Page>
  );
}
