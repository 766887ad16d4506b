import type { Push } from '../api/pushes.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Badge } from '../ui/badge.js';
import { Copy, shortened } from '../ui/copy.js';
import { safeLink } from '../ui/explorer.js';
import type { Column } from '../ui/table.js';
import { PushActions } from './push-actions.js';
import { pushMeaning, pushTone } from './push-words.js';

export const PUSH_COLUMNS: readonly Column<Push>[] = [
  {
    key: 'chain',
    header: 'Chain',
    cell: ({ chain, number }) => (
      <span className="whitespace-nowrap">
        {chain} {number !== null && <span className="text-muted">#{number}</span>}
      </span>
    ),
  },
  { key: 'entry', header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
  {
    key: 'status',
    header: 'Status',
    className: 'min-w-40',
    cell: ({ status, truncated }) => (
      <>
        <Badge tone={pushTone(status)}>{status}</Badge>
        <p className="mt-0.5 text-sm text-muted">
          {pushMeaning(status)}
          {truncated && '; only its digest goes on-chain'}
        </p>
      </>
    ),
  },
  { key: 'transaction', header: 'Transaction', cell: (push) => <Transaction push={push} /> },
  { key: 'block', header: 'Block', alignRight: true, cell: ({ block }) => block ?? '–' },
  {
    key: 'error',
    header: 'Why',
    className: 'min-w-48',
    cell: ({ error }) =>
      error && (
        <span className="break-words">
          <code className="font-mono text-sm text-bad">{error.code}</code> {error.detail}
        </span>
      ),
  },
  {
    key: 'actions',
    header: <span className="sr-only">Actions</span>,
    cell: (push) => push.status === 'failed' && <PushActions push={push} />,
  },
];

function Transaction({ push: { transaction, explorerUrl } }: { push: Push }) {
  if (transaction === null) return '–';
  const link = safeLink(explorerUrl);
  const text = <code className="font-mono text-sm">{shortened(transaction)}</code>;
  return (
    <span className="inline-flex items-center gap-0.5 whitespace-nowrap">
      {link === undefined ? (
        <span title={transaction}>{text}</span>
      ) : (
        <a href={link} target="_blank" rel="noopener noreferrer" className="link" title={transaction}>
          {text}
          <span className="sr-only"> (opens the block explorer)</span>
        </a>
      )}
      <Copy text={transaction} what="transaction" />
    </span>
  );
}
