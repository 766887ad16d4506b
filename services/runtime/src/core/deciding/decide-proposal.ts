import {
  type FieldProblem,
  findUnsafeJson,
  type JsonObject,
  type JsonValue,
  ServiceError,
} from '@orrery/contracts';
import {
  evaluateTemplate,
  failureDetail,
  isDeletion,
  parseMutation,
  readOperator,
  resolveOperator,
  splitChangeKey,
} from '@orrery/expressions';
import type { InstanceName } from '../entries/entry.js';
import type { Execution, ReadSet } from './execution.js';

/** What a template or a model proposes. It is unchecked, so no commit accepts it. */
export interface Proposal {
  /** A model may change only instances that it was shown, and may delete only where the guards allow it explicitly. */
  readonly from: 'template' | 'model';
  readonly changes: readonly ProposedChange[];
  readonly result: JsonObject | null;
}

/** What a proposal does to one instance. */
export interface ProposedChange extends InstanceName {
  /** `$delete` in place of attributes. */
  readonly remove: boolean;
  /** Values that the mode of the schema merges. */
  readonly values: JsonObject;
  /** Operators, resolved against the current state; their outcome is set in every mode. */
  readonly operators: readonly ProposedOperation[];
}

interface ProposedOperation {
  readonly attribute: string;
  /** The outcome for the attribute's current value; `undefined` removes the attribute. @throws ServiceError */
  resolve(current: JsonValue | undefined): JsonValue | undefined;
}

/** The proposal of a direct template. @throws `template_failed` with the placeholder and the reason as facts */
export const decideDirect = (execution: Execution, read: ReadSet): Proposal =>
  proposalOf(evaluate(execution, read), 'template');

function evaluate(execution: Execution, read: ReadSet): JsonValue {
  const { template } = execution.definition;
  if (template === null) throw new ServiceError('mutation_missing', 'This version has no template.');
  const evaluated = evaluateTemplate(template, templateScope(execution, read));
  if (!evaluated.ok) {
    const { placeholder, pointer, reason } = evaluated.problem;
    throw templateFailed(failureDetail(evaluated.problem), { placeholder, pointer, reason });
  }
  const unsafe = findUnsafeJson(evaluated.value);
  if (unsafe === undefined) return evaluated.value;
  throw templateFailed(unsafe.message, { placeholder: '', pointer: unsafe.pointer, reason: unsafe.message });
}

const templateFailed = (detail: string, facts: { placeholder: string; pointer: string; reason: string }) =>
  new ServiceError('template_failed', detail, { facts });

/** The values of the names in a direct template (docs/templates.md); `unix` is in whole seconds. */
function templateScope(
  { input, walletAddress, now, timestamp, deployment, event }: Execution,
  { entities }: ReadSet,
): Record<string, JsonValue> {
  return {
    input,
    entities,
    walletAddress,
    timestamp,
    date: timestamp.slice(0, 10),
    unix: Math.floor(now / 1000),
    deployment: deployment.address,
    event,
    world: deployment.worldAddress,
  };
}

/**
 * The proposal in an evaluated template or in a model's answer. Operators count in templates only: a model's
 * `{ "$increment": 1 }` is a value like any other. @throws `invalid_change_key`, `template_failed`
 */
export function proposalOf(mutation: JsonValue, from: Proposal['from']): Proposal {
  const parsed = parseMutation(mutation);
  if (!parsed.ok) throw refusalOf(parsed.problems);
  const changes = Object.entries(parsed.mutation.stateChanges);
  return {
    from,
    changes: changes.map(([key, change]) => changeOf(key, change, from === 'template')),
    result: parsed.mutation.result,
  };
}

function changeOf(key: string, change: JsonObject, withOperators: boolean): ProposedChange {
  const name = splitChangeKey(key);
  if (name === undefined) throw invalidKey(key, `"${key}" is not "<schema>:<instanceId>".`);
  const { schema: entitySchema, instanceId } = name;
  if (isDeletion(change)) return { entitySchema, instanceId, remove: true, values: {}, operators: [] };
  if (!withOperators) return { entitySchema, instanceId, remove: false, values: change, operators: [] };
  const { values, operators } = splitOperators(change);
  return { entitySchema, instanceId, remove: false, values, operators };
}

function splitOperators(change: JsonObject): Pick<ProposedChange, 'values' | 'operators'> {
  const values: JsonObject = {};
  const operators: ProposedOperation[] = [];
  for (const [attribute, value] of Object.entries(change)) {
    const operator = readOperator(value);
    if (operator === undefined) values[attribute] = value;
    else operators.push({ attribute, resolve: (current) => resolve(attribute, current, operator) });
  }
  return { values, operators };
}

function resolve(
  attribute: string,
  current: JsonValue | undefined,
  operator: Parameters<typeof resolveOperator>[1],
): JsonValue | undefined {
  const outcome = resolveOperator(current, operator);
  if (outcome.ok) return outcome.kind === 'set' ? outcome.value : undefined;
  throw new ServiceError(outcome.code, `${attribute}: ${outcome.message}`, {
    facts: { attribute, operator: operator.name },
  });
}

export const invalidKey = (key: string, detail: string): ServiceError =>
  new ServiceError('invalid_change_key', detail, { facts: { key } });

function refusalOf(problems: readonly FieldProblem[]): ServiceError {
  const [first] = problems;
  const code = first?.code === 'invalid_change_key' ? 'invalid_change_key' : 'template_failed';
  const { pointer = '', message = 'The mutation is not valid.' } = first ?? {};
  return new ServiceError(code, `${pointer}: ${message}`, {
    errors: problems,
    facts:
      code === 'template_failed' ? { placeholder: '', pointer, reason: message } : { key: pointer.slice(1) },
  });
}
