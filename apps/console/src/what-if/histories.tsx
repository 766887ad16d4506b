import type { EventTally, ReplayedEntry, ReplayRun, Spread, StateDifference } from '@orrery/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import { titleOf } from '../live/entry-words.js';
import { classes } from '../ui/classes.js';
import { Diff } from '../ui/lazily.js';
import { Section } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { MOST_SHOWN, type Replayed } from './replay.js';

/** Both histories side by side. */
export function Histories({ comparison: { runs, events, spreads }, entries }: Replayed) {
  return (
    <div role="status" className="mt-5">
      {runs.map((run, at) => (
        <Verdict key={run.fork} run={run} name={runs.length === 1 ? undefined : `Run ${at + 1}`} />
      ))}
      {events.length > 0 && (
        <Section title="Outcomes by event" className="mt-6">
          <Table
            label="Outcomes by event"
            columns={eventColumns(runs.length)}
            rows={events}
            rowKey={({ event }) => event}
          />
        </Section>
      )}
      {entries.length > 0 && <Parting entries={entries} runs={runs} />}
      {runs.map((run, at) => (
        <States key={run.fork} run={run} name={runs.length === 1 ? '' : ` in run ${at + 1}`} />
      ))}
      {runs.length > 1 && spreads.length > 0 && (
        <Section title="How the outcomes of models spread">
          <Table
            label="Outcomes of models"
            columns={SPREAD}
            rows={spreads.flatMap(outcomesOf)}
            rowKey={({ key }) => key}
          />
        </Section>
      )}
    </div>
  );
}

function Verdict({ run, name }: { run: ReplayRun; name: string | undefined }) {
  const { world } = useDeploymentRef();
  const { partsAt, cost, isKept, fork } = run;
  return (
    <div
      className={classes(
        'mb-2 rounded-lg border p-4',
        partsAt === null ? 'border-ok/40 bg-ok-soft' : 'border-warn/40 bg-warn-soft',
      )}
    >
      <p className="text-lg font-semibold">
        {name === undefined ? '' : `${name}: `}
        {verdictOf(run)}
      </p>
      {cost.executions > 0 && (
        <p>
          Models: {(cost.inputTokens + cost.outputTokens).toLocaleString('en')} tokens
          {cost.usd !== null && `, ${formatUsd(cost.usd)}`}
        </p>
      )}
      {isKept && (
        <Link
          to="/worlds/$world/deployments/$deployment/live"
          params={{ world, deployment: fork }}
          className="link"
        >
          The fork, which is kept
        </Link>
      )}
    </div>
  );
}

/** What a run has found, in one sentence. */
export function verdictOf({
  partsAt,
  parting,
  entries,
}: Pick<ReplayRun, 'partsAt' | 'parting' | 'entries'>): string {
  const count = entries.toLocaleString('en');
  if (partsAt === null) return `All ${count} entries end as recorded.`;
  return `The histories part at entry ${partsAt}: ${parting.length.toLocaleString('en')} of ${count} entries end otherwise.`;
}

interface EventRow {
  readonly event: string;
  readonly original: EventTally;
  readonly runs: readonly EventTally[];
}

const eventColumns = (runs: number): Column<EventRow>[] => [
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Recorded', cell: ({ original }) => tallyWords(original) },
  ...Array.from({ length: runs }, (_, at) => ({
    header: runs === 1 ? 'Replayed' : `Run ${at + 1}`,
    cell: ({ runs: tallies }: EventRow) => tallies[at] && tallyWords(tallies[at]),
  })),
];

/** `9 succeeded, 1 failed, $0.20`. */
export function tallyWords({ succeeded, failed, refused, cost }: EventTally): string {
  const counts = Object.entries({ succeeded, failed, refused }).filter(([, count]) => count > 0);
  const words = counts.map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return [...words, ...(cost.usd ? [formatUsd(cost.usd)] : [])].join(', ') || '–';
}

function Parting({ entries, runs }: { entries: readonly ReplayedEntry[]; runs: readonly ReplayRun[] }) {
  const all = runs.reduce((sum, { parting }) => sum + parting.length, 0);
  const shown = all > MOST_SHOWN ? `The first ${MOST_SHOWN} of ${all.toLocaleString('en')}.` : undefined;
  return (
    <Section title="Entries that end otherwise" lead={shown}>
      <Table
        label="Entries that end otherwise"
        columns={
          runs.length === 1
            ? PARTING
            : [PARTING[0], { header: 'Run', cell: ({ run }) => run }, ...PARTING.slice(1)]
        }
        rows={entries}
        rowKey={({ run, seq }) => `${run} ${seq}`}
      />
    </Section>
  );
}

const PARTING: [Column<ReplayedEntry>, ...Column<ReplayedEntry>[]] = [
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
  { header: 'What', cell: ({ original }) => titleOf(original) },
  { header: 'Differs in', wideOnly: true, cell: ({ differences }) => differences.join(', ') },
  { header: 'Recorded', cell: ({ original }) => endOf(original) },
  {
    header: 'Replayed',
    cell: ({ replayed, error }) => {
      const reason = error ?? replayed?.error;
      if (reason) return <Reason {...reason} />;
      return replayed === null ? '–' : endOf(replayed);
    },
  },
];

const Reason = ({ code, detail }: { code: string; detail: string }) => (
  <>
    {code}
    <p className="line-clamp-3 max-w-90 text-sm break-words text-muted">{detail}</p>
  </>
);

function EntryLink({ seq }: { seq: number }) {
  return (
    <Link
      to="/worlds/$world/deployments/$deployment/live"
      params={useDeploymentRef()}
      search={{ seq }}
      className="link"
    >
      {seq}
    </Link>
  );
}

const endOf = ({ error, stateChanges, result }: NonNullable<ReplayedEntry['replayed']>): ReactNode =>
  error?.code ?? <Short value={Object.keys(stateChanges).length === 0 ? result : stateChanges} />;

const Short = ({ value }: { value: unknown }) => (
  <code className="line-clamp-2 max-w-90 font-mono text-xs break-all">{JSON.stringify(value)}</code>
);

/** Instances whose difference is shown. */
const MOST_STATES = 20;

function States({ run: { states, isCut }, name }: { run: ReplayRun; name: string }) {
  if (states.length === 0) return null;
  const left = states.length - MOST_STATES;
  return (
    <Section title={`Instances that are different in the end${name}`}>
      <ul className="space-y-3">
        {states.slice(0, MOST_STATES).map((difference) => (
          <li key={difference.instance}>
            <State {...difference} />
          </li>
        ))}
      </ul>
      {left > 0 && <p className="mt-2 text-muted">and {left} more instances</p>}
      {isCut && <p className="mt-2 text-muted">Further instances were not compared.</p>}
    </Section>
  );
}

const State = ({ instance, original, replayed }: StateDifference) => (
  <>
    <p className="mb-1 text-sm font-medium break-all">{instance}</p>
    <Diff
      label={`Difference of ${instance}`}
      left={original ?? undefined}
      right={replayed ?? undefined}
      titles={['Recorded', 'Replayed']}
      onlyChanges={original !== null && replayed !== null}
    />
  </>
);

type OutcomeRow = Spread['outcomes'][number] & Pick<Spread, 'seq' | 'event'> & { readonly key: string };

const outcomesOf = ({ seq, event, outcomes }: Spread): OutcomeRow[] =>
  outcomes.map((outcome, at) => ({ ...outcome, seq, event, key: `${seq} ${at}` }));

const SPREAD: readonly Column<OutcomeRow>[] = [
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Runs', alignRight: true, cell: ({ count }) => count },
  { header: 'As recorded', wideOnly: true, cell: ({ isOriginal }) => (isOriginal ? 'yes' : '') },
  {
    header: 'Outcome',
    cell: ({ code, stateChanges, result }) =>
      code ?? <Short value={Object.keys(stateChanges).length === 0 ? result : stateChanges} />,
  },
];
