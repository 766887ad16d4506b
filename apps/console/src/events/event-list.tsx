import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { eventsQuery } from '../api/events.js';
import type { Event } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Find } from '../ui/find.js';
import { Section } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';

export function EventList({ world, isOwn }: { world: string; isOwn: boolean }) {
  const query = useQuery(eventsQuery(useOrrery(), world));
  const create = isOwn && (
    <ButtonLink to="/worlds/$world/new-event" params={{ world }}>
      New event
    </ButtonLink>
  );
  return (
    <Section
      title="Events"
      lead="What can happen: each version says what it reads, what it may change, and what decides."
      actions={query.data && query.data.data.length > 0 && create}
    >
      <Await query={query} what="the events">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing can happen in this world yet." action={create}>
              An event changes entities: by a template, or as an AI model proposes.
            </Empty>
          ) : (
            <Find what="events" items={data} nameOf={({ name }) => name}>
              {(found) => (
                <Table label="Events" columns={columnsOf(world)} rows={found} rowKey={({ name }) => name} />
              )}
            </Find>
          )
        }
      </Await>
    </Section>
  );
}

const columnsOf = (world: string): readonly Column<Event>[] => [
  {
    key: 'name',
    header: 'Name',
    cell: ({ name, description }) => (
      <>
        <Link to="/worlds/$world/events/$event" params={{ world, event: name }} className="link font-medium">
          {name}
        </Link>
        {description && <p className="line-clamp-1 text-sm text-muted">{description}</p>}
      </>
    ),
  },
  { key: 'version', header: 'Latest version', cell: ({ latestVersion }) => latestVersion ?? 'none' },
  {
    key: 'changed',
    header: 'Changed',
    wideOnly: true,
    cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast />,
  },
];
