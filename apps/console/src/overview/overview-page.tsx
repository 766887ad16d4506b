import { useMemo } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import { SelectField } from '../ui/field.js';
import { Chart } from '../ui/lazily.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { Card, Details, Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { type Column, Table } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { Time } from '../ui/values.js';
import { type Activity, activityOf, type EventActivity } from './activity.js';
import { needsOf } from './attention.js';
import { Needs } from './needs.js';
import { MOST_READ, type Overview, type Recent, useOverview, useRecent } from './queries.js';
import { SPAN_NAMES, SPANS, type Span, stepsOf } from './spans.js';

const ROUTE = '/worlds/$world/deployments/$deployment/overview';

/** How a deployment goes: what needs attention, what waits, and what was executed lately. */
export default function OverviewPage() {
  const ref = useDeploymentRef();
  const overview = useOverview(ref);
  const needs = needsOf(overview, Date.now());
  return (
    <>
      <ErrorNote title="Not all of it could be read" error={overview.error} />
      {needs.length > 0 && (
        <Section title="What needs attention">
          <Needs needs={needs} of={ref} />
        </Section>
      )}
      <Section title="What waits">
        <Waiting overview={overview} isWell={needs.length === 0} />
      </Section>
      <Executions />
    </>
  );
}

const count = (value: number | undefined): string => value?.toLocaleString('en') ?? '…';

function Waiting({ overview, isWell }: { overview: Overview; isWell: boolean }) {
  const { pendingTimers, timers, schedules, unfinishedPushes } = overview;
  const next = schedules?.flatMap(({ nextAt }) => nextAt ?? []).sort()[0];
  return (
    <Card>
      {isWell && <p className="mb-2 text-ok">Nothing needs attention.</p>}
      <Details
        items={{
          Timers: (
            <>
              {count(pendingTimers)} pending
              {timers?.[0] && (
                <>
                  , the next <Time at={timers[0].dueAt} relative />
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
  const starts = useStarts(span);
  const query = useRecent(useDeploymentRef(), starts[0] ?? 0);
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
        {(recent) => <Shown recent={recent} span={span} starts={starts} />}
      </Await>
    </Section>
  );
}

/** The steps as they are when the page opens: with each minute it would be read anew. */
const useStarts = (span: Span): readonly number[] => useMemo(() => stepsOf(span, Date.now()), [span]);

function leadOf({ executions, isCut }: Recent): string {
  const counted = executions.length.toLocaleString('en');
  return isCut
    ? `The latest ${MOST_READ.toLocaleString('en')} alone: earlier ones are left out here.`
    : `${counted} in all.`;
}

interface ShownProps {
  recent: Recent;
  span: Span;
  starts: readonly number[];
}

function Shown({ recent, span, starts }: ShownProps) {
  const activity = useMemo(
    () => activityOf(recent.executions, starts, SPANS[span].step),
    [recent, starts, span],
  );
  if (activity.events.length === 0) return <Empty title={`Nothing was executed in the last ${span}.`} />;
  return (
    <>
      <Rate activity={activity} starts={starts} span={span} />
      <Table
        label="Executions by event"
        columns={EVENTS}
        rows={activity.events}
        rowKey={({ event }) => event}
      />
      {activity.failures.length > 0 && (
        <div className="mt-4">
          <Table
            label="Failures by code"
            columns={FAILURES}
            rows={activity.failures}
            rowKey={({ code }) => code}
          />
        </div>
      )}
    </>
  );
}

const STEP_WORDS: Record<Span, string> = { hour: 'minute', day: 'half an hour', month: 'day' };

function Rate({
  activity: { succeeded, failed },
  starts,
  span,
}: {
  activity: Activity;
  starts: readonly number[];
  span: Span;
}) {
  // What is drawn later covers what was drawn before.
  const all = succeeded.map((value, at) => value + (failed[at] ?? 0));
  return (
    <Card className="mb-4">
      <Chart
        label={`Executions by ${STEP_WORDS[span]}; the table below has the sums`}
        x={starts}
        xKind={span === 'month' ? 'day' : 'time'}
        kind="bars"
        isWhole
        series={[
          { label: 'succeeded', values: all, own: succeeded },
          { label: 'failed', values: failed },
        ]}
      />
    </Card>
  );
}

const ms = (value: number | undefined): string =>
  value === undefined ? '–' : `${Math.round(value).toLocaleString('en')} ms`;

const EVENTS: readonly Column<EventActivity>[] = [
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Succeeded', alignRight: true, cell: ({ succeeded }) => count(succeeded) },
  { header: 'Failed', alignRight: true, cell: ({ failed }) => count(failed) },
  { header: 'Median', alignRight: true, cell: ({ median }) => ms(median) },
  { header: '95 % within', alignRight: true, cell: ({ p95 }) => ms(p95) },
  { header: 'Cost', alignRight: true, cell: ({ usd }) => (usd === undefined ? '–' : formatUsd(usd)) },
];

const FAILURES: readonly Column<Activity['failures'][number]>[] = [
  { header: 'Failed with', cell: ({ code }) => <code className="font-mono text-sm text-bad">{code}</code> },
  { header: 'Times', alignRight: true, cell: ({ count: times }) => count(times) },
  { header: 'Events', cell: ({ events }) => events.join(', ') },
];
