import type { ChangeMode, JsonObject, JsonValue } from '@orrery/contracts';

/** A value for each attribute that fits whatever its constraints are. */
export const FITTING: Readonly<Record<string, JsonValue>> = { n: 1, f: 0.5, s: 'a', b: true, j: [] };

/** A random world, as data that both the service and the model are given. */
export interface WorldPlan {
  schemas: SchemaPlan[];
  /** By event: its versions, in order. */
  events: Record<string, VersionPlan[]>;
}

export interface SchemaPlan {
  name: string;
  attributes: AttributePlan[];
}

export interface AttributePlan {
  name: string;
  type: 'integer' | 'float' | 'string' | 'boolean' | 'json';
  constraints: { min?: number; max?: number; enum?: string[]; pattern?: string; required?: boolean };
  defaultValue: JsonValue;
}

/** A value in a template: the model computes it from this, the service from the text that `templateOf` writes. */
export type Term =
  | { kind: 'literal'; value: JsonValue }
  | { kind: 'input'; name: string }
  | { kind: 'read'; schema: string; attribute: string; plusN: boolean }
  | { kind: 'count'; schema: string };

export const OPERATORS = ['set', '$set', '$increment', '$append', '$merge', '$unset'] as const;

export interface AttributeChange {
  operator: (typeof OPERATORS)[number];
  term: Term;
}

export interface ChangePlan {
  schema: string;
  /** `@id` and `@other` are read from the input. */
  id: string;
  remove: boolean;
  attributes: Record<string, AttributeChange>;
}

export interface VersionPlan {
  /** With a contract undeclared input is refused. */
  strictInput: boolean;
  reads: { schema: string; filter?: string[] }[];
  modes: Record<string, ChangeMode> | null;
  changes: ChangePlan[];
  result: Term | null;
  resultType: 'number' | 'string' | null;
  guards: { maxInstances?: number; create?: boolean; delete?: boolean };
}

/** The contract of a strict version. */
export const INPUT_TYPES = {
  id: 'string',
  other: 'string?',
  n: 'number?',
  s: 'string?',
  ids: 'string[]?',
} as const;

/** A version as the API takes it, every field named, so that it also replaces another. */
export const versionBody = (plan: VersionPlan): JsonObject => ({
  inputSchema: plan.strictInput ? { ...INPUT_TYPES } : null,
  outputSchema: plan.resultType === null ? null : { value: plan.resultType },
  readEntities: plan.reads.map((read) => ({ ...read })),
  stateChanges: plan.modes,
  guards: { ...plan.guards },
  mutationSettings: { mode: 'direct', template: templateOf(plan) },
});

export const schemaBody = ({ name, attributes }: SchemaPlan): JsonObject => ({
  name,
  attributes: attributes.map((attribute) => ({ ...attribute, constraints: { ...attribute.constraints } })),
});

/**
 * What fails in every execution is refused when the version is saved. It is written here so that only an execution can
 * tell: with a computed schema where `reads` or `modes` does not name it, and with values that may not fit as placeholders.
 */
function templateOf({ changes, result, resultType, reads, modes }: VersionPlan): JsonObject {
  const read = new Set(reads.map(({ schema }) => schema));
  const stateChanges = Object.fromEntries(
    changes.map(({ schema, id, remove, attributes }) => {
      const named = modes === null || modes[schema] !== undefined ? schema : `{{ "${schema}" }}`;
      const key = `${named}:${id.startsWith('@') ? `{{ input.${id.slice(1)} }}` : id}`;
      return [key, remove ? { $delete: true } : attributesOf(attributes, read)];
    }),
  );
  if (resultType !== null) return { stateChanges, result: computedResult(result, read) };
  return { stateChanges, ...(result !== null && { result: { value: textOf(result, read) } }) };
}

function computedResult(result: Term | null, read: ReadonlySet<string>): JsonValue {
  if (result === null) return '{{ null }}';
  return { value: result.kind === 'literal' ? literalText(result.value) : textOf(result, read) };
}

const literalText = (value: JsonValue): string => `{{ ${JSON.stringify(value)} }}`;

const attributesOf = (attributes: ChangePlan['attributes'], read: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { operator, term }]) => {
      if (operator === '$unset') return [name, { [operator]: true }];
      const isSafe = term.kind !== 'literal' || fitsAlways(name, operator, term.value);
      const value = isSafe ? textOf(term, read) : literalText(term.value);
      return [name, operator === 'set' ? value : { [operator]: value }];
    }),
  );

/** Whether an operator takes the value, whatever the attribute's type and constraints are. */
function fitsAlways(name: string, operator: AttributeChange['operator'], value: JsonValue): boolean {
  if (operator === '$increment' || operator === '$merge') return false;
  return value === null || FITTING[name] === undefined || name === 'j' || FITTING[name] === value;
}

function textOf(term: Term, read: ReadonlySet<string>): JsonValue {
  switch (term.kind) {
    case 'literal':
      return term.value;
    case 'input':
      return `{{ input.${term.name} }}`;
    case 'count':
      return `{{ size(${entitiesOf(term.schema, read)}) }}`;
    case 'read':
      return `{{ ${entitiesOf(term.schema, read)}[input.id].${term.attribute}${term.plusN ? ' + input.n' : ''} }}`;
  }
}

const entitiesOf = (schema: string, read: ReadonlySet<string>): string =>
  read.has(schema) ? `entities.${schema}` : `entities["" + "${schema}"]`;
