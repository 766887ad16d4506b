import { type Column, Table } from '../ui/table.js';
import { type Sample, type SampleRow, sampleRows } from './proposals.js';

/** Outcomes of an event side by side: a column for each, a line for each value, and how many agree. */
export const SampleTable = ({ samples }: { samples: readonly Sample[] }) => (
  <Table
    label="Outcomes side by side"
    columns={columnsOf(samples)}
    rows={sampleRows(samples)}
    rowKey={({ what }) => what}
  />
);

const columnsOf = (samples: readonly Sample[]): readonly Column<SampleRow>[] => [
  { header: 'What', className: 'font-medium', cell: ({ what }) => what },
  {
    header: 'Same',
    alignRight: true,
    cell: ({ same }) => (same === undefined ? '' : `${same} of ${samples.length}`),
  },
  ...samples.map(({ name }, at) => ({
    header: name,
    cell: ({ values }: SampleRow) =>
      values[at] === undefined ? '–' : <span className="line-clamp-3 min-w-24">{values[at]}</span>,
  })),
];
