import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { World } from '../api/records.js';
import { type WorldsOwner, worldsQuery } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Empty } from '../ui/empty.js';
import { CheckField } from '../ui/field.js';
import { Page } from '../ui/page.js';
import { Pager } from '../ui/pager.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { LoadExample, MoreExamples } from './load-example.js';
import { NewWorld } from './new-world.js';

export interface WorldsSearch {
  owner?: WorldsOwner;
  page?: number;
}

export function readWorldsSearch({ owner, page }: Record<string, unknown>): WorldsSearch {
  return {
    ...(owner === 'all' && { owner }),
    ...(Number.isInteger(page) && Number(page) > 1 && { page: Number(page) }),
  };
}

export function WorldsPage() {
  const { owner = 'me', page = 1 } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const query = useQuery(worldsQuery(useOrrery(), { owner, page }));
  return (
    <Page
      title="Worlds"
      lead="A world defines entities and events; its deployments run them."
      actions={
        <>
          <OwnerSwitch owner={owner} />
          <NewWorld />
        </>
      }
    >
      <Await query={query} what="the worlds">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <NoWorlds owner={owner} />
          ) : (
            <>
              <Table label="Worlds" columns={COLUMNS} rows={data} rowKey={({ address }) => address} />
              <Pager
                pagination={pagination}
                what="worlds"
                onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }) })}
              />
              <MoreExamples />
            </>
          )
        }
      </Await>
    </Page>
  );
}

/** Whose worlds are listed: one's own, or all that one can read. */
function OwnerSwitch({ owner }: { owner: WorldsOwner }) {
  const navigate = useNavigate({ from: '/' });
  return (
    <CheckField
      label="Published ones of others too"
      checked={owner === 'all'}
      onChange={(isAll) => void navigate({ search: isAll ? { owner: 'all' } : {} })}
      className="mr-1"
    />
  );
}

const NoWorlds = ({ owner }: { owner: WorldsOwner }) =>
  owner === 'all' ? (
    <Empty title="There are no worlds that you can read." action={<NewWorld />} />
  ) : (
    <Empty
      title="You have no worlds yet."
      action={
        <>
          <LoadExample />
          <NewWorld look="secondary" />
        </>
      }
    >
      Load an example to look around: a world, a deployment that runs it, and its first instances.
    </Empty>
  );

const COLUMNS: readonly Column<World>[] = [
  {
    key: 'name',
    header: 'Name',
    cell: ({ address, name, description }) => (
      <>
        <Link to="/worlds/$world" params={{ world: address }} className="link font-medium">
          {name}
        </Link>
        {description && <p className="line-clamp-1 text-sm text-muted">{description}</p>}
      </>
    ),
  },
  {
    key: 'tags',
    wideOnly: true,
    header: 'About',
    cell: ({ domainTags, isPublic }) => (
      <span className="flex flex-wrap gap-1">
        {isPublic && <Badge tone="accent">published</Badge>}
        {domainTags.slice(0, 4).map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  },
  { key: 'updated', header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast /> },
];
