import { Link, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useChange, useRemoval } from '../api/change.js';
import { useBindings, useDeployments } from '../api/deployments.js';
import { useGuard } from '../api/guard.js';
import { keyOf, useGet } from '../api/read.js';
import type { Deployment, Event, EventVersion } from '../api/records.js';
import {
  EVENT,
  EVENTS,
  type EventRef,
  eventPath,
  isOwn,
  useVersions,
  useWorld,
  VERSION,
} from '../api/worlds.js';
import { AwaitPage } from '../ui/await-page.js';
import { ButtonLink, NameLink } from '../ui/button.js';
import { Confirm, FormButton } from '../ui/dialog.js';
import { Await, Said } from '../ui/messages.js';
import { Empty, Page, Section } from '../ui/page.js';
import { type NameTexts, nameSpecs, TextForm } from '../ui/save-form.js';
import { actionsColumn, CHANGED, type Column, ListSection, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import { versionPart } from './version-words.js';
import { StartedBy, Versions } from './versions.js';

export default function EventPage() {
  const ref = useParams({ from: '/worlds/$world/events/$event' });
  const versions = useVersions(ref);
  const said = useRouterState({ select: ({ location }) => location.state.said });
  const canEdit = isOwn(useWorld(ref.world).data);
  return (
    <AwaitPage query={useGet(EVENT, { path: eventPath(ref) })} what="event">
      {(record) => (
        <Page
          title={record.name}
          lead={record.description}
          beside={<Badge>event</Badge>}
          actions={canEdit && <EventActions record={record} {...ref} />}
        >
          <Said said={said} nameOf={versionPart} />
          <Await query={versions} what="the versions">
            {({ data }) =>
              data.length === 0 ? (
                <NoVersions canEdit={canEdit} {...ref} />
              ) : (
                <>
                  <VersionTable versions={data} canEdit={canEdit} {...ref} />
                  {canEdit && <EventDeployments {...ref} />}
                  <Versions versions={data} />
                </>
              )
            }
          </Await>
        </Page>
      )}
    </AwaitPage>
  );
}

const NoVersions = ({ canEdit, ...ref }: EventRef & { canEdit: boolean }) => (
  <Empty
    title="It has no version any more."
    action={
      canEdit && (
        <ButtonLink look="primary" to="/worlds/$world/events/$event/edit" params={ref}>
          New version
        </ButtonLink>
      )
    }
  >
    A version says what the event reads, what it may change and what decides.
  </Empty>
);

function EventActions({ record, ...ref }: EventRef & { record: Event }) {
  const { name, latestVersion } = record;
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) => orrery.delete(EVENT, { path: eventPath(ref) }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    [keyOf(EVENTS, eventPath(ref))],
  );
  return (
    <>
      <ButtonLink
        look="primary"
        to="/worlds/$world/events/$event/edit"
        params={ref}
        search={latestVersion === null ? {} : { from: latestVersion }}
      >
        New version
      </ButtonLink>
      <FormButton verb="Edit" title="Edit the event">
        {(close) => <NameForm record={record} onClose={close} {...ref} />}
      </FormButton>
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
        Its versions go with it. An event that a deployment binds, or that has a locked version, is not
        deleted.
      </Confirm>
    </>
  );
}

function NameForm({ record, onClose, ...ref }: EventRef & { record: Event; onClose: () => void }) {
  const navigate = useNavigate();
  const path = eventPath(ref);
  const guard = useGuard(EVENT, path);
  const save = useChange(
    (orrery, body: NameTexts) => orrery.put(EVENT, { path, headers: guard.headers(), body }),
    [keyOf(EVENTS, path)],
    ({ name }) => {
      onClose();
      const params = { world: ref.world, event: name };
      return navigate({ to: '/worlds/$world/events/$event', params, ignoreBlocker: true });
    },
  );
  const specs = nameSpecs('An event that a deployment binds keeps its name.');
  const form = { values: { ...record }, guard, save, verb: 'Save', cancel: onClose };
  return <TextForm specs={specs} {...form} />;
}

function VersionTable({
  versions,
  canEdit,
  ...ref
}: EventRef & { versions: readonly EventVersion[]; canEdit: boolean }) {
  const actions = actionsColumn<EventVersion>((version) => <VersionActions version={version} {...ref} />);
  return (
    <Section
      title="Versions"
      lead="A draft can still be edited, and deployments that bind it follow. Lock makes a version final: it never changes again, and is copied to go on."
    >
      <Table
        label="Versions"
        columns={canEdit ? [...COLUMNS, actions] : COLUMNS}
        rows={[...versions].reverse()}
        rowKey={({ version }) => version}
      />
    </Section>
  );
}

function VersionActions({ version: { version, isLocked }, ...ref }: EventRef & { version: EventVersion }) {
  const path = { ...eventPath(ref), version };
  const keys = [keyOf(EVENT, path)];
  const lock = useChange((orrery) => orrery.post(`${VERSION}/lock`, { path }), keys);
  const remove = useChange((orrery) => orrery.delete(VERSION, { path }), keys);
  const link = isLocked ? { verb: 'Copy', search: { from: version } } : { verb: 'Edit', search: { version } };
  return (
    <span className={isLocked ? 'flex justify-end' : 'flex flex-wrap justify-end gap-1'}>
      <ButtonLink
        size="small"
        to="/worlds/$world/events/$event/edit"
        params={ref}
        search={link.search}
        aria-label={`${link.verb} version ${version}`}
      >
        {link.verb}
      </ButtonLink>
      {!isLocked && (
        <>
          <Confirm
            verb="Lock"
            size="small"
            look="secondary"
            title={`Lock version ${version}?`}
            onConfirm={() => lock.mutateAsync()}
          >
            Its definition never changes any more, and neither do the schemas as it sees them. This cannot be
            undone.
          </Confirm>
          <Confirm
            verb="Delete"
            size="small"
            title={`Delete version ${version}?`}
            onConfirm={() => remove.mutateAsync()}
          >
            Its number is not used again. A version that a deployment binds is not deleted.
          </Confirm>
        </>
      )}
    </span>
  );
}

const COLUMNS: readonly Column<EventVersion>[] = [
  {
    header: 'Version',
    cell: ({ version }) => (
      <Link
        from="/worlds/$world/events/$event"
        to="/worlds/$world/events/$event"
        search={{ right: version }}
        className="link font-medium"
        title={`Show version ${version}`}
        resetScroll={false}
      >
        {version}
      </Link>
    ),
  },
  {
    header: 'State',
    cell: ({ isLocked, lockedAt }) =>
      isLocked ? (
        <span title={`It never changes again. Locked ${lockedAt}`}>
          <Badge tone="ok">locked</Badge>
        </span>
      ) : (
        <span title="It can still be edited; deployments that bind it follow.">
          <Badge>draft</Badge>
        </span>
      ),
  },
  { header: 'Decided by', cell: (version) => <Decides version={version} /> },
  { header: 'Started by', wideOnly: true, cell: (version) => <StartedBy version={version} /> },
  CHANGED,
];

function Decides({ version: { mutationSettings, behaviorPrompt } }: { version: EventVersion }) {
  if (mutationSettings === null) return behaviorPrompt ? 'an AI model' : 'nothing yet';
  return mutationSettings.mode === 'direct' ? 'a template' : 'an AI model';
}

/** What each deployment binds is asked for one by one. */
const MOST_SHOWN = 10;

export function EventDeployments({ world, event }: EventRef) {
  const query = useDeployments(world);
  const data = query.data && { ...query.data, data: query.data.data.slice(0, MOST_SHOWN) };
  const left = (data?.pagination.total ?? 0) - MOST_SHOWN;
  return (
    <ListSection
      query={{ ...query, data }}
      what="deployments"
      title="Where it runs"
      label="Where it runs"
      lead="An event is executed in a deployment that binds one of its versions."
      columns={[
        { header: 'Deployment', cell: (deployment) => <Name deployment={deployment} world={world} /> },
        {
          header: 'Bound',
          cell: (deployment) => <Binding deployment={deployment} world={world} event={event} />,
        },
      ]}
      rowKey={({ address }) => address}
      create={
        <ButtonLink to="/worlds/$world/deploy" params={{ world }}>
          New deployment
        </ButtonLink>
      }
      empty="Nothing runs it yet."
      foot={
        left > 0 && (
          <p className="mt-2 text-sm text-muted">
            and {left} more on the{' '}
            <Link to="/worlds/$world" params={{ world }} className="link">
              page of the world
            </Link>
          </p>
        )
      }
    >
      A new deployment binds the events of the world that you choose.
    </ListSection>
  );
}

const Name = ({ deployment: { name, address }, world }: { deployment: Deployment; world: string }) => (
  <NameLink to="/worlds/$world/deployments/$deployment" params={{ world, deployment: address }}>
    {name}
  </NameLink>
);

function Binding({ deployment: { address, mode }, world, event }: EventRef & { deployment: Deployment }) {
  const ref = { world, deployment: address };
  const { data } = useBindings(ref);
  if (data === undefined) return '…';
  const bound = data.find((binding) => binding.event === event);
  if (bound !== undefined) return `version ${bound.eventVersion}`;
  if (mode === 'locked') return <span className="text-muted">no, and it is locked</span>;
  return (
    <ButtonLink size="small" to="/worlds/$world/deployments/$deployment/settings" params={ref}>
      Bind it
    </ButtonLink>
  );
}
