import { Link } from '@tanstack/react-router';
import type { Event } from '../api/records.js';
import { useEvents } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { ListSection } from '../ui/listing.js';
import type { Column } from '../ui/table.js';
import { Described, Time } from '../ui/values.js';

export const EventList = ({ world, isOwn }: { world: string; isOwn: boolean }) => (
  <ListSection
    query={useEvents(world)}
    what="events"
    lead="What can happen: each version says what it reads, what it may change, and what decides."
    columns={columnsOf(world)}
    rowKey={({ name }) => name}
    nameOf={({ name }) => name}
    create={
      isOwn && (
        <ButtonLink to="/worlds/$world/new-event" params={{ world }}>
          New event
        </ButtonLink>
      )
    }
    empty="Nothing can happen in this world yet."
  >
    An event changes entities: by a template, or as an AI model proposes.
  </ListSection>
);

const columnsOf = (world: string): readonly Column<Event>[] => [
  {
    header: 'Name',
    cell: ({ name, description }) => (
      <Described words={description}>
        <Link to="/worlds/$world/events/$event" params={{ world, event: name }} className="link font-medium">
          {name}
        </Link>
      </Described>
    ),
  },
  { header: 'Latest version', cell: ({ latestVersion }) => latestVersion ?? 'none' },
  {
    header: 'Changed',
    wideOnly: true,
    cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast />,
  },
];
