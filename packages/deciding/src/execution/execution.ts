import {
  type Caller,
  type ContentLimits,
  type Evaluator,
  type ExecutionTrigger,
  type FieldProblem,
  type JsonObject,
  type JsonValue,
  type Recorded,
  type SchemaDefinition,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import {
  applyDefaults,
  type CompiledTemplate,
  checkAgainst,
  checkState,
  compileContract,
  compileEntitySchema,
  compileTemplate,
  DIRECT_TEMPLATE_NAMES,
  type PatternWork,
} from '@orrery/expressions';
import type { CheckedChanges, InstanceName } from '../entries/entry.js';
import type { RandomSource } from '../randomness/seed.js';
import { type CompiledFollowUp, compileFollowUps, type PlannedFollowUp } from './follow-ups.js';
import type { HistorySearch, Recalled, ReplayedEntry } from './read-history.js';

/** Whether messages repeat the values found: of a model's answer they do not (docs/ai.md). */
export interface Told {
  readonly showsValues: boolean;
  /** The revision of the rules; absent: the present one. */
  readonly evaluator?: Evaluator;
}

/** An entity schema that completes and checks states. */
export interface CompiledSchema {
  readonly definition: SchemaDefinition;
  isRequired(attribute: string): boolean;
  /** Fills in the defaults of absent attributes; the state itself where none is missing. */
  withDefaults(state: JsonObject): JsonObject;
  /** The rules that the state breaks; pointers are into the state. Patterns are charged to `patterns`. */
  problemsOf(state: JsonObject, patterns: PatternWork, told: Told): FieldProblem[];
}

export function compileSchema(definition: SchemaDefinition): CompiledSchema {
  const compiled = compileEntitySchema(definition.attributes);
  const required = new Set(compiled.attributes.filter(({ required }) => required).map(({ name }) => name));
  return {
    definition,
    isRequired: (attribute) => required.has(attribute),
    withDefaults: (state) => applyDefaults(compiled, state),
    problemsOf: (state, patterns, told) => checkState(compiled, state, patterns, told),
  };
}

/** A version ready to execute. Executions do not change it, so it is reused as long as `definition.hash` is the same. */
export interface CompiledDefinition {
  readonly definition: VersionDefinition;
  /** What decides the mutation; `none`: the version can be saved and bound, and not executed. */
  readonly mutation: 'direct' | 'ai' | 'none';
  readonly template: CompiledTemplate | null;
  readonly followUps: readonly CompiledFollowUp[];
  /** Whether an execution may draw random numbers. */
  readonly draws: boolean;
  /** Whether it draws from a round of the public beacon. */
  readonly drawsFromBeacon: boolean;
  problemsOfInput(input: JsonObject, told?: Told): FieldProblem[];
  problemsOfResult(result: JsonObject | null, told: Told): FieldProblem[];
  /** A schema of the version. @throws `unknown_entity_schema` */
  schemaNamed(name: string): CompiledSchema;
}

/** Whether an execution waits for a round of the beacon. What is replayed draws what was drawn then. */
export const waitsForBeacon = (
  { drawsFromBeacon }: CompiledDefinition,
  replay: object | undefined,
): boolean => drawsFromBeacon && replay === undefined;

const compiledSchemas = new WeakMap<SchemaDefinition, CompiledSchema>();

/** At its first use: a version without a mode map has all schemas of its world, in common with others. */
function compiledOnce(definition: SchemaDefinition): CompiledSchema {
  const compiled = compiledSchemas.get(definition) ?? compileSchema(definition);
  compiledSchemas.set(definition, compiled);
  return compiled;
}

/** @throws `invalid_template`, `validation_failed` for a definition that no catalog would have saved */
export function compileDefinition(definition: VersionDefinition): CompiledDefinition {
  const problemsOfResult = contractCheck(definition.outputSchema, 'outputSchema');
  const template = templateOf(definition);
  const followUps = compileFollowUps(definition.followUps);
  const draws = template?.draws === true || followUps.some((followUp) => followUp.draws);
  return {
    definition,
    mutation: mutationOf(definition),
    template,
    followUps,
    draws,
    drawsFromBeacon: draws && definition.executionSettings?.randomness === 'drand',
    problemsOfInput: contractCheck(definition.inputSchema, 'inputSchema'),
    problemsOfResult: (result, told) => problemsOfResult(result ?? {}, told),
    schemaNamed: (name) => {
      const schema = Object.hasOwn(definition.schemas, name) ? definition.schemas[name] : undefined;
      if (schema !== undefined) return compiledOnce(schema);
      throw new ServiceError('unknown_entity_schema', `There is no entity schema "${name}".`);
    },
  };
}

/** Without settings a version with a prompt is decided by a model. */
function mutationOf({ mutationSettings, behaviorPrompt }: VersionDefinition): CompiledDefinition['mutation'] {
  if (mutationSettings !== null) return mutationSettings.mode;
  return behaviorPrompt === null ? 'none' : 'ai';
}

function templateOf({ mutationSettings }: VersionDefinition): CompiledTemplate | null {
  if (mutationSettings?.mode !== 'direct') return null;
  const compiled = compileTemplate(mutationSettings.template ?? {}, {
    names: DIRECT_TEMPLATE_NAMES,
    mutation: true,
    random: true,
  });
  if (compiled.ok) return compiled.template;
  throw new ServiceError('invalid_template', compiled.problems[0]?.message, { errors: compiled.problems });
}

function contractCheck(
  schema: JsonObject | null,
  what: string,
): (value: JsonValue, told?: Told) => FieldProblem[] {
  if (schema === null) return () => [];
  const compiled = compileContract(schema);
  if (compiled.ok) return (value, told) => checkAgainst(compiled.contract, value, told);
  throw new ServiceError('validation_failed', `The ${what} cannot be used.`, { errors: compiled.problems });
}

/** An instance in the state that the previous item in its deployment's lane left. Never changed in place. */
export interface InstanceState {
  readonly state: JsonObject;
  readonly revision: number;
}

/** One execution reads at most this many instances, including absent ones that it names. */
export const MAX_READ = 500;

/** Those instances of the deployment that are in memory. */
export interface InstanceView {
  /** `undefined`: not in memory yet; `null`: known to be absent. */
  get(entitySchema: string, instanceId: string): InstanceState | null | undefined;
  /** All instances of a schema by instanceId; `undefined` unless memory is known to hold all of them. */
  all(entitySchema: string): ReadonlyMap<string, InstanceState> | undefined;
  /** Whether the schema is known to have more than `most` instances. */
  tooMany(entitySchema: string, most: number): boolean;
  /** Whether the instances of these schemas are known to have, together, more bytes than one execution brings into memory. */
  isTooLarge(entitySchemas: readonly string[]): boolean;
  readonly recent: HistoryView;
}

/** Those entries of the deployment's journal that are in memory. */
export interface HistoryView {
  /** What the search finds, newest first, each as `memoryOf` makes it; `undefined`: not in memory yet. */
  find(search: HistorySearch): readonly JsonObject[] | undefined;
}

/** What has to be loaded into memory before a decision is possible. */
export interface Needs {
  instances: InstanceName[];
  schemas: string[];
  /** Schemas of which all instances are searched. */
  searched?: string[];
  /** Of the journal. */
  history?: HistorySearch;
}

/** What was read: the states that templates and prompts see, with defaults, and their revisions. */
export interface ReadSet {
  /** Schema → instanceId → state; every schema that the version reads is there. */
  entities: JsonObject;
  /** Revision 0: selected and absent. */
  reads: (InstanceName & { revision: number })[];
  /** Schemas read without a filter, and those that were searched. */
  wholeSchemas: string[];
  /** What searches went through, of which `reads` has what they found. */
  searched?: (InstanceName & { revision: number })[];
  /** What is remembered; absent where the version has no `readHistory`. */
  history?: Recalled;
}

/** An instance before and after what was proposed: merged and completed, not yet checked. */
export interface AppliedChange extends InstanceName {
  schema: CompiledSchema;
  before: InstanceState | null;
  /** Null: removed. */
  after: JsonObject | null;
  /** Attributes that the proposal names. */
  named: ReadonlySet<string>;
}

/** What an execution or a manual write may hold. */
export type ExecutionLimits = Pick<ContentLimits, 'inputBytes' | 'stateBytes' | 'entryBytes'>;

/** One execution of an event, with everything that its decision depends on except the instances. */
export interface Execution {
  /** The revision of the rules by which it is decided. */
  readonly evaluator: Evaluator;
  readonly definition: CompiledDefinition;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  /** How many instances the deployment has before the execution, and how many it may have. */
  readonly instanceCount: { readonly before: number; readonly limit: number };
  readonly limits: ExecutionLimits;
  readonly event: string;
  readonly input: JsonObject;
  readonly caller: Caller;
  readonly trigger: ExecutionTrigger;
  /** The wallet that signed the request; null outside `/app`. */
  readonly walletAddress: string | null;
  /** Milliseconds since the epoch: the only time that templates see. */
  readonly now: number;
  /** `now` by RFC 3339: the text of a date costs microseconds, so it is made once. */
  readonly timestamp: string;
  /** What its entry says of the request, whatever is decided: what set it. */
  readonly recorded?: Recorded;
  /** Of an entry that is replayed: what templates see in place of `now` and the deployment's address. */
  readonly seen?: Seen | undefined;
  /** Asked for where it draws random numbers; who decides a version that draws gives one. */
  readonly randomness?: RandomSource | undefined;
}

/** The time and the place of an execution, as templates see them. */
export interface Seen extends Pick<Execution, 'now' | 'timestamp'> {
  readonly address: string;
  /** Absent where the request was stored by the release before. */
  readonly replays?: ReplayedEntry | undefined;
}

/** What an execution may commit: checked, and not yet committed. */
export interface Success {
  readonly changes: CheckedChanges;
  readonly result: JsonObject | null;
  readonly reads: ReadSet['reads'];
  /** Schemas read without a filter: all their instances were read. */
  readonly wholeSchemas: readonly string[];
  /** What its entry says of the decision. */
  readonly recorded?: Recorded | undefined;
  /** What it sets and cancels; absent where the version has no follow-ups. */
  readonly followUps?: readonly PlannedFollowUp[];
}

/** The outcome of deciding an execution. */
export type Decision =
  /** Something is not in memory: load it and decide again. */
  | ({ readonly kind: 'needs' } & Needs)
  /** Refused before *read*: the caller gets the error, the journal gets no entry. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** Failed from *read* on: the journal gets a failed entry with this reason. */
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly recorded?: Recorded }
  | ({ readonly kind: 'succeeded' } & Success);
