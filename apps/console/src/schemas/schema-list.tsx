import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { EntitySchema } from '../api/records.js';
import { schemasQuery } from '../api/schemas.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Empty } from '../ui/empty.js';
import { Find } from '../ui/find.js';
import { Section } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { NewSchema } from './new-schema.js';

export function SchemaList({ world, isOwn }: { world: string; isOwn: boolean }) {
  const query = useQuery(schemasQuery(useOrrery(), world));
  const create = isOwn && <NewSchema world={world} isFirst={query.data?.data.length === 0} />;
  return (
    <Section
      title="Entity schemas"
      lead="What there is: kinds of entities and their attributes."
      actions={query.data && query.data.data.length > 0 && create}
    >
      <Await query={query} what="the entity schemas">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="There is nothing in this world yet." action={create}>
              A schema is a kind of entity, such as a horse, with attributes, their types and their
              constraints.
            </Empty>
          ) : (
            <Find what="entity schemas" items={data} nameOf={({ name }) => name}>
              {(found) => (
                <Table
                  label="Entity schemas"
                  columns={columnsOf(world)}
                  rows={found}
                  rowKey={({ name }) => name}
                />
              )}
            </Find>
          )
        }
      </Await>
    </Section>
  );
}

const columnsOf = (world: string): readonly Column<EntitySchema>[] => [
  {
    key: 'name',
    header: 'Name',
    cell: ({ name, description }) => (
      <>
        <Link
          to="/worlds/$world/schemas/$schema"
          params={{ world, schema: name }}
          className="link font-medium"
        >
          {name}
        </Link>
        {description && <p className="line-clamp-1 text-sm text-muted">{description}</p>}
      </>
    ),
  },
  {
    key: 'attributes',
    header: 'Attributes',
    cell: ({ attributes }) => attributes.map(({ name }) => name).join(', ') || '–',
  },
  {
    key: 'changed',
    header: 'Changed',
    wideOnly: true,
    cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast />,
  },
];
