import { isJsonObject, type JsonValue } from '@orrery/contracts';
import { formatRows } from '../terminal/format-rows.js';
import type { Try } from './try-event.js';

/** Characters of a value that are shown. */
const MAX_CELL = 28;
/** Characters of a line. */
const MAX_LINE = 120;

/** The tries as columns, a line for each value proposed, and what they have in common. */
export function showTries(tries: readonly Try[]): string {
  const valid = tries.filter((one) => one.valid);
  const { event, eventVersion, model } = valid[0] ?? tries[0] ?? {};
  const version = eventVersion === null || eventVersion === undefined ? '' : `, version ${eventVersion}`;
  const title = `${event}${version}, ${model ?? 'no model'}: ${valid.length} of ${tries.length} valid`;
  const proposals = tries.map(valuesOf);
  const names = [...new Set(proposals.flatMap((values) => [...values.keys()]))].sort(byInstance);
  const rows = [
    ...names.map((name) =>
      rowOf(
        name,
        proposals.map((values) => values.get(name)),
      ),
    ),
    rowOf(
      'valid',
      tries.map((one) => (one.valid ? 'yes' : one.error?.code)),
    ),
    ...measures(tries),
  ];
  const reasons = tries.flatMap(({ error }, at) => (error === null ? [] : [`${at + 1}: ${error.detail}`]));
  return [title, ...blocksOf(rows, tries.length), ...(reasons.length === 0 ? [] : [reasons.join('\n')])].join(
    '\n\n',
  );
}

/** Instances one after the other, the result last. */
const byInstance = (one: string, other: string): number =>
  Number(isResult(one)) - Number(isResult(other)) || (one < other ? -1 : 1);
const isResult = (name: string): boolean => /^result( |$)/.test(name);

type Row = Record<string, string | undefined>;

/** One line: what it is, how many tries agree on the most frequent value, and the value of each try. */
function rowOf(proposal: string, values: readonly (string | undefined)[]): Row {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value ?? '', (counts.get(value ?? '') ?? 0) + 1);
  const cells = values.map((value, at) => [String(at + 1), value && cut(value)] as const);
  return { proposal, same: `${Math.max(...counts.values())}/${values.length}`, ...Object.fromEntries(cells) };
}

const cut = (text: string): string => (text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`);

/** What a try proposes: a name for each attribute of each instance, and for each member of the result. */
function valuesOf({ valid, stateChanges, result }: Try): Map<string, string> {
  const values = new Map<string, string>();
  for (const [instance, change] of Object.entries(stateChanges)) {
    if (change === null) values.set(instance, 'deleted');
    for (const [attribute, value] of Object.entries(change ?? {}))
      values.set(`${instance} ${attribute}`, textOf(value));
  }
  if (isJsonObject(result))
    for (const [name, value] of Object.entries(result)) values.set(`result ${name}`, textOf(value));
  else if (valid && result !== null) values.set('result', textOf(result));
  return values;
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What the model cost, where there was one. */
function measures(tries: readonly Try[]): Row[] {
  const measure = (proposal: string, of: (one: Try) => string | null): Row[] => {
    const values = tries.map(of);
    const cells = values.map((text, at) => [String(at + 1), text ?? undefined]);
    return values.every((text) => text === null) ? [] : [{ proposal, ...Object.fromEntries(cells) }];
  };
  const number = (value: number | null) => (value === null ? null : String(value));
  return [
    ...measure('requests', ({ requests }) => number(requests)),
    ...measure('tokens', ({ inputTokens, outputTokens }) =>
      inputTokens === null ? null : `${inputTokens} + ${outputTokens}`,
    ),
    ...measure('US dollars', ({ usd }) => (usd === null ? null : String(Number(usd.toPrecision(3))))),
    ...measure('ms', ({ latencyMs }) => number(latencyMs)),
  ];
}

/** Tables that are no wider than a line, each with as many tries as fit. */
function blocksOf(rows: readonly Row[], tries: number): string[] {
  const widthOf = (column: string) =>
    Math.max(column.length, ...rows.map((row) => (row[column] ?? '').length)) + 2;
  const head = ['proposal', 'same'];
  const blocks: string[][] = [];
  let width = Number.POSITIVE_INFINITY;
  for (const column of Array.from({ length: tries }, (_, at) => String(at + 1))) {
    width += widthOf(column);
    if (width > MAX_LINE) {
      blocks.push([...head]);
      width = head.reduce((sum, name) => sum + widthOf(name), widthOf(column));
    }
    blocks.at(-1)?.push(column);
  }
  return blocks.map((columns) => formatRows(rows, columns));
}
