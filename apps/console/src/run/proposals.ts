import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';
import { formatUsd } from '../ui/typed-text.js';
import { exchangeFacts } from './exchange-facts.js';

/** One outcome of an event, to be seen beside others. */
export interface Sample {
  /** `1`, or `Entry 7`. */
  readonly name: string;
  readonly stateChanges: Readonly<Record<string, JsonObject | null>>;
  readonly result: unknown;
  /** Why there is no proposal; null where there is one. */
  readonly error: { readonly code: string; readonly detail: string } | null;
  readonly llm: JsonObject | null;
}

/** One line of samples side by side. */
export interface SampleRow {
  /** `wins of horse:H1`, `result headline`, `Cost`. */
  readonly what: string;
  /** One for each sample; undefined: it says nothing of it. */
  readonly values: readonly (string | undefined)[];
  /** How many have the most frequent value; undefined of a measure. */
  readonly same?: number;
}

/** What samples propose, value by value, instances first, then the result, the outcome and what it cost. */
export function sampleRows(samples: readonly Sample[]): SampleRow[] {
  const proposals = samples.map(valuesOf);
  const names = [...new Set(proposals.flatMap((values) => [...values.keys()]))].sort(byInstance);
  const rows = names.map((what) =>
    counted(
      what,
      proposals.map((values) => values.get(what)),
    ),
  );
  const outcomes = counted(
    'outcome',
    samples.map(({ error }) => error?.code ?? 'valid'),
  );
  return [...rows, outcomes, ...measures(samples)];
}

const byInstance = (a: string, b: string): number =>
  Number(isResult(a)) - Number(isResult(b)) || (a < b ? -1 : 1);
const isResult = (name: string): boolean => /^result( |$)/.test(name);

function counted(what: string, values: readonly (string | undefined)[]): SampleRow {
  const counts = new Map<string | undefined, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return { what, values, same: Math.max(...counts.values()) };
}

function valuesOf({ stateChanges, result, error }: Sample): Map<string, string> {
  const values = new Map<string, string>();
  for (const [instance, change] of Object.entries(stateChanges)) {
    if (change === null) values.set(instance, 'deleted');
    for (const [attribute, value] of Object.entries(change ?? {}))
      values.set(`${instance} ${attribute}`, textOf(value));
  }
  if (isObject(result))
    for (const [name, value] of Object.entries(result)) values.set(`result ${name}`, textOf(value));
  else if (error === null && result !== null) values.set('result', textOf(result));
  return values;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What the models cost, where there were any. */
function measures(samples: readonly Sample[]): SampleRow[] {
  const facts = samples.map(({ llm }) => exchangeFacts(llm));
  const number = (value: number | undefined) => value?.toLocaleString('en');
  const rows: SampleRow[] = [
    { what: 'requests', values: facts.map((one) => number(one?.attempts.length)) },
    { what: 'prompt tokens', values: facts.map((one) => number(one?.inputTokens)) },
    { what: 'answer tokens', values: facts.map((one) => number(one?.outputTokens)) },
    { what: 'cost', values: facts.map((one) => (one?.usd === undefined ? undefined : formatUsd(one.usd))) },
    { what: 'ms', values: facts.map((one) => number(one?.latencyMs)) },
  ];
  return rows.filter(({ values }) => values.some((value) => value !== undefined));
}
