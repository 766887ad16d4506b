import {
  type ChangeMode,
  EVALUATOR,
  type Evaluator,
  type FieldProblem,
  findUnsafeJson,
  instanceId as instanceIdRule,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ServiceError,
  spaceAround,
} from '@orrery/contracts';
import {
  type Draws,
  evaluateTemplate,
  isDeletion,
  parseMutation,
  readOperator,
  resolveOperator,
  splitChangeKey,
} from '@orrery/expressions';
import { changeKey, type InstanceName } from '../entries/entry.js';
import { changeNotAllowed, type Proposer } from './check-changes.js';
import type {
  AppliedChange,
  CompiledDefinition,
  CompiledSchema,
  Execution,
  InstanceState,
  InstanceView,
  Needs,
  ReadSet,
  Seen,
} from './execution.js';
import { templateFailed } from './failed-code.js';

/** What a template or a model proposes. It is unchecked, so no commit accepts it. */
export interface Proposal {
  /** A model may change only instances that it was shown, and may delete only where the guards allow it explicitly. */
  readonly from: Proposer;
  readonly changes: readonly ProposedChange[];
  readonly result: JsonObject | null;
}

/** Sorted by UTF-16 code units of `horse:HORSE_1`. */
export const inOrderOfKeys = <T extends InstanceName>(changes: readonly T[]): readonly T[] =>
  changes.length < 2
    ? changes
    : changes.toSorted((one, other) => (changeKey(one) < changeKey(other) ? -1 : 1));

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

/** The proposal of a direct template. @throws `template_failed` with the reason as a fact */
export const decideDirect = (execution: Execution, read: ReadSet, draws?: Draws): Proposal =>
  proposalOf(evaluate(execution, read, draws), 'template', execution.evaluator);

function evaluate(execution: Execution, read: ReadSet, draws: Draws | undefined): JsonValue {
  const {
    definition: { template },
    evaluator,
  } = execution;
  if (template === null) throw new ServiceError('mutation_missing', 'This version has no template.');
  const evaluated = evaluateTemplate(template, templateScope(execution, read), { draws, evaluator });
  if (!evaluated.ok) throw templateFailed(evaluated.problem);
  const unsafe = findUnsafeJson(evaluated.value);
  if (unsafe === undefined) return evaluated.value;
  throw new ServiceError('template_failed', unsafe.message, {
    facts: { pointer: unsafe.pointer, reason: unsafe.message },
  });
}

const NO_HISTORY: readonly JsonObject[] = [];

/** The values of the names in a direct template (docs/templates.md); `unix` is in whole seconds. */
export function templateScope(
  { input, walletAddress, deployment, event, ...execution }: Execution,
  { entities, history }: ReadSet,
): Record<string, JsonValue> {
  const {
    now,
    timestamp,
    address = deployment.address,
  }: Partial<Seen> & Pick<Seen, 'now' | 'timestamp'> = execution.seen ?? execution;
  return {
    input,
    entities,
    history: (history?.entries ?? NO_HISTORY) as JsonValue[],
    walletAddress,
    timestamp,
    date: timestamp.slice(0, 10),
    unix: Math.floor(now / 1000),
    deployment: address,
    event,
    world: deployment.worldAddress,
  };
}

/**
 * The proposal in an evaluated template or in a model's answer. Operators count in templates only: a model's
 * `{ "$increment": 1 }` is a value like any other. Revision 1 of the rules leaves changes in the order in which they were
 * made, later ones sort them: the first that is refused is the failure. @throws `invalid_change_key`, `template_failed`
 */
export function proposalOf(mutation: JsonValue, from: Proposer, evaluator: Evaluator = EVALUATOR): Proposal {
  const parsed = parseMutation(mutation);
  if (!parsed.ok) throw refusalOf(parsed.problems);
  const entries = Object.entries(parsed.mutation.stateChanges);
  const changes = entries.map(([key, change]) => changeOf(key, change, from === 'template'));
  return {
    from,
    changes: evaluator === 1 ? changes : inOrderOfKeys(changes),
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
    facts: code === 'template_failed' ? { pointer, reason: message } : { key: pointer.slice(1) },
  });
}

/** Changes that one execution may make. */
export const MAX_CHANGES = 500;

/**
 * Applies a proposal to copies of the instances that it names. Returns `needs` while one of them is not in memory.
 * @throws `change_too_large`, `change_not_allowed`, `invalid_change_key`, `operator_type_mismatch`
 */
export function applyChanges(
  definition: CompiledDefinition,
  proposal: Proposal,
  view: InstanceView,
): { needs: Needs } | { applied: AppliedChange[] } {
  refuseTooMany(proposal);
  const modes = proposal.changes.map((change) => modeOf(definition, change));
  const absent = proposal.changes.filter(
    (change) => view.get(change.entitySchema, change.instanceId) === undefined,
  );
  if (absent.length > 0) return { needs: { instances: absent.map(nameOf), schemas: [] } };
  refuseTooLarge(proposal, view);
  return {
    applied: proposal.changes.map((change, index) =>
      applyOne(change, modes[index] ?? 'partial', definition.schemaNamed(change.entitySchema), view),
    ),
  };
}

function refuseTooMany({ changes }: Proposal): void {
  if (changes.length > MAX_CHANGES) {
    throw new ServiceError('change_too_large', `One execution changes at most ${MAX_CHANGES} instances.`, {
      facts: { limit: MAX_CHANGES, changes: changes.length },
    });
  }
  const seen = new Set<string>();
  for (const change of changes) {
    const key = changeKey(change);
    if (seen.has(key))
      throw new ServiceError('invalid_change_key', `"${key}" is changed twice.`, { facts: { key } });
    seen.add(key);
  }
}

/** Each attribute of a changed instance is copied, measured and compared, each value inside it measured. */
const MAX_ATTRIBUTES = 100_000;
const MAX_VALUES = 500_000;
/** So few instances of 64 KiB cannot exceed the limits. */
const ALWAYS_FEW = 8;

/** @throws `change_too_large` when the instances to be changed together hold more than the lane has time for */
function refuseTooLarge({ changes }: Proposal, view: InstanceView): void {
  if (changes.length <= ALWAYS_FEW) return;
  const left = { attributes: MAX_ATTRIBUTES, values: MAX_VALUES };
  for (const { entitySchema, instanceId } of changes) {
    const state = view.get(entitySchema, instanceId)?.state;
    if (state === undefined) continue;
    left.attributes -= Object.keys(state).length;
    countValues(state, left);
    if (left.attributes >= 0 && left.values >= 0) continue;
    throw new ServiceError(
      'change_too_large',
      `The instances that one execution changes may have at most ${MAX_ATTRIBUTES} attributes and ${MAX_VALUES} JSON values together.`,
      { facts: { attributes: MAX_ATTRIBUTES, values: MAX_VALUES } },
    );
  }
}

function countValues(value: JsonValue, left: { values: number }): void {
  left.values -= 1;
  if (left.values < 0 || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const element of value) countValues(element, left);
  else for (const key of Object.keys(value)) countValues(value[key] ?? null, left);
}

/** The mode map is a whitelist; without one every schema of the version is `partial`. */
function modeOf({ definition }: CompiledDefinition, change: ProposedChange): ChangeMode {
  const { entitySchema } = change;
  const modes = definition.stateChanges;
  const mode = modes === null ? 'partial' : ownValue(modes, entitySchema);
  if (mode !== undefined && Object.hasOwn(definition.schemas, entitySchema)) return mode;
  throw modes === null
    ? changeNotAllowed('no_schema', change, { known: Object.keys(definition.schemas) })
    : changeNotAllowed('schema', change, { known: Object.keys(modes) });
}

const ownValue = <T>(record: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const nameOf = ({ entitySchema, instanceId }: InstanceName): InstanceName => ({ entitySchema, instanceId });

function applyOne(
  change: ProposedChange,
  mode: ChangeMode,
  schema: CompiledSchema,
  view: InstanceView,
): AppliedChange {
  const before = view.get(change.entitySchema, change.instanceId) ?? null;
  if (before === null) refuseBadId(change);
  const named = new Set(Object.keys(change.values));
  for (const { attribute } of change.operators) named.add(attribute);
  const after = change.remove ? removed(change, before) : changed(change, mode, schema, before);
  const { entitySchema, instanceId } = change;
  return { entitySchema, instanceId, schema, before, after, named };
}

/** The id of an existing instance was checked when it was created. */
function refuseBadId(change: ProposedChange): void {
  if (instanceIdRule.safeParse(change.instanceId).success) return;
  const key = changeKey(change);
  const { instanceId } = change;
  if (instanceId.trim() !== instanceId) throw invalidKey(key, `"${key}": ${spaceAround(instanceId)}`);
  throw invalidKey(
    key,
    `"${key}" holds no valid instanceId. It must have 1–255 characters and no control characters, and it may not be ".", "..", "__proto__", "constructor" or "prototype".`,
  );
}

function removed(change: ProposedChange, before: InstanceState | null): null {
  if (before !== null) return null;
  throw changeNotAllowed('absent', change);
}

/** Operators see the state with its defaults, and have the last word on their attributes. */
function changed(
  change: ProposedChange,
  mode: ChangeMode,
  schema: CompiledSchema,
  before: InstanceState | null,
): JsonObject {
  const current = schema.withDefaults(before?.state ?? {});
  const after = mergeByMode(mode, current, change.values, schema.isRequired);
  for (const { attribute, resolve } of change.operators) {
    const outcome = resolve(ownValue(current, attribute));
    if (outcome === undefined) delete after[attribute];
    else after[attribute] = outcome;
  }
  return schema.withDefaults(after);
}

/** The state after a change by the mode of its schema, before operators and defaults. */
export function mergeByMode(
  mode: ChangeMode,
  before: JsonObject,
  values: JsonObject,
  isRequired: (attribute: string) => boolean,
): JsonObject {
  if (mode === 'full') return { ...values };
  const after = { ...before };
  for (const [attribute, value] of Object.entries(values)) {
    if (value === null && !isRequired(attribute)) delete after[attribute];
    else after[attribute] = mode === 'append' ? appended(before[attribute], value) : value;
  }
  return after;
}

/** Lists grow, objects are merged, a single value is pushed onto a list; anything else is set. */
function appended(before: JsonValue | undefined, value: JsonValue): JsonValue {
  if (Array.isArray(before)) return Array.isArray(value) ? [...before, ...value] : [...before, value];
  if (isJsonObject(before) && isJsonObject(value)) return { ...before, ...value };
  return value;
}
