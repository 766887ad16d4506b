import type { AggregateRecord, JsonObject, JsonValue } from '@orrery/contracts';
import { compareInOrder, orderValue, valueAt } from '@orrery/expressions';

/** An attribute as it is asked for, and its path in a state. */
export interface NamedPath {
  readonly name: string;
  readonly path: readonly string[];
}

const MEASURES = ['sum', 'min', 'max', 'avg'] as const;
type Measure = (typeof MEASURES)[number];

export interface Aggregation extends Readonly<Record<Measure, readonly NamedPath[]>> {
  readonly groupBy: readonly NamedPath[];
  readonly count: boolean;
}

/** The attributes of which values are gathered, each once. */
export function measured(aggregation: Aggregation): NamedPath[] {
  const all = MEASURES.flatMap((measure) => aggregation[measure]);
  return [...new Map(all.map((one) => [one.name, one])).values()];
}

/** What was gathered of an attribute in a group. */
export interface Gathered {
  /** Decimal text of the exact sum of its numbers; null: none. */
  readonly sum: string | null;
  readonly numbers: number;
  readonly least: { readonly number: number | null; readonly text: string | null };
  readonly most: { readonly number: number | null; readonly text: string | null };
}

/** A group: the values that its instances share, in the order of `groupBy`, and what was gathered of each attribute. */
export interface Group {
  readonly values: readonly JsonValue[];
  readonly count: number;
  readonly gathered: readonly Gathered[];
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The groups as they are answered, in the order of their values. */
export function answerOf(aggregation: Aggregation, groups: readonly Group[]): AggregateRecord[] {
  const names = measured(aggregation).map(({ name }) => name);
  const order = aggregation.groupBy.map(({ path }) => ({ path, isDescending: false }));
  const keys = new Map(groups.map((group) => [group, group.values.map(orderValue)]));
  const sorted = [...groups].sort((a, b) => compareInOrder(order, keys.get(a) ?? [], keys.get(b) ?? []));
  return sorted.map(({ values, count, gathered }) => {
    const of = (measure: Measure, read: (one: Gathered) => string | number | null) =>
      aggregation[measure].length > 0 && {
        [measure]: Object.fromEntries(
          aggregation[measure].map(({ name }) => {
            const found = gathered[names.indexOf(name)];
            return [name, found === undefined ? null : read(found)];
          }),
        ),
      };
    return {
      group: Object.fromEntries(aggregation.groupBy.map(({ name }, at) => [name, values[at] ?? null])),
      ...(aggregation.count && { count }),
      ...of('sum', ({ sum }) => finite(Number(sum ?? 0))),
      ...of('min', ({ least }) => least.number ?? least.text),
      ...of('max', ({ most }) => most.text ?? most.number),
      ...of('avg', ({ sum, numbers }) => (numbers === 0 ? null : finite(Number(sum) / numbers))),
    } as AggregateRecord;
  });
}

/** Gathers instances one by one, as PostgreSQL gathers them in one statement. */
export function createGathering({ groupBy, ...rest }: Aggregation) {
  const attributes = measured({ groupBy, ...rest });
  const groups = new Map<string, { values: JsonValue[]; count: number; sums: AttributeSum[] }>();
  const groupOf = (values: JsonValue[]) => {
    const key = JSON.stringify(values);
    const found = groups.get(key) ?? { values, count: 0, sums: attributes.map(() => new AttributeSum()) };
    groups.set(key, found);
    return found;
  };
  if (groupBy.length === 0) groupOf([]);
  return {
    add: (state: JsonObject): void => {
      const group = groupOf(groupBy.map(({ path }) => orderValue(valueAt(state, path))));
      group.count += 1;
      for (const [at, { path }] of attributes.entries()) group.sums[at]?.add(valueAt(state, path));
    },
    size: (): number => groups.size,
    groups: (): Group[] =>
      [...groups.values()].map(({ values, count, sums }) => ({ values, count, gathered: sums })),
  };
}

class AttributeSum implements Gathered {
  numbers = 0;
  readonly least: { number: number | null; text: string | null } = { number: null, text: null };
  readonly most: { number: number | null; text: string | null } = { number: null, text: null };
  readonly #sum = new DecimalSum();

  get sum(): string | null {
    return this.numbers === 0 ? null : this.#sum.text();
  }

  add(value: JsonValue | undefined): void {
    if (typeof value === 'string') this.#addText(orderValue(value) as string);
    if (typeof value !== 'number') return;
    this.numbers += 1;
    this.#sum.add(value);
    this.least.number = Math.min(value, this.least.number ?? value);
    this.most.number = Math.max(value, this.most.number ?? value);
  }

  #addText(text: string): void {
    if (this.least.text === null || inOrder(text, this.least.text)) this.least.text = text;
    if (this.most.text === null || inOrder(this.most.text, text)) this.most.text = text;
  }
}

const BY_TEXT = [{ path: [], isDescending: false }];
const inOrder = (a: string, b: string): boolean => compareInOrder(BY_TEXT, [a], [b]) < 0;

/** Adds the decimals that doubles are written as, without rounding: as PostgreSQL adds numbers of jsonb. */
class DecimalSum {
  #digits = 0n;
  /** The sum is `#digits` × 10^`#exponent`. */
  #exponent = 0;

  add(value: number): void {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
    const at = Number(exponent) - fraction.length;
    if (at < this.#exponent) {
      this.#digits *= 10n ** BigInt(this.#exponent - at);
      this.#exponent = at;
    }
    this.#digits += BigInt(`${sign}${whole}${fraction}`) * 10n ** BigInt(at - this.#exponent);
  }

  text(): string {
    return `${this.#digits}e${this.#exponent}`;
  }
}
