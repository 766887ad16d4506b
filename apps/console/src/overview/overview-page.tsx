import { useDeploymentRef } from '../api/deployments.js';
import type { Overview } from '../api/records.js';
import { SelectField } from '../ui/field.js';
import { Chart } from '../ui/lazily.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { Card, Details, Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { type Column, Table } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { Time } from '../ui/values.js';
import { needsOf } from './attention.js';
import { Needs } from './needs.js';
import { useExecutions, useWhole, type Whole } from './queries.js';
import { SPAN_NAMES, type Span } from './spans.js';

const ROUTE = '/worlds/$world/deployments/$deployment/overview';

/** How a deployment goes: what needs attention, what waits, and what was executed lately. */
export default function OverviewPage() {
  const ref = useDeploymentRef();
  const whole = useWhole(ref);
  const needs = needsOf(whole);
  return (
    <>
      <ErrorNote title="Not all of it could be read" error={whole.error} />
      {needs.length > 0 && (
        <Section title="What needs attention">
          <Needs needs={needs} of={ref} />
        </Section>
      )}
      <Section title="What waits">
        <Waiting whole={whole} isWell={needs.length === 0} />
      </Section>
      <Executions />
    </>
  );
}

const count = (value: number | undefined): string => value?.toLocaleString('en') ?? '…';

function Waiting({ whole, isWell }: { whole: Whole; isWell: boolean }) {
  const { overview, schedules, unfinishedPushes } = whole;
  const timers = overview?.timers;
  const next = schedules?.flatMap(({ nextAt }) => nextAt ?? []).sort()[0];
  return (
    <Card>
      {isWell && <p className="mb-2 text-ok">Nothing needs attention.</p>}
      <Details
        items={{
          Timers: (
            <>
              {count(timers?.pending)} pending
              {timers?.nextDueAt && (
                <>
                  , the next <Time at={timers.nextDueAt} relative />
                </>
              )}
            </>
          ),
          Schedules: (
            <>
              {count(schedules?.length)}
              {next && (
                <>
                  , the next is due <Time at={next} relative />
                </>
              )}
            </>
          ),
          Pushes: `${count(unfinishedPushes)} under way`,
        }}
      />
    </Card>
  );
}

function Executions() {
  const [{ of: span = 'day' }, show] = usePageSearch(ROUTE, { replace: true });
  const query = useExecutions(useDeploymentRef(), span);
  return (
    <Section
      title="Executions"
      lead={query.data && leadOf(query.data)}
      actions={
        <SelectField<Span>
          label="Of the last"
          className="flex items-baseline gap-2"
          value={span}
          onChange={(next) => void show({ of: next === 'day' ? undefined : next })}
          options={SPAN_NAMES.map((name) => [name, name])}
        />
      }
    >
      <Await query={query} what="the executions">
        {(overview) => <Shown overview={overview} />}
      </Await>
    </Section>
  );
}

function leadOf({ steps, countedTo, isBehind }: Overview): string {
  if (isBehind) return `Counted up to entry ${countedTo.toLocaleString('en')}; it goes on.`;
  const all = steps.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
  return `${all.toLocaleString('en')} in all.`;
}

function Shown({ overview }: { overview: Overview }) {
  const { of, events, failures, isBehind } = overview;
  if (events.length === 0 && !isBehind) return <Empty title={`Nothing was executed in the last ${of}.`} />;
  return (
    <>
      <Rate overview={overview} />
      <Table label="Executions by event" columns={EVENTS} rows={events} rowKey={({ event }) => event} />
      {failures.length > 0 && (
        <div className="mt-4">
          <Table label="Failures by code" columns={FAILURES} rows={failures} rowKey={({ code }) => code} />
        </div>
      )}
    </>
  );
}

const STEP_WORDS: Record<Span, string> = { hour: 'minute', day: 'half an hour', month: 'day' };

const Rate = ({ overview: { of, steps } }: { overview: Overview }) => (
  <Card className="mb-4">
    <Chart
      label={`Executions by ${STEP_WORDS[of]}; the table below has the sums`}
      x={steps.map(({ at }) => Date.parse(at) / 1000)}
      xKind={of === 'month' ? 'day' : 'time'}
      kind="bars"
      isWhole
      series={[
        {
          label: 'succeeded',
          // What is drawn later covers what was drawn before.
          values: steps.map(({ succeeded, failed }) => succeeded + failed),
          own: steps.map(({ succeeded }) => succeeded),
        },
        { label: 'failed', values: steps.map(({ failed }) => failed) },
      ]}
    />
  </Card>
);

const ms = (value: number | null): string =>
  value === null ? '–' : `${Math.round(value).toLocaleString('en')} ms`;

const EVENTS: readonly Column<Overview['events'][number]>[] = [
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Succeeded', alignRight: true, cell: ({ succeeded }) => count(succeeded) },
  { header: 'Failed', alignRight: true, cell: ({ failed }) => count(failed) },
  { header: 'Median', alignRight: true, cell: ({ medianMs }) => ms(medianMs) },
  { header: '95 % within', alignRight: true, cell: ({ p95Ms }) => ms(p95Ms) },
  { header: 'Cost', alignRight: true, cell: ({ usd }) => (usd === null ? '–' : formatUsd(usd)) },
];

const FAILURES: readonly Column<Overview['failures'][number]>[] = [
  { header: 'Failed with', cell: ({ code }) => <code className="font-mono text-sm text-bad">{code}</code> },
  { header: 'Times', alignRight: true, cell: ({ count: times }) => count(times) },
  { header: 'Events', cell: ({ events }) => events.join(', ') },
];
