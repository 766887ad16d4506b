import { useDeploymentRef, useOccurrences } from '../api/deployments.js';
import type { Occurrence } from '../api/records.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Filter } from '../ui/field.js';
import { Listing } from '../ui/listing.js';
import { Empty, Section } from '../ui/page.js';
import type { Column } from '../ui/table.js';
import { Badge, Failure, Time } from '../ui/values.js';
import { kindWords, outcomeTone, outcomeWords, reasonWords, STATUSES } from './ledger-words.js';

interface Shown {
  status: Occurrence['status'] | undefined;
  page: number | undefined;
}

export interface LedgerProps extends Shown {
  event: string;
  page: number;
  onChange: (change: Partial<Shown>) => void;
}

export const Ledger = ({ event, status, page, onChange }: LedgerProps) => (
  <Section
    title={`Ledger of ${event}`}
    lead="Every due time has one row, with its outcome."
    actions={
      <Filter
        label="Show"
        className="flex items-baseline gap-2"
        value={status}
        onChange={(next) => onChange({ status: next, page: undefined })}
        values={STATUSES}
      />
    }
  >
    <Listing
      query={useOccurrences(useDeploymentRef(), event, { page, status })}
      what="due times"
      label={`Ledger of ${event}`}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      empty={<Empty title={status ? `No due time is ${status}.` : 'Nothing was due yet.'} />}
      onPage={(next) => onChange({ page: next })}
    />
  </Section>
);

const COLUMNS: readonly Column<Occurrence>[] = [
  {
    header: 'Due',
    cell: (row) => (
      <>
        <Time at={row.dueAt} />
        {row.until && (
          <>
            {' '}
            – <Time at={row.until} />
          </>
        )}
        {kindWords(row) && <p className="text-sm text-muted">{kindWords(row)}</p>}
      </>
    ),
  },
  { header: 'Outcome', cell: (row) => <Badge tone={outcomeTone(row)}>{outcomeWords(row)}</Badge> },
  { header: 'Why', className: 'min-w-56', cell: (row) => <Why row={row} /> },
  { header: 'Counter', alignRight: true, cell: ({ counter }) => counter ?? '–' },
  { header: 'Attempts', alignRight: true, cell: ({ attempts }) => attempts },
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
];

function Why({ row: { reason, error } }: { row: Occurrence }) {
  if (error) return <Failure error={error} />;
  return reason && reasonWords(reason);
}
