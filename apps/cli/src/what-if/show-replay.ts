import type {
  EventTally,
  ModelCost,
  ReplayComparison,
  ReplayEstimate,
  ReplayedEntry,
  ReplayRun,
  Spread,
} from '@orrery/sdk';
import { formatRows } from '../terminal/format-rows.js';

const numberText = (value: number): string => value.toLocaleString('en-US');
const dollarText = (usd: number): string => `${Number(usd.toPrecision(3))} US dollars`;

const costText = ({ inputTokens, outputTokens, usd }: ModelCost): string =>
  [`${numberText(inputTokens + outputTokens)} tokens`, ...(usd === null ? [] : [dollarText(usd)])].join(', ');

/** What a replay will take, in one line. */
export function estimateLine(estimate: ReplayEstimate): string {
  const { from, to, runs, executions, writes, cost, withoutEstimate } = estimate;
  const times = runs === 1 ? '' : `, ${runs} times`;
  const what = `Entries ${from} to ${to}${times}: ${executions} executions and ${writes} written instances.`;
  const models =
    cost.executions > 0 ? [`Models decide ${cost.executions}: ${costText(cost)}, as recorded.`] : [];
  const unknown =
    withoutEstimate > 0
      ? [`Models decide ${withoutEstimate} that they did not before: nothing tells what they cost.`]
      : [];
  return [what, ...models, ...unknown].join(' ');
}

/** Both histories side by side; `entries` are the first that end otherwise. */
export function showReplay(comparison: ReplayComparison, entries: readonly ReplayedEntry[]): string {
  const parts = [
    comparison.runs.map(runLine).join('\n'),
    eventTable(comparison),
    entryTable(entries, comparison.runs),
    stateTable(comparison.runs),
    spreadTable(comparison),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function runLine(run: ReplayRun, at: number, { length }: { readonly length: number }): string {
  const which = length === 1 ? '' : `Run ${at + 1}: `;
  const { partsAt, parting, entries, cost, isKept, fork } = run;
  const outcome =
    partsAt === null
      ? `${entries} entries, and all end as recorded.`
      : `the histories part at entry ${partsAt}; ${parting.length} of ${entries} entries end otherwise.`;
  const models = cost.executions === 0 ? '' : ` Models: ${costText(cost)}.`;
  return `${which}${outcome}${models}${isKept ? ` Kept as ${fork}.` : ''}`;
}

const columnsOf = (runs: readonly unknown[]): string[] =>
  runs.length === 1 ? ['replayed'] : runs.map((_, at) => `run ${at + 1}`);

function eventTable({ events, runs }: ReplayComparison): string {
  if (events.length === 0) return '';
  const columns = columnsOf(runs);
  const rows = events.map(({ event, original, runs: tallies }) => ({
    event,
    recorded: tallyText(original),
    ...Object.fromEntries(tallies.map((tally, at) => [columns[at], tallyText(tally)])),
  }));
  return formatRows(rows, ['event', 'recorded', ...columns]);
}

function tallyText({ succeeded, failed, refused, cost }: EventTally): string {
  const counts = { succeeded, failed, refused };
  const texts = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  const usd = cost.usd === null || cost.usd === 0 ? [] : [dollarText(cost.usd)];
  return [...texts, ...usd].join(', ') || '–';
}

/** Characters of a value, and of a reason, that are shown. */
const MAX_CELL = 44;
const MAX_REASON = 200;

const cut = (text: string, most = MAX_CELL): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;
const cell = (value: unknown): string => cut(typeof value === 'string' ? value : JSON.stringify(value));

function entryTable(entries: readonly ReplayedEntry[], runs: readonly ReplayRun[]): string {
  if (entries.length === 0) return '';
  const rows = entries.map((entry) => ({
    entry: entry.seq,
    run: entry.run,
    what: entry.original.event ?? entry.original.kind,
    differs: entry.differences.join(', '),
    recorded: endText(entry.original.error?.code, entry.original.stateChanges),
    replayed: endText(reasonOf(entry)?.code, entry.replayed?.stateChanges ?? {}),
    reason: cut(reasonOf(entry)?.detail ?? '', MAX_REASON),
  }));
  const which = runs.length === 1 ? [] : ['run'];
  const reason = entries.some(reasonOf) ? ['reason'] : [];
  const more = runs.reduce((sum, { parting }) => sum + parting.length, 0) - entries.length;
  const rest = more > 0 ? `\n… and ${more} more` : '';
  return formatRows(rows, ['entry', ...which, 'what', 'differs', 'recorded', 'replayed', ...reason]) + rest;
}

/** Why an entry was refused or failed in the fork; null: it was not. */
export const reasonOf = ({ replayed, error }: ReplayedEntry): ReplayedEntry['error'] =>
  error ?? replayed?.error ?? null;

const endText = (code: string | undefined, stateChanges: object): string => code ?? cell(stateChanges);

function stateTable(runs: readonly ReplayRun[]): string {
  const columns = columnsOf(runs);
  const rows = new Map<string, Record<string, string>>();
  runs.forEach(({ states }, at) => {
    for (const { instance, original, replayed, attributes } of states)
      for (const attribute of attributes) {
        const row = rows.get(`${instance} ${attribute}`) ?? {
          instance,
          attribute,
          recorded: valueText(original, attribute),
        };
        rows.set(`${instance} ${attribute}`, { ...row, [columns[at] ?? '']: valueText(replayed, attribute) });
      }
  });
  if (rows.size === 0) return '';
  const same = [...rows.values()].map((row) => ({
    ...Object.fromEntries(columns.map((one) => [one, '='])),
    ...row,
  }));
  const rest = runs.some(({ isCut }) => isCut) ? '\n… and further instances, which were not compared' : '';
  return formatRows(same, ['instance', 'attribute', 'recorded', ...columns]) + rest;
}

const valueText = (state: Readonly<Record<string, unknown>> | null, attribute: string): string =>
  state === null || !Object.hasOwn(state, attribute) ? '–' : cell(state[attribute]);

/** How the outcomes of models spread, where there is more than one run. */
function spreadTable({ spreads, runs }: ReplayComparison): string {
  if (runs.length === 1 || spreads.length === 0) return '';
  return formatRows(spreads.flatMap(spreadRows), ['entry', 'event', 'times', 'outcome']);
}

const spreadRows = ({ seq, event, outcomes }: Spread) =>
  outcomes.map(({ count, code, stateChanges, result, isOriginal }, at) => ({
    entry: at === 0 ? seq : '',
    event: at === 0 ? event : '',
    times: `${count}${isOriginal ? ' as recorded' : ''}`,
    outcome: code ?? cell(Object.keys(stateChanges).length === 0 ? result : stateChanges),
  }));
