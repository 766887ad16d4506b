import { Link } from '@tanstack/react-router';
import type { EventVersion } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { type EventRef, eventKey, eventPath, VERSIONS } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { CHANGED } from '../ui/listing.js';
import { Section } from '../ui/page.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import { StartedBy } from './version-view.js';

export function VersionTable({
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

const PATH = `${VERSIONS}/{version}` as const;

function VersionActions({ version: { version, isLocked }, ...ref }: EventRef & { version: EventVersion }) {
  const path = { ...eventPath(ref), version };
  const keys = [eventKey(ref)];
  const lock = useChange((orrery) => orrery.post(`${PATH}/lock`, { path }), keys);
  const remove = useChange((orrery) => orrery.delete(PATH, { path }), keys);
  if (isLocked)
    return (
      <span className="flex justify-end">
        <ButtonLink
          size="small"
          to="/worlds/$world/events/$event/edit"
          params={ref}
          search={{ from: version }}
          aria-label={`Copy version ${version}`}
        >
          Copy
        </ButtonLink>
      </span>
    );
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <ButtonLink
        size="small"
        to="/worlds/$world/events/$event/edit"
        params={ref}
        search={{ version }}
        aria-label={`Edit version ${version}`}
      >
        Edit
      </ButtonLink>
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
