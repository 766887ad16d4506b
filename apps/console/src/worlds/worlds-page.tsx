import { usePage } from '../api/read.js';
import type { World } from '../api/records.js';
import { WORLDS } from '../api/worlds.js';
import { NameLink } from '../ui/button.js';
import { CheckField } from '../ui/field.js';
import { Empty, Page } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import type { Column } from '../ui/table.js';
import { Listing } from '../ui/table.js';
import { Badge, Badges, Time } from '../ui/values.js';
import { LoadExample, MoreExamples } from './load-example.js';
import { NewWorld } from './world-form.js';

export function WorldsPage() {
  const [{ owner, page = 1 }, show] = usePageSearch('/');
  const query = usePage(WORLDS, {}, { page, owner: owner === 'all' ? undefined : 'me' });
  return (
    <Page
      title="Worlds"
      lead="A world defines entities and events; its deployments run them."
      actions={
        <>
          <CheckField
            label="Published ones of others too"
            checked={owner === 'all'}
            onChange={(isAll) => void show({ owner: isAll ? 'all' : undefined, page: undefined })}
            className="mr-1"
          />
          {/* An empty list offers it by itself. */}
          {query.data?.data.length !== 0 && <NewWorld />}
        </>
      }
    >
      <Listing
        query={query}
        what="worlds"
        columns={COLUMNS}
        rowKey={({ address }) => address}
        empty={<NoWorlds isAll={owner === 'all'} />}
        onPage={(next) => void show({ page: next })}
      />
      {query.data && query.data.data.length > 0 && <MoreExamples />}
    </Page>
  );
}

const NoWorlds = ({ isAll }: { isAll: boolean }) =>
  isAll ? (
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
    header: 'Name',
    cell: ({ address, name, description }) => (
      <NameLink words={description} to="/worlds/$world" params={{ world: address }}>
        {name}
      </NameLink>
    ),
  },
  {
    header: 'About',
    wideOnly: true,
    cell: ({ domainTags, isPublic }) => (
      <Badges words={domainTags.slice(0, 4)}>{isPublic && <Badge tone="accent">published</Badge>}</Badges>
    ),
  },
  { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast /> },
];
