import type { Event } from '../api/records.js';
import { useEvents } from '../api/worlds.js';
import { ButtonLink, NameLink } from '../ui/button.js';
import type { Column } from '../ui/table.js';
import { CHANGED, ListSection } from '../ui/table.js';

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
      <NameLink words={description} to="/worlds/$world/events/$event" params={{ world, event: name }}>
        {name}
      </NameLink>
    ),
  },
  { header: 'Latest version', cell: ({ latestVersion }) => latestVersion ?? 'none' },
  CHANGED,
];
