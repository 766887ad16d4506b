import type { HistoryEntry } from '@orrery/sdk';
import { useState } from 'react';
import { deploymentPath, HISTORY, useBindings, useDeploymentRef } from '../api/deployments.js';
import { useGet, usePage } from '../api/read.js';
import { EntryLink } from '../deployments/entry-link.js';
import { ExchangeView } from '../run/exchange.js';
import { exchangeFacts } from '../run/exchange-facts.js';
import type { Sample } from '../run/proposals.js';
import { SampleTable } from '../run/sample-table.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { named, SelectField } from '../ui/field.js';
import { Await } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { actionsColumn, type Column, Listing } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { Badge, Time } from '../ui/values.js';

const ROUTE = '/worlds/$world/deployments/$deployment/ai';

/** Inputs that a prompt is tried on. */
const LAST_INPUTS = 20;
/** Runs that fit side by side. */
const MOST_COMPARED = 6;

interface ModelRunsProps {
  /** Events that models were asked for. */
  asked: readonly string[];
}

/** Executions that a model decided: what each was asked and answered, several side by side, and the prompt tried again. */
export function ModelRuns({ asked }: ModelRunsProps) {
  const ref = useDeploymentRef();
  const [{ event: chosen, page = 1 }, show] = usePageSearch(ROUTE, { replace: true });
  const bound = useBindings(ref).data?.map((binding) => binding.event) ?? [];
  const events = [...new Set([...asked, ...(chosen === undefined ? [] : [chosen]), ...bound])];
  const event = chosen ?? events[0];
  if (event === undefined) return null;
  return (
    <Section
      title="Runs of models"
      lead="Each execution with its prompt and its answer, whoever or whatever started it."
      actions={
        <SelectField
          label="Runs of"
          className="flex items-baseline gap-2"
          value={event}
          onChange={(next) => void show({ event: next, page: undefined })}
          options={named(events)}
        />
      }
    >
      <RunList
        key={`${event} ${page}`}
        event={event}
        page={page}
        onPage={(next) => void show({ page: next })}
      />
    </Section>
  );
}

interface RunListProps {
  event: string;
  page: number;
  onPage: (page: number) => void;
}

function RunList({ event, page, onPage }: RunListProps) {
  const ref = useDeploymentRef();
  const query = usePage(HISTORY, deploymentPath(ref), { page, event });
  const [ticked, setTicked] = useState<readonly number[]>([]);
  const [shown, setShown] = useState<HistoryEntry>();
  const runs = query.data?.data ?? [];
  const isModel = runs.some(({ llm }) => llm !== null);
  const from = runs[Math.min(runs.length, LAST_INPUTS) - 1]?.seq;
  const tick = (seq: number) =>
    setTicked(
      ticked.includes(seq) ? ticked.filter((one) => one !== seq) : [...ticked, seq].slice(-MOST_COMPARED),
    );
  return (
    <>
      <Listing
        query={query}
        what="runs"
        label={`Runs of ${event}`}
        columns={[
          tickColumn(ticked, tick),
          ...COLUMNS,
          actionsColumn<HistoryEntry>(
            (run) => run.llm && <Look onClick={() => setShown(run)} seq={run.seq} />,
          ),
        ]}
        rowKey={({ seq }) => seq}
        empty={<Empty title={`${event} was not executed yet.`} />}
        onPage={onPage}
      />
      {isModel && page === 1 && from !== undefined && (
        <p className="mt-3">
          <ButtonLink
            to="/worlds/$world/deployments/$deployment/what-if"
            params={ref}
            search={{ event, from: Math.max(from, 2) }}
          >
            Try the prompt on the last {Math.min(runs.length, LAST_INPUTS)} inputs
          </ButtonLink>
        </p>
      )}
      {ticked.length > 1 && <Compared runs={runs.filter(({ seq }) => ticked.includes(seq))} />}
      <Dialog
        title={`Entry ${shown?.seq ?? ''}: ${event}`}
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        wide
      >
        {shown && <OneRun id={shown.id} />}
      </Dialog>
    </>
  );
}

const Look = ({ onClick, seq }: { onClick: () => void; seq: number }) => (
  <Button size="small" onClick={onClick} aria-label={`Prompt and answer of entry ${seq}`}>
    Prompt and answer
  </Button>
);

const tickColumn = (ticked: readonly number[], onTick: (seq: number) => void): Column<HistoryEntry> => ({
  header: 'Side by side',
  isUnnamed: true,
  cell: ({ seq }) => (
    <input
      type="checkbox"
      aria-label={`Compare entry ${seq}`}
      className="block size-4 accent-accent"
      checked={ticked.includes(seq)}
      onChange={() => onTick(seq)}
    />
  ),
});

const facts = ({ llm }: HistoryEntry) => exchangeFacts(llm);

const COLUMNS: readonly Column<HistoryEntry>[] = [
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
  { header: 'When', cell: ({ executedAt }) => <Time at={executedAt} relative isPast /> },
  { header: 'Started by', wideOnly: true, cell: ({ trigger }) => trigger },
  {
    header: 'Outcome',
    cell: ({ status, error }) => (
      <Badge tone={status === 'failed' ? 'bad' : 'ok'}>{error?.code ?? status}</Badge>
    ),
  },
  { header: 'Model', wideOnly: true, cell: (run) => facts(run)?.model ?? '–' },
  { header: 'Requests', alignRight: true, cell: (run) => facts(run)?.attempts.length ?? '–' },
  {
    header: 'Tokens',
    alignRight: true,
    wideOnly: true,
    cell: (run) =>
      facts(run) === undefined
        ? '–'
        : `${facts(run)?.inputTokens ?? '–'} + ${facts(run)?.outputTokens ?? '–'}`,
  },
  { header: 'Cost', alignRight: true, cell: (run) => costWords(facts(run)?.usd) },
  {
    header: 'ms',
    alignRight: true,
    wideOnly: true,
    cell: (run) => facts(run)?.latencyMs?.toLocaleString('en') ?? '–',
  },
];

const costWords = (usd: number | undefined): string => (usd === undefined ? '–' : formatUsd(usd));

const Compared = ({ runs }: { runs: readonly HistoryEntry[] }) => (
  <div className="mt-4">
    <SampleTable samples={runs.map(sampleOf)} />
  </div>
);

const sampleOf = ({ seq, stateChanges, result, error, llm }: HistoryEntry): Sample => ({
  name: `Entry ${seq}`,
  stateChanges,
  result,
  llm,
  error: error && { code: error.code, detail: error.detail },
});

/** Lists leave the texts out: the entry itself has them. */
function OneRun({ id }: { id: string }) {
  const path = { ...deploymentPath(useDeploymentRef()), historyId: id };
  return (
    <Await query={useGet(`${HISTORY}/{historyId}`, { path })} what="the entry">
      {({ llm }) => <ExchangeView llm={llm} />}
    </Await>
  );
}
