import type { HistoryEntry } from '@orrery/sdk';
import { Link } from '@tanstack/react-router';
import { deploymentPath, HISTORY, useDeploymentRef } from '../api/deployments.js';
import { useGet } from '../api/read.js';
import { paymentTone } from '../payments/payment-words.js';
import { pushTone } from '../pushes/push-words.js';
import { ExchangeView } from '../run/exchange.js';
import { ErrorNote } from '../ui/messages.js';
import { Details } from '../ui/page.js';
import { useSettled } from '../ui/settled.js';
import { formatAmount } from '../ui/typed-text.js';
import { Badge, explorerLink, safeLink, Transaction } from '../ui/values.js';
import type { JournalEntry } from './entry-words.js';

const ENTRY = `${HISTORY}/{historyId}` as const;

/** What an entry has beside what lists and the stream give: read once one stays at it for a moment. */
export function useWholeEntry({ id, kind }: JournalEntry) {
  const path = { ...deploymentPath(useDeploymentRef()), historyId: id };
  const isSettled = useSettled(id) === id;
  return useGet(ENTRY, { path }, { enabled: isSettled && kind === 'execution' });
}

/** Where the template failed: the entry itself tells everybody no more than the reason. */
export const FailedCode = ({ query: { data } }: { query: ReturnType<typeof useWholeEntry> }) =>
  data?.failedCode !== undefined && (
    <Details
      items={{
        'Failed in': (
          <code className="break-all">{data.failedCode.placeholder || data.failedCode.pointer}</code>
        ),
        'Stands at': <code className="break-all">{data.failedCode.pointer}</code>,
        Because: data.failedCode.reason,
      }}
    />
  );

/** What the model of an execution was asked and answered, and what that cost. */
export const ModelOfEntry = ({ query: { data } }: { query: ReturnType<typeof useWholeEntry> }) =>
  data !== undefined &&
  data.llm !== null && (
    <details open>
      <summary className="mb-1 text-sm font-medium text-muted">The model</summary>
      <ExchangeView llm={data.llm} />
    </details>
  );

/** How long an execution took, what was paid for it and where it was pushed to, as that now stands. */
export function Beside({ query: { data, error } }: { query: ReturnType<typeof useWholeEntry> }) {
  if (error !== null) return <ErrorNote title="The rest of the entry could not be read" error={error} />;
  if (data === undefined) return null;
  const { durationMs, payment, pushes } = data;
  return (
    <Details
      items={{
        Took: durationMs === null ? undefined : `${durationMs.toLocaleString('en')} ms`,
        Payment: payment === null ? undefined : <Paid payment={payment} />,
        Pushes: pushes.length === 0 ? undefined : <Pushed pushes={pushes} />,
      }}
    />
  );
}

function Paid({ payment }: { payment: NonNullable<HistoryEntry['payment']> }) {
  const { amount, decimals, network, status, transaction } = payment;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {formatAmount(amount, decimals)} on {network} <Badge tone={paymentTone(status)}>{status}</Badge>
      <Transaction
        transaction={transaction}
        link={transaction === null ? undefined : explorerLink(network, transaction)}
      />
      <Link to="/worlds/$world/deployments/$deployment/payments" params={useDeploymentRef()} className="link">
        Payments
      </Link>
    </span>
  );
}

function Pushed({ pushes }: Pick<HistoryEntry, 'pushes'>) {
  const params = useDeploymentRef();
  return (
    <ul className="space-y-1">
      {pushes.map(({ chain, status, transaction, explorerUrl, error }) => (
        <li key={chain} className="flex flex-wrap items-center gap-x-2">
          <Link
            to="/worlds/$world/deployments/$deployment/pushes"
            params={params}
            search={{ chain }}
            className="link"
          >
            {chain}
          </Link>
          <Badge tone={pushTone(status)}>{status}</Badge>
          <Transaction transaction={transaction} link={safeLink(explorerUrl)} />
          {error && <span className="text-sm text-bad">{error.detail}</span>}
        </li>
      ))}
    </ul>
  );
}
