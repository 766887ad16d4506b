import { useDeployment, useDeploymentRef, useUsage } from '../api/deployments.js';
import type { AiUsage } from '../api/records.js';
import { SelectField } from '../ui/field.js';
import { Chart } from '../ui/lazily.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { Card, Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { type Column, Table } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { ModelRuns } from './model-runs.js';
import {
  type EventUsage,
  lastDays,
  MEASURES,
  type Measure,
  measured,
  RANGES,
  stacked,
  totalsByEvent,
  usageChart,
} from './usage-series.js';

export default function UsagePage() {
  const [search, show] = usePageSearch('/worlds/$world/deployments/$deployment/ai', { replace: true });
  const { days = 30, measure } = search;
  const query = useUsage(useDeploymentRef(), lastDays(days, new Date()));
  return (
    <>
      <Today />
      <Await query={query} what="the usage">
        {(usage) => {
          const shown = measure ?? (usage.totals.usd > 0 ? 'usd' : 'calls');
          return (
            <Section
              title="Usage of models"
              lead="By UTC day. Dry runs count, too."
              actions={
                <>
                  <SelectField
                    label="Of"
                    className="flex items-baseline gap-2"
                    value={String(days)}
                    onChange={(next) => void show({ days: RANGES.find((range) => String(range) === next) })}
                    options={RANGES.map((range) => [String(range), `${range} days`])}
                  />
                  <SelectField
                    label="Show"
                    className="flex items-baseline gap-2"
                    value={shown}
                    onChange={(next) => void show({ measure: next })}
                    options={MEASURES.map((one) => [one, WORDS[one].toLowerCase()] as const)}
                  />
                </>
              }
            >
              {usage.totals.calls === 0 ? <NoUsage /> : <Usage usage={usage} measure={shown} />}
            </Section>
          );
        }}
      </Await>
      <ModelRuns
        asked={query.data === undefined ? [] : totalsByEvent(query.data.days).map(({ event }) => event)}
      />
    </>
  );
}

function Today() {
  const ref = useDeploymentRef();
  const deployment = useDeployment(ref);
  const today = useUsage(ref, lastDays(1, new Date()));
  const budget = deployment.data?.aiDailyBudgetUsd;
  if (today.data === undefined || deployment.data === undefined) return <ErrorNote error={today.error} />;
  const used = formatUsd(today.data.totals.usd);
  return (
    <p className="mb-4">
      Today: <strong>{used}</strong>
      {typeof budget === 'number'
        ? ` of the daily budget of ${formatUsd(budget)}.`
        : '. There is no daily budget.'}
    </p>
  );
}

const NoUsage = () => (
  <Empty title="No model was asked in these days.">
    Events that an AI model decides ask it here. What each request costs is counted.
  </Empty>
);

function Usage({ usage, measure }: { usage: AiUsage; measure: Measure }) {
  const { days, series } = usageChart(usage, measure);
  const tops = stacked(series);
  // What is drawn later covers what was drawn before: the tallest bars first.
  const bars = series
    .map(({ event, values }, at) => ({ label: event, values: tops[at] ?? [], own: values }))
    .reverse();
  const format = FORMATS[measure];
  return (
    <>
      <Card className="mb-4">
        <Chart
          label={`${WORDS[measure]} of models by day and event; the table below has the sums`}
          x={days}
          xKind="day"
          kind="bars"
          series={bars}
          format={format}
          isWhole={measure !== 'usd'}
        />
      </Card>
      <Table
        label="Usage by event"
        columns={columnsFor(measured(usage.totals, measure), measure)}
        rows={totalsByEvent(usage.days)}
        rowKey={({ event }) => event}
      />
    </>
  );
}

const count = (value: number): string => value.toLocaleString('en');
const FORMATS: Record<Measure, (value: number) => string> = { usd: formatUsd, calls: count, tokens: count };
const WORDS: Record<Measure, string> = { usd: 'Cost', calls: 'Requests', tokens: 'Tokens' };

const columnsFor = (total: number, measure: Measure): readonly Column<EventUsage>[] => [
  { header: 'Event', cell: ({ event }) => event },
  { header: 'Cost', alignRight: true, cell: ({ usd }) => formatUsd(usd) },
  { header: 'Requests', alignRight: true, cell: ({ calls }) => count(calls) },
  { header: 'Prompt tokens', alignRight: true, cell: ({ inputTokens }) => count(inputTokens) },
  { header: 'Answer tokens', alignRight: true, cell: ({ outputTokens }) => count(outputTokens) },
  {
    header: `Share of ${WORDS[measure].toLowerCase()}`,
    alignRight: true,
    cell: (usage) => (total === 0 ? '–' : `${Math.round((100 * measured(usage, measure)) / total)} %`),
  },
];
