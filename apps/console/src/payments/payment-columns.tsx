import type { Payment, PaymentTotal } from '../api/payments.js';
import { EntryLink } from '../deployments/entry-link.js';
import { formatAmount } from '../ui/amount.js';
import { Badge } from '../ui/badge.js';
import { Copy, CopyableCode, shortened } from '../ui/copy.js';
import { explorerLink } from '../ui/explorer.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { paymentMeaning, paymentTone } from './payment-words.js';

type Money = Pick<Payment, 'amount' | 'decimals' | 'network' | 'asset'>;

const Amount = ({ money: { amount, decimals, network, asset } }: { money: Money }) => (
  <span title={`${amount} units of ${asset} on ${network}`} className="whitespace-nowrap">
    {formatAmount(amount, decimals)}
  </span>
);

export const TOTAL_COLUMNS: readonly Column<PaymentTotal>[] = [
  {
    key: 'status',
    header: 'Status',
    cell: ({ status }) => (
      <>
        <Badge tone={paymentTone(status)}>{status}</Badge>{' '}
        <span className="text-sm text-muted">{paymentMeaning(status)}</span>
      </>
    ),
  },
  { key: 'amount', header: 'Amount', alignRight: true, cell: (total) => <Amount money={total} /> },
  {
    key: 'payments',
    header: 'Payments',
    alignRight: true,
    cell: ({ payments }) => payments.toLocaleString('en'),
  },
  {
    key: 'asset',
    header: 'Asset',
    cell: ({ network, asset }) => (
      <>
        {network} <CopyableCode text={asset} what={`asset on ${network}`} short />
      </>
    ),
  },
];

export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { key: 'when', header: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'event', header: 'Event', cell: ({ event }) => event },
  { key: 'amount', header: 'Amount', alignRight: true, cell: (payment) => <Amount money={payment} /> },
  {
    key: 'status',
    header: 'Status',
    className: 'min-w-44',
    cell: ({ status, reason }) => (
      <>
        <Badge tone={paymentTone(status)}>{status}</Badge>
        <p className="mt-0.5 text-sm break-words text-muted">{reason ?? paymentMeaning(status)}</p>
      </>
    ),
  },
  {
    key: 'payer',
    header: 'Payer',
    cell: ({ payer }) => <CopyableCode text={payer} what="payer" short />,
  },
  { key: 'network', header: 'Network', cell: ({ network }) => network },
  { key: 'transaction', header: 'Transaction', cell: (payment) => <Transaction payment={payment} /> },
  { key: 'entry', header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
];

function Transaction({ payment: { network, transaction } }: { payment: Payment }) {
  if (transaction === null) return '–';
  const link = explorerLink(network, transaction);
  if (link === undefined) return <CopyableCode text={transaction} what="transaction" short />;
  return (
    <span className="inline-flex items-center gap-0.5 whitespace-nowrap">
      <a
        href={link}
        target="_blank"
        rel="noopener noreferrer"
        className="link font-mono text-sm"
        title={transaction}
      >
        {shortened(transaction)}
        <span className="sr-only"> (opens the block explorer)</span>
      </a>
      <Copy text={transaction} what="transaction" />
    </span>
  );
}
