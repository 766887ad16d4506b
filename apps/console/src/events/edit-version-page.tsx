import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useChange } from '../api/use-change.js';
import { type EventRef, eventPath, eventsKey, useVersions, VERSIONS } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { Await } from '../ui/messages.js';
import { NEW_VERSION, type VersionDraft, versionBodyOf, versionDraftOf } from './version-draft.js';
import { VersionEditor } from './version-editor.js';
import { versionProblems } from './version-problems.js';

/** A draft that is edited (`?version=`), or a new version (`?from=`). */
export default function EditVersionPage() {
  const ref = useParams({ from: '/worlds/$world/events/$event/edit' });
  const { version, from } = useSearch({ from: '/worlds/$world/events/$event/edit' });
  return (
    <Await query={useVersions(ref)} what="the versions">
      {({ data }) => {
        const source = data.find((one) => one.version === (version ?? from));
        return (
          <Editor
            key={`${version} ${from}`}
            event={ref}
            version={version}
            initial={source === undefined ? NEW_VERSION : versionDraftOf(source)}
          />
        );
      }}
    </Await>
  );
}

interface EditorProps {
  event: EventRef;
  version: number | undefined;
  initial: VersionDraft;
}

function Editor({ event: ref, version, initial }: EditorProps) {
  const { world, event } = ref;
  const navigate = useNavigate();
  const page = { to: '/worlds/$world/events/$event', params: ref } as const;
  const path = eventPath(ref);
  const save = useChange(
    async (orrery, draft: VersionDraft) => {
      const body = versionBodyOf(draft);
      return version === undefined
        ? orrery.answer('post', VERSIONS, { path, body })
        : orrery.answer('put', `${VERSIONS}/{version}`, { path: { ...path, version }, body });
    },
    [eventsKey(world)],
    ({ data, message }) =>
      navigate({
        ...page,
        search: { right: data.version },
        state: message ? { said: message } : {},
        ignoreBlocker: true,
      }),
  );
  return (
    <VersionEditor
      title={version === undefined ? `New version of ${event}` : `${event}, version ${version}`}
      lead="A version can be bound before it is locked; from then on it never changes."
      world={world}
      initial={initial}
      save={save}
      problems={versionProblems(save.error)}
      verb={version === undefined ? 'Create the version' : `Save version ${version}`}
      cancel={<ButtonLink {...page}>Cancel</ButtonLink>}
    />
  );
}
