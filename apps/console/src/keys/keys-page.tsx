import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery, meQuery } from '../api/keys.js';
import type { Key } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Page } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { KeyActions } from './key-actions.js';
import { NewKey } from './new-key.js';
import { ShownToken } from './shown-token.js';

export function KeysPage() {
  const orrery = useOrrery();
  const keys = useQuery(keysQuery(orrery));
  const { data: me } = useQuery(meQuery(orrery));
  const [token, setToken] = useState<string>();
  return (
    <Page
      title="API keys"
      lead={
        me
          ? `Of the account ${me.account.name} (${me.account.id}). A key is shown once, when it is created.`
          : 'A key is shown once, when it is created.'
      }
      actions={<NewKey me={me} onToken={setToken} />}
    >
      <Await query={keys} what="the keys">
        {({ data }) => (
          <Table
            label="API keys"
            columns={columnsOf(data, me?.key.id, setToken)}
            rows={data}
            rowKey={({ id }) => id}
          />
        )}
      </Await>
      <ShownToken token={token} onClose={() => setToken(undefined)} />
    </Page>
  );
}

/** `own`: the key that this page itself uses. */
const columnsOf = (
  keys: readonly Key[],
  own: string | undefined,
  onToken: (token: string) => void,
): readonly Column<Key>[] => [
  {
    key: 'name',
    header: 'Name',
    cell: ({ name, id, madeBy }) => (
      <>
        <span className="flex flex-wrap items-center gap-1.5 font-medium">
          {name} {id === own && <Badge tone="accent">this session</Badge>}
        </span>
        <code className="font-mono text-xs text-muted">{id}</code>
        {madeBy !== null && (
          <span className="block text-xs text-muted">
            made by {keys.find((one) => one.id === madeBy)?.name ?? madeBy}
          </span>
        )}
      </>
    ),
  },
  {
    key: 'scopes',
    header: 'May',
    wideOnly: true,
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
    wideOnly: true,
    cell: ({ lastUsedAt }) => <Time at={lastUsedAt} relative isPast otherwise="never" />,
  },
  {
    key: 'ends',
    header: 'Ends',
    cell: ({ expiresAt }) => <Time at={expiresAt} relative otherwise="never" />,
  },
  {
    key: 'actions',
    header: <span className="sr-only">Actions</span>,
    cell: (key) => (
      <KeyActions
        record={key}
        isOwn={key.id === own}
        hasMade={keys.some(({ madeBy }) => madeBy === key.id)}
        onToken={onToken}
      />
    ),
  },
];
