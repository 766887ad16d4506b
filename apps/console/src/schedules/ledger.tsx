import { useQuery } from '@tanstack/react-query';
import { type Occurrence, type OccurrenceStatus, occurrencesQuery } from '../api/schedules.js';
import { EntryLink } from '../deployments/entry-link.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Empty } from '../ui/empty.js';
import { SelectField } from '../ui/field.js';
import { Section } from '../ui/page.js';
import { Pager } from '../ui/pager.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { kindWords, outcomeTone, outcomeWords, reasonWords } from './ledger-words.js';
import { type SchedulesSearch, STATUSES } from './schedules-search.js';

export interface LedgerProps {
  event: string;
  status: OccurrenceStatus | undefined;
  page: number;
  onChange: (change: SchedulesSearch) => void;
}

/** What became of the due times of one schedule, newest first. */
export function Ledger({ event, status, page, onChange }: LedgerProps) {
  const query = useQuery(occurrencesQuery(useOrrery(), useDeploymentRef(), { event, page, status }));
  return (
    <Section
      title={`Ledger of ${event}`}
      lead="Every due time has one row, with what became of it."
      actions={
        <SelectField
          label="Show"
          className="flex items-baseline gap-2"
          value={status ?? ''}
          onChange={(next) => onChange({ status: STATUSES.find((one) => one === next), page: 1 })}
          options={[['', 'all'], ...STATUSES.map((one) => [one, one] as const)]}
        />
      }
    >
      <Await query={query} what="the ledger">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty title={status ? `No due time is ${status}.` : 'Nothing was due yet.'} />
          ) : (
            <>
              <Table label={`Ledger of ${event}`} columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
              <Pager pagination={pagination} what="rows" onPage={(next) => onChange({ page: next })} />
            </>
          )
        }
      </Await>
    </Section>
  );
}

const COLUMNS: readonly Column<Occurrence>[] = [
  {
    key: 'due',
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
  {
    key: 'outcome',
    header: 'Outcome',
    cell: (row) => <Badge tone={outcomeTone(row)}>{outcomeWords(row)}</Badge>,
  },
  { key: 'why', header: 'Why', className: 'min-w-56', cell: (row) => <Why row={row} /> },
  { key: 'counter', header: 'Counter', alignRight: true, cell: ({ counter }) => counter ?? '–' },
  { key: 'attempts', header: 'Attempts', alignRight: true, cell: ({ attempts }) => attempts },
  { key: 'entry', header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
];

function Why({ row: { reason, error } }: { row: Occurrence }) {
  if (error)
    return (
      <span className="break-words">
        <code className="font-mono text-sm text-bad">{error.code}</code> {error.detail}
      </span>
    );
  return reason && reasonWords(reason);
}
