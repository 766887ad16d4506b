import { useState } from 'react';
import { useChange } from '../api/change.js';
import { keyOf, useGet, useList } from '../api/read.js';
import type { Key } from '../api/records.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Actions, Confirm, Dialog, FormButton } from '../ui/dialog.js';
import { Await } from '../ui/messages.js';
import { Page } from '../ui/page.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge, Badges, CopyableCode, Time } from '../ui/values.js';
import { NewKey } from './new-key.js';

type ShowToken = (token: string) => void;

export default function KeysPage() {
  const { data: me } = useGet('/api/me');
  const [token, setToken] = useState<string>();
  return (
    <Page
      title="API keys"
      lead={
        me
          ? `Of the account ${me.account.name} (${me.account.id}). A key is shown once, when it is created.`
          : 'A key is shown once, when it is created.'
      }
      actions={
        <FormButton
          verb="New key"
          title="New API key"
          look="primary"
          disabled={!me?.key.scopes.includes('keys')}
        >
          {(close) => me && <NewKey me={me} onToken={setToken} onClose={close} />}
        </FormButton>
      }
    >
      <Await query={useList('/api/keys')} what="the keys">
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

const ShownToken = ({ token, onClose }: { token: string | undefined; onClose: () => void }) => (
  <Dialog title="The new key" open={token !== undefined}>
    <p className="mb-3">Copy it now: it is not shown again, and nobody can look it up.</p>
    <div className="rounded-md border border-line bg-sunken px-3 py-2">
      <CopyableCode text={token ?? ''} what="the new key" />
    </div>
    <Actions>
      <Button look="primary" onClick={onClose}>
        I have it
      </Button>
    </Actions>
  </Dialog>
);

/** `own`: the key that this page itself uses. */
const columnsOf = (
  keys: readonly Key[],
  own: string | undefined,
  onToken: ShowToken,
): readonly Column<Key>[] => [
  {
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
    header: 'May',
    wideOnly: true,
    cell: ({ scopes }) => <Badges words={scopes} />,
  },
  {
    header: 'Last used',
    wideOnly: true,
    cell: ({ lastUsedAt }) => <Time at={lastUsedAt} relative isPast otherwise="never" />,
  },
  { header: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} relative otherwise="never" /> },
  actionsColumn((key) => (
    <KeyActions
      record={key}
      isOwn={key.id === own}
      hasMade={keys.some(({ madeBy }) => madeBy === key.id)}
      onToken={onToken}
    />
  )),
];

interface KeyActionsProps {
  record: Key;
  /** It is the key of this session, which goes on with the new one, or ends. */
  isOwn: boolean;
  /** It made other keys, which end with it. */
  hasMade: boolean;
  /** Shows the token of the key that took its place. */
  onToken: ShowToken;
}

function KeyActions({ record: { id, name }, isOwn, hasMade, onToken }: KeyActionsProps) {
  const session = useSession();
  const keys = [keyOf('/api/keys'), keyOf('/api/me')];
  const rotate = useChange(async (orrery) => {
    const created = await orrery.post('/api/keys/{id}/rotate', { path: { id } });
    // Its token is shown, so that it may be used elsewhere too.
    if (isOwn) session.start(created.token, 'given');
    return created.token;
  }, keys);
  const revoke = useChange(async (orrery) => {
    await orrery.delete('/api/keys/{id}', { path: { id } });
    if (isOwn) session.end('You revoked the key of this session.');
  }, keys);
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <Confirm
        verb="Replace"
        size="small"
        look="secondary"
        title={`Replace ${name}?`}
        onConfirm={async () => onToken(await rotate.mutateAsync())}
      >
        A new key with the same name and scopes takes its place. The old one ends at once.
      </Confirm>
      <Confirm verb="Revoke" size="small" title={`Revoke ${name}?`} onConfirm={() => revoke.mutateAsync()}>
        {isOwn
          ? 'You are signed in with this key: the session ends with it.'
          : 'Whatever uses it is refused within a second.'}
        {hasMade && ' The keys that it made end with it.'}
      </Confirm>
    </span>
  );
}
