import { useQuery } from '@tanstack/react-query';
import { keysQuery } from '../api/keys.js';
import type { Key } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Page } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';

export function KeysPage() {
  const query = useQuery(keysQuery(useOrrery()));
  return (
    <Page
      title="API keys"
      lead="Programs send a key with each request. It is shown once, when it is created."
    >
      <Await query={query} what="the keys">
        {({ data }) => <Table label="API keys" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />}
      </Await>
    </Page>
  );
}

const COLUMNS: readonly Column<Key>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { key: 'id', header: 'Id', cell: ({ id }) => <code className="font-mono text-sm">{id}</code> },
  {
    key: 'scopes',
    header: 'May',
    cell: ({ scopes }) => (
      <span className="flex flex-wrap gap-1">
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
  {
    key: 'used',
    header: 'Last used',
    cell: ({ lastUsedAt }) => <Time at={lastUsedAt} relative otherwise="never" />,
  },
  {
    key: 'expires',
    header: 'Ends',
    cell: ({ expiresAt }) => <Time at={expiresAt} relative otherwise="never" />,
  },
];
