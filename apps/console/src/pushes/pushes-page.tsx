import { useChange } from '../api/change.js';
import { DEPLOYMENT, deploymentPath, PUSHES, useChains, useDeploymentRef } from '../api/deployments.js';
import { keyOf, REFRESHED, usePage } from '../api/read.js';
import type { Push } from '../api/records.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { Filter } from '../ui/field.js';
import { ErrorNote } from '../ui/messages.js';
import { Empty } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { actionsColumn, type Column, Listing } from '../ui/table.js';
import { Badge, Failure, safeLink, Transaction } from '../ui/values.js';
import { pushMeaning, pushTone, STATES } from './push-words.js';

export default function PushesPage() {
  const [{ chain, state, page = 1 }, show] = usePageSearch('/worlds/$world/deployments/$deployment/pushes');
  const chains = useChains().data?.data ?? [];
  const isFiltered = chain !== undefined || state !== undefined;
  return (
    <>
      <div className="mb-4 grid max-w-xl grid-cols-2 gap-3">
        <Filter
          label="Chain"
          value={chain}
          onChange={(next) => void show({ chain: next, page: undefined })}
          values={chains.map(({ name }) => name)}
        />
        <Filter
          label="Status"
          value={state}
          onChange={(next) => void show({ state: next, page: undefined })}
          values={STATES}
        />
      </div>
      <Listing
        query={usePage(PUSHES, deploymentPath(useDeploymentRef()), { page, chain, state }, REFRESHED)}
        what="pushes"
        columns={COLUMNS}
        rowKey={(push) => `${push.chain} ${push.historyId}`}
        empty={<NoPushes isFiltered={isFiltered} hasChains={chains.length > 0} />}
        onPage={(next) => void show({ page: next })}
      />
    </>
  );
}

function NoPushes({ isFiltered, hasChains }: { isFiltered: boolean; hasChains: boolean }) {
  const ref = useDeploymentRef();
  if (isFiltered) return <Empty title="No push is like that." />;
  if (!hasChains)
    return (
      <Empty title="This server has no chain to push to.">
        The operator names chains in the file CHAINS_FILE. Then bindings can name them, and each succeeded
        execution is pushed.
      </Empty>
    );
  return (
    <Empty
      title="Nothing was pushed yet."
      action={
        <ButtonLink to="/worlds/$world/deployments/$deployment/settings" params={ref}>
          Bindings
        </ButtonLink>
      }
    >
      Choose chains for an event among the bindings: each succeeded execution of it is pushed to them, or the
      head of the journal each hour.
    </Empty>
  );
}

const COLUMNS: readonly Column<Push>[] = [
  {
    header: 'Chain',
    cell: ({ chain, number }) => (
      <span className="whitespace-nowrap">
        {chain} {number !== null && <span className="text-muted">#{number}</span>}
      </span>
    ),
  },
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
  {
    header: 'Status',
    className: 'min-w-40',
    cell: ({ status, truncated, head }) => (
      <>
        <Badge tone={pushTone(status)}>{status}</Badge>
        <p className="mt-0.5 text-sm text-muted">
          {pushMeaning(status)}
          {truncated && '; only its digest goes on-chain'}
          {head &&
            (head.size === null
              ? '; the head of an hour'
              : `; the head of ${head.size.toLocaleString('en')} entries`)}
        </p>
      </>
    ),
  },
  {
    header: 'Transaction',
    cell: ({ transaction, explorerUrl }) => (
      <Transaction transaction={transaction} link={safeLink(explorerUrl)} />
    ),
  },
  { header: 'Block', alignRight: true, cell: ({ block }) => block ?? '–' },
  { header: 'Why', className: 'min-w-48', cell: ({ error }) => error && <Failure error={error} /> },
  actionsColumn((push) => push.status === 'failed' && <PushActions push={push} />),
];

const PUSH = `${DEPLOYMENT}/history/{historyId}/pushes/{chain}` as const;

function PushActions({ push: { historyId, chain, seq } }: { push: Push }) {
  const ref = useDeploymentRef();
  const path = { ...deploymentPath(ref), historyId, chain };
  const keys = [keyOf(PUSHES, path)];
  const retry = useChange((orrery) => orrery.post(`${PUSH}/retry`, { path }), keys);
  const skip = useChange((orrery) => orrery.post(`${PUSH}/skip`, { path }), keys);
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        size="small"
        pending={retry.isPending}
        aria-label={`Retry the push of entry ${seq} to ${chain}`}
        onClick={() => retry.mutate()}
      >
        Retry
      </Button>
      <Confirm
        verb="Skip"
        size="small"
        look="secondary"
        title="Skip this push?"
        onConfirm={() => skip.mutateAsync()}
      >
        Only the digest of entry {seq} goes to {chain}, under the push's number. The later pushes go on. This
        cannot be taken back.
      </Confirm>
      <ErrorNote error={retry.error} failed="It was not tried again" />
    </div>
  );
}
