import { closest, type FieldProblem, fieldProblem, toNfc, writeInstead } from '@orrery/contracts';
import { expressionParser } from '../cel/compile-expression.js';
import { parseOrder } from '../conditions/order.js';
import { type Comparisons, comparable } from '../messages/comparisons.js';
import { quoted } from '../messages/error-text.js';
import { referencesOf } from './template-references.js';

/** A text that names attributes of the instances of one schema. */
export interface AttributeText {
  readonly pointer: string;
  readonly text: string;
  /** A condition over `instance`, or a list as in an order. */
  readonly kind: 'condition' | 'list';
}

/** The attributes of a schema that its instances are searched by. */
export interface SearchedSchema {
  readonly schema: string;
  readonly attributes: readonly string[];
}

/** Names that a list has at most. */
const MAX_NAMES = 8;

/**
 * Attributes that a search names and its schema does not. A state may hold attributes that its schema does not name, so these
 * are warnings: of those in a condition only what is likely misspelt, as in templates; of those in a list each, which does
 * nothing else than name attributes, unless the schema names none at all.
 */
export function findUnknownAttributes(
  texts: readonly AttributeText[],
  { schema, attributes }: SearchedSchema,
  compared: Comparisons,
): FieldProblem[] {
  if (attributes.length === 0) return [];
  return texts.flatMap(({ pointer, text, kind }) =>
    [...new Set(kind === 'condition' ? namedByCondition(text) : namedByList(text))]
      .filter((name) => !attributes.includes(name))
      .flatMap((name) => {
        const meant = closest(name, comparable(attributes, compared));
        if (meant === undefined && kind === 'condition') return [];
        const advice = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        const message = `The entity schema "${schema}" has no attribute "${quoted(name)}".${advice}`;
        return [fieldProblem(pointer, 'unknown_attribute', message, writeInstead(meant))];
      }),
  );
}

const namedByCondition = (text: string): string[] =>
  referencesOf(text, expressionParser()).flatMap(({ root, steps: [name] }) =>
    root === 'instance' && name !== undefined ? [toNfc(name)] : [],
  );

function namedByList(text: string): string[] {
  const parsed = parseOrder(text, MAX_NAMES);
  return parsed.ok
    ? parsed.order.flatMap(({ path }) => (path?.[0] === undefined ? [] : [toNfc(path[0])]))
    : [];
}
