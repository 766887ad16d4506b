import type { JsonValue } from '@orrery/contracts';
import { canonicalText } from './scalars.js';
import type { KeywordCompiler } from './validation.js';
import { type Check, descend, fitsQuietly, report, spendOn, type Validation } from './validation.js';

const count =
  (keyword: string, words: string, holds: (length: number, limit: number) => boolean): KeywordCompiler =>
  ({ [keyword]: limit }) => {
    if (typeof limit !== 'number') return undefined;
    const message = `The list must have ${words} ${limit} elements.`;
    return (value, run) =>
      !Array.isArray(value) || holds(value.length, limit) || report(run, 'wrong_length', message);
  };

/** Writing an element canonically and finding it among the others, its length apart. */
const DISTINCT_COST = 4;

const uniqueItems: KeywordCompiler = ({ uniqueItems: wanted }) => {
  if (wanted !== true) return undefined;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    spendOn(run, value.length * DISTINCT_COST);
    const different = new Set(value.map((item) => canonicalText(item, run)));
    return (
      different.size === value.length ||
      report(run, 'not_unique', 'The elements of the list must be different.')
    );
  };
};

/** `prefixItems` for the first elements, `items` for the rest. */
const items: KeywordCompiler = ({ prefixItems, items: rest }, context) => {
  if (prefixItems === undefined && rest === undefined) return undefined;
  const first = Array.isArray(prefixItems) ? prefixItems.map((item) => context.compile(item, context)) : [];
  const other = rest === undefined ? undefined : context.compile(rest, context);
  return (value, run) => !Array.isArray(value) || checkItems(value, first, other, run);
};

function checkItems(
  list: JsonValue[],
  first: readonly Check[],
  other: Check | undefined,
  run: Validation,
): boolean {
  spendOn(run, other === undefined ? first.length : list.length);
  let ok = true;
  for (const [index, item] of list.entries()) {
    const check = first[index] ?? other;
    if (check === undefined) break;
    if (!descend(run, index, item, check)) ok = false;
    if (!ok && run.problems === null) break;
  }
  return ok;
}

const contains: KeywordCompiler = ({ contains: wanted, minContains = 1, maxContains }, context) => {
  if (wanted === undefined) return undefined;
  const check = context.compile(wanted, context);
  const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
  const message = `The list must have at least ${minContains}${most < Number.POSITIVE_INFINITY ? ` and at most ${most}` : ''} fitting elements.`;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    const found = value.filter((item, index) => fits(run, index, item, check)).length;
    return (found >= Number(minContains) && found <= most) || report(run, 'wrong_length', message);
  };
};

/** Only the elements that fit count as evaluated. */
function fits(run: Validation, index: number, item: JsonValue, check: Check): boolean {
  const { seen } = run;
  run.seen = undefined;
  const ok = fitsQuietly(run, item, check);
  run.seen = seen;
  if (ok) seen?.add(index);
  return ok;
}

export const lists: readonly KeywordCompiler[] = [
  count('minItems', 'at least', (value, limit) => value >= limit),
  count('maxItems', 'at most', (value, limit) => value <= limit),
  uniqueItems,
  items,
  contains,
];
