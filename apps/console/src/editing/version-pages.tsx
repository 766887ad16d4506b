import type { UseMutationResult } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useChange } from '../api/change.js';
import { useGuard } from '../api/guard.js';
import { keyOf, useGet } from '../api/read.js';
import type { EventVersion } from '../api/records.js';
import { EVENTS, type EventRef, eventPath, VERSION, VERSIONS } from '../api/worlds.js';
import { useDraftCheck } from '../events/draft-check.js';
import { NEW_VERSION, type VersionDraft, versionBodyOf, versionDraftOf } from '../events/version-draft.js';
import { VersionForm } from '../events/version-form.js';
import {
  FIRST_VERSION,
  memberOfVersion,
  type VersionProblems,
  versionPart,
  versionProblems,
} from '../events/version-words.js';
import { AwaitPage } from '../ui/await-page.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Conflict, isConflict } from '../ui/conflict.js';
import { LeaveGuard } from '../ui/dialog.js';
import { Required, showFirstWrong, TextField, useRequired } from '../ui/field.js';
import { type Beside, ErrorNote, problemAt, problemsOf, Said, Unreadable } from '../ui/messages.js';
import { Card, Page } from '../ui/page.js';
import { useRefusal } from '../ui/refusal.js';
import { TryDraft } from './try-draft.js';

/** What the pages show that follow: the service's words beside its answer. */
const saying = ({ message, warnings }: Beside) => ({
  state: { said: { message, warnings } },
  ignoreBlocker: true,
});

export function NewEventPage() {
  const { world } = useParams({ from: '/worlds/$world/new-event' });
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const path = { worldAddress: world };
  const create = useChange(
    async (orrery, draft: VersionDraft, once) => {
      const firstVersion = versionBodyOf(draft, FIRST_VERSION);
      const body = { name: name.trim(), description: description.trim() || null, firstVersion };
      return orrery.answer('post', EVENTS, once({ path, body }));
    },
    [keyOf(EVENTS, path)],
    ({ data, ...said }) =>
      navigate({
        to: '/worlds/$world/events/$event',
        params: { world, event: data.name },
        ...saying(said),
      }),
  );
  return (
    <VersionEditor
      title="New event"
      lead="What can happen in this world. Further versions of it can follow."
      world={world}
      initial={NEW_VERSION}
      fields={{ name, description }}
      save={create}
      at={FIRST_VERSION}
      verb="Create the event"
      cancel={
        <ButtonLink to="/worlds/$world" params={{ world }}>
          Cancel
        </ButtonLink>
      }
    >
      {(refusal) => (
        <Card className="mb-5 grid gap-4 sm:grid-cols-2">
          <TextField
            label="Name"
            required
            value={name}
            onChange={setName}
            hint="Such as race_result."
            error={problemAt(refusal, '/name')}
          />
          <TextField
            label="Description"
            value={description}
            onChange={setDescription}
            error={problemAt(refusal, '/description')}
          />
        </Card>
      )}
    </VersionEditor>
  );
}

/** A draft that is edited (`?version=`), or a new version (`?from=`). */
export function EditVersionPage() {
  const ref = useParams({ from: '/worlds/$world/events/$event/edit' });
  const { version, from } = useSearch({ from: '/worlds/$world/events/$event/edit' });
  const source = version ?? from;
  const path = { ...eventPath(ref), version: source ?? 0 };
  const query = useGet(VERSION, { path }, { enabled: source !== undefined });
  if (source === undefined) return <OneVersion event={ref} version={version} source={undefined} />;
  return (
    <AwaitPage query={query} what="version">
      {(record) => <OneVersion key={`${version} ${from}`} event={ref} version={version} source={record} />}
    </AwaitPage>
  );
}

interface OneVersionProps {
  event: EventRef;
  version: number | undefined;
  /** What is edited or copied, as it is now; undefined for none. */
  source: EventVersion | undefined;
}

function OneVersion({ event: ref, version, source }: OneVersionProps) {
  const navigate = useNavigate();
  const [initial] = useState(() => (source === undefined ? NEW_VERSION : versionDraftOf(source)));
  const page = { to: '/worlds/$world/events/$event', params: ref } as const;
  const path = eventPath(ref);
  const isNew = version === undefined;
  const own = { ...path, version: version ?? 0 };
  const guard = useGuard(VERSION, own);
  const save = useChange(
    async (orrery, draft: VersionDraft, once) => {
      const body = versionBodyOf(draft);
      return isNew
        ? orrery.answer('post', VERSIONS, once({ path, body }))
        : orrery.answer('put', VERSION, { path: own, headers: guard.headers(), body });
    },
    [keyOf(EVENTS, path)],
    ({ data, ...said }) => navigate({ ...page, search: { right: data.version }, ...saying(said) }),
  );
  return (
    <VersionEditor
      title={isNew ? `New version of ${ref.event}` : `${ref.event}, version ${version}`}
      lead="A version can be bound before it is locked; from then on it never changes."
      world={ref.world}
      event={ref.event}
      initial={initial}
      save={save}
      conflict={(draft) => (
        <Conflict
          theirs={source && shownBody(versionDraftOf(source))}
          mine={shownBody(draft)}
          onOverwrite={() => {
            guard.renew();
            save.mutate(draft);
          }}
        />
      )}
      verb={isNew ? 'Create the version' : `Save version ${version}`}
      cancel={<ButtonLink {...page}>Cancel</ButtonLink>}
    />
  );
}

/** As it is sent; as it is typed where that cannot be read. */
function shownBody(draft: VersionDraft): unknown {
  try {
    return versionBodyOf(draft);
  } catch {
    return draft;
  }
}

interface EditorProps {
  title: string;
  lead: string;
  world: string;
  initial: VersionDraft;
  save: UseMutationResult<unknown, Error, VersionDraft>;
  /** Where the version is in the request. */
  at?: string;
  verb: string;
  cancel: ReactNode;
  /** Shown where somebody else has changed the version meanwhile. */
  conflict?: (draft: VersionDraft) => ReactNode;
  /** Above the version: fields of the event, with what is refused of them. */
  children?: (refusal: Error | null) => ReactNode;
  /** Their texts, by their members of the request. */
  fields?: Readonly<Record<string, string>>;
  /** Its name; absent: of a new one, which is among the fields. */
  event?: string;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

function VersionEditor({ title, lead, world, initial, children, conflict, ...props }: EditorProps) {
  const { save, at = '', fields = NO_FIELDS } = props;
  const [draft, setDraft] = useState(initial);
  const required = useRequired();
  const refusal = useRefusal<Readonly<Record<string, unknown>>>(
    save.error,
    { ...draft, ...fields },
    (pointer) =>
      pointer.startsWith(`${at}/`) ? memberOfVersion(pointer.slice(at.length)) : pointer.slice(1),
  );
  const check = useDraftCheck(world, draft);
  const problems = versionProblems(refusal, at);
  const isTyped = Object.values(fields).some((text) => text !== '');
  // The answer to what was sent has marked the fields.
  useEffect(() => {
    if (save.error !== null) showFirstWrong(required.part.current);
  }, [required.part, save.error]);
  return (
    <Page title={title} lead={lead}>
      <LeaveGuard isChanged={isTyped || JSON.stringify(draft) !== JSON.stringify(initial)} />
      <Required required={required}>
        {children?.(refusal)}
        <VersionForm
          world={world}
          draft={draft}
          change={(part) => setDraft((now) => ({ ...now, ...part }))}
          problems={refusal === null ? versionProblems(check.refusal, '') : problems}
        />
      </Required>
      <Said said={check} nameOf={versionPart} />
      <TryDraft world={world} event={props.event ?? fields['name'] ?? ''} draft={draft} />
      {isConflict(save.error) && conflict?.(draft)}
      <SaveBar
        {...props}
        refusal={refusal}
        problems={problems}
        onShow={() => showFirstWrong(required.part.current)}
        onSave={() => required.isComplete() && save.mutate(draft)}
      />
    </Page>
  );
}

interface SaveBarProps extends Pick<EditorProps, 'save' | 'verb' | 'cancel'> {
  refusal: Error | null;
  problems: VersionProblems;
  onSave: () => void;
  onShow: () => void;
}

const SaveBar = ({ verb, save: { isPending }, refusal: error, problems, ...props }: SaveBarProps) => (
  <div className="sticky bottom-0 z-10 -mx-4 mt-6 border-t border-line bg-bg px-4 py-3 sm:-mx-6 sm:px-6">
    {areAllShown(error, problems) ? (
      <p role="alert" className="mb-2 flex flex-wrap items-center gap-2 font-medium text-bad">
        {error instanceof Unreadable ? error.message : 'It was not saved.'} Look at:{' '}
        {partsIn(error, problems).join(', ')}.
        <Button size="small" onClick={props.onShow}>
          Show
        </Button>
      </p>
    ) : (
      <ErrorNote
        failed="It was not saved"
        error={error}
        shownElsewhere={problems.isShown}
        nameOf={problems.nameOf}
      />
    )}
    <div className="flex justify-end gap-2">
      {props.cancel}
      <Button look="primary" pending={isPending} onClick={props.onSave}>
        {verb}
      </Button>
    </div>
  </div>
);

const areAllShown = (error: unknown, { isShown }: VersionProblems): boolean =>
  error instanceof Unreadable ||
  (problemsOf(error).length > 0 && problemsOf(error).every(({ pointer }) => isShown(pointer)));

const partsIn = (error: unknown, { nameOf }: VersionProblems): string[] => [
  ...new Set(problemsOf(error).map(({ pointer }) => nameOf(pointer) ?? pointer)),
];
