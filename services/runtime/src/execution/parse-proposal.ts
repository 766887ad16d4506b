import { type FieldProblem, type JsonObject, type JsonValue, ServiceError } from '@orrery/contracts';
import {
  isDeletion,
  parseMutation,
  readOperator,
  resolveOperator,
  splitChangeKey,
} from '@orrery/expressions';
import type { Proposal, ProposedChange, ProposedOperation } from './proposal.js';

/**
 * The proposal in an evaluated template or a model's answer (decisions §4 "Changing"). Operators count in templates
 * only: a model's `{ "$increment": 1 }` is a value like any other. Throws `invalid_change_key` or `template_failed`.
 */
export function proposalOf(mutation: JsonValue, from: 'template' | 'model'): Proposal {
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
  const name = splitChangeKey(key.normalize('NFC'));
  if (name === undefined) throw invalidKey(key, `"${key}" is not "<schema>:<instanceId>"`);
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
  const { pointer = '', message = 'the mutation is not valid' } = first ?? {};
  return new ServiceError(code, `${pointer}: ${message}`, {
    errors: problems,
    facts:
      code === 'template_failed' ? { placeholder: '', pointer, reason: message } : { key: pointer.slice(1) },
  });
}
