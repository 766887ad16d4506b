import {
  asServiceError,
  type ErrorCode,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  type ReadEntity,
  ServiceError,
} from '@orrery/contracts';
import { type PathWork, pathWork, readPath } from '@orrery/expressions';
import { applyChanges, decideDirect, type Proposal, proposalOf, templateScope } from './apply-proposal.js';
import {
  checkEntrySize,
  checkGuards,
  checkInstanceCount,
  checkResult,
  checkStates,
  jsonBytes,
  refuseUnloaded,
} from './check-changes.js';
import {
  type CompiledDefinition,
  type Decision,
  type Execution,
  type InstanceState,
  type InstanceView,
  MAX_READ,
  type Needs,
  type ReadSet,
} from './execution.js';
import { planFollowUps } from './follow-ups.js';
import { historySearch, recall } from './read-history.js';
import {
  compileSearch,
  type EntitySearch,
  MAX_SEARCHED,
  searchEntities,
  searchWork,
  tooManySearched,
} from './search-entities.js';

/** InstanceIds that the input selects, or all instances of a schema. */
type Selected = ReadonlySet<string> | 'all';

/** What an execution reads. */
interface Selection {
  /** By schema what is read as it is selected. */
  readonly direct: ReadonlyMap<string, Selected>;
  /** What is searched, and of what is found is read. */
  readonly searches: readonly (EntitySearch & { readonly schema: string; readonly among: Selected })[];
  readonly input: JsonObject;
}

/** Several entries for one schema select together; one without a filter selects all (docs/execution.md, "Read"). */
export function selectEntities(readEntities: readonly ReadEntity[], input: JsonObject): Selection {
  const direct = new Map<string, Selected>();
  const searches: Selection['searches'][number][] = [];
  const work = pathWork();
  for (const entity of readEntities) {
    const { schema, filter } = entity;
    const selected = filter === undefined ? 'all' : selectInstances(filter, input, work);
    const search = searchOf(entity);
    if (search !== undefined) searches.push({ ...search, schema, among: selected });
    else direct.set(schema, both(direct.get(schema) ?? NONE, selected));
  }
  return { direct, searches, input };
}

const NONE: ReadonlySet<string> = new Set();

const both = (one: Selected, other: Selected): Selected =>
  one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);

const compiledSearches = new WeakMap<ReadEntity, EntitySearch | undefined>();

/** Compiled once for each item of a definition, which is used again as long as its hash is the same. */
function searchOf(entity: ReadEntity): EntitySearch | undefined {
  if (!compiledSearches.has(entity)) compiledSearches.set(entity, compileSearch(entity));
  return compiledSearches.get(entity);
}

/**
 * The instanceIds that a filter names in the input, each once, in the order of its paths. An absent or null value
 * selects nothing. @throws `invalid_input` for a value that names no instance, such as an object
 */
function selectInstances(filter: readonly string[], input: JsonObject, work: PathWork): Set<string> {
  const selected = new Set<string>();
  for (const path of filter) for (const id of idsAt(path, input, work)) selected.add(id);
  return selected;
}

function idsAt(path: string, input: JsonObject, work: PathWork): string[] {
  const found = readPath(input, path, work);
  if (found.ok) return found.ids;
  throw new ServiceError('invalid_input', found.problem.message, { errors: [inRequest(found.problem)] });
}

/** A problem of the input, with its path in the body of the request: `/input/amount`. */
const inRequest = (problem: FieldProblem): FieldProblem => ({
  ...problem,
  pointer: `/input${problem.pointer}`,
});

/** Returns `needs` while something selected is not in memory. @throws `read_set_too_large` */
export function readEntities(
  definition: CompiledDefinition,
  selection: Selection,
  view: InstanceView,
): { needs: Needs } | { read: ReadSet } {
  refuseTooMany(selection, view);
  const needs = missingFrom(selection, view);
  if (needs !== undefined) return { needs };
  const read: ReadSet = { entities: emptyRecord(), reads: [], wholeSchemas: [] };
  const selected = new Map(selection.direct);
  for (const [schema, found] of searchAll(definition, selection, view, read))
    selected.set(schema, both(selected.get(schema) ?? NONE, found));
  refuseTooMany({ ...selection, direct: selected }, view);
  for (const [schema, ids] of selected) addSchema(definition, schema, ids, view, read);
  return { read };
}

/** What each search finds. What it went through is part of what the decision is made on. */
function searchAll(
  definition: CompiledDefinition,
  { searches, input }: Selection,
  view: InstanceView,
  read: ReadSet,
): [schema: string, found: ReadonlySet<string>][] {
  if (searches.length === 0) return [];
  const work = searchWork();
  return searches.map(({ schema: entitySchema, among, ...search }) => {
    const schema = definition.schemaNamed(entitySchema);
    const candidates = [...instancesOf(entitySchema, among, view)].flatMap(([instanceId, found]) =>
      found ? [{ instanceId, found, state: schema.withDefaults(found.state) }] : [],
    );
    if (candidates.length > MAX_SEARCHED) throw tooManySearched();
    if (!read.wholeSchemas.includes(entitySchema)) read.wholeSchemas.push(entitySchema);
    read.searched = [
      ...(read.searched ?? []),
      ...candidates.map(({ instanceId, found: { revision } }) => ({ entitySchema, instanceId, revision })),
    ];
    const found = searchEntities(search, candidates, input, work);
    return [entitySchema, new Set(found.map(({ instanceId }) => instanceId))];
  });
}

function refuseTooMany({ direct, searches }: Selection, view: InstanceView): void {
  if (searches.some(({ schema, among }) => among === 'all' && view.tooMany(schema, MAX_SEARCHED)))
    throw tooManySearched();
  let count = 0;
  for (const [schema, selected] of direct) {
    if (selected === 'all' && view.tooMany(schema, MAX_READ)) throw tooLarge();
    count += selected === 'all' ? (view.all(schema)?.size ?? 0) : selected.size;
  }
  if (count > MAX_READ) throw tooLarge();
}

const tooLarge = () =>
  new ServiceError(
    'read_set_too_large',
    `One execution reads at most ${MAX_READ} instances. Narrow the filter.`,
    {
      facts: { limit: MAX_READ },
    },
  );

function missingFrom(selection: Selection, view: InstanceView): Needs | undefined {
  const needs: Needs = { instances: [], schemas: [] };
  const sought: string[] = [];
  const searched = selection.searches.map(({ schema, among }) => [schema, among, sought] as const);
  const direct = [...selection.direct].map(([schema, among]) => [schema, among, needs.schemas] as const);
  for (const [entitySchema, selected, whole] of [...direct, ...searched]) {
    if (selected === 'all') {
      if (view.all(entitySchema) === undefined) whole.push(entitySchema);
      continue;
    }
    for (const instanceId of selected) {
      if (view.get(entitySchema, instanceId) === undefined)
        needs.instances.push({ entitySchema, instanceId });
    }
  }
  if (sought.length > 0) needs.searched = sought;
  return needs.instances.length + needs.schemas.length + sought.length > 0 ? needs : undefined;
}

function addSchema(
  definition: CompiledDefinition,
  entitySchema: string,
  selected: ReadonlySet<string> | 'all',
  view: InstanceView,
  read: ReadSet,
): void {
  const loaded = emptyRecord();
  const schema = definition.schemaNamed(entitySchema);
  if (selected === 'all' && !read.wholeSchemas.includes(entitySchema)) read.wholeSchemas.push(entitySchema);
  for (const [instanceId, found] of instancesOf(entitySchema, selected, view)) {
    read.reads.push({ entitySchema, instanceId, revision: found?.revision ?? 0 });
    if (found) loaded[instanceId] = schema.withDefaults(found.state);
  }
  read.entities[entitySchema] = loaded;
}

function* instancesOf(
  entitySchema: string,
  selected: ReadonlySet<string> | 'all',
  view: InstanceView,
): Iterable<[string, InstanceState | null | undefined]> {
  if (selected === 'all') yield* view.all(entitySchema) ?? [];
  else for (const instanceId of selected) yield [instanceId, view.get(entitySchema, instanceId)];
}

/** Without a prototype, so that an instanceId such as `constructor` is a key like any other. */
const emptyRecord = (): JsonObject => Object.create(null) as JsonObject;

/**
 * Decides one execution as a pure function of its arguments: read → decide → apply → check. The fifth step, commit,
 * belongs to the lane (docs/execution.md). An execution that a decider decides outside the lane uses `readForExecution`
 * before the decider is called and `applyMutation` after it. Never throws.
 */
export function decideExecution(execution: Execution, instances: InstanceView): Decision {
  const found = readForExecution(execution, instances);
  if (found.kind !== 'read') return found;
  const recalled = recallFor(execution, found.read, instances);
  if (recalled.kind !== 'read') return recalled;
  const { read } = recalled;
  const decision = orFailed(() => applyAndCheck(execution, read, decideDirect(execution, read), instances));
  if (read.history === undefined || !(decision.kind === 'succeeded' || decision.kind === 'failed'))
    return decision;
  return { ...decision, recorded: { readHistoryHash: read.history.hash } };
}

/**
 * Adds to what was read what the execution remembers of the journal, as it stands before its own entry. A model is given it
 * when it is asked, and it is not read again to apply the answer. Never throws.
 */
export function recallFor(
  { definition: { definition } }: Execution,
  read: ReadSet,
  { recent }: InstanceView,
): Extract<Decision, { kind: 'needs' | 'failed' }> | { readonly kind: 'read'; readonly read: ReadSet } {
  const { readHistory } = definition;
  if (readHistory === undefined) return { kind: 'read', read };
  return orFailed(() => {
    const search = historySearch(readHistory, read.reads);
    const found = recent.find(search);
    if (found === undefined) return { kind: 'needs', instances: [], schemas: [], history: search };
    return { kind: 'read', read: { ...read, history: recall(found) } };
  });
}

/** *Read* alone. Refuses what `decideExecution` refuses. Never throws. */
export function readForExecution(
  execution: Execution,
  instances: InstanceView,
): Exclude<Decision, { kind: 'succeeded' }> | { readonly kind: 'read'; readonly read: ReadSet } {
  const admitted = admit(execution);
  if ('error' in admitted) return { kind: 'refused', error: admitted.error };
  return orFailed(() => {
    const found = readEntities(execution.definition, admitted.selection, instances);
    return 'needs' in found ? { kind: 'needs', ...found.needs } : { kind: 'read', read: found.read };
  });
}

/** *Apply* and *check*, for a proposal however it was made. Never throws. */
export const applyProposal = (
  execution: Execution,
  read: ReadSet,
  proposal: Proposal,
  instances: InstanceView,
): Decision => orFailed(() => applyAndCheck(execution, read, proposal, instances));

/**
 * *Apply* and *check*, for the mutation that a decider proposes. One that is refused for what it holds is an invalid output
 * of the model: the decision fails with `ai_output_invalid`, whose fact `refusal` is the code of the refusal. Any other
 * refusal, for instance by a limit of the deployment, is left as it is. Never throws.
 */
export function applyMutation(
  execution: Execution,
  read: ReadSet,
  mutation: JsonObject,
  instances: InstanceView,
): Decision {
  const decision = orFailed(() => applyAndCheck(execution, read, proposalOf(mutation, 'model'), instances));
  return decision.kind === 'failed' ? { kind: 'failed', error: invalidOutput(decision.error) } : decision;
}

/** Refusals of what a proposal holds: another answer of the model may be accepted (docs/ai.md). */
const FAULTS_OF_OUTPUT: ReadonlySet<ErrorCode> = new Set([
  'change_not_allowed',
  'change_too_large',
  'invalid_change_key',
  'invalid_result',
  'invalid_follow_up',
  'invalid_state',
  'template_failed',
]);

function invalidOutput(refusal: ServiceError): ServiceError {
  const { code, message, errors, facts } = refusal;
  if (!FAULTS_OF_OUTPUT.has(code)) return refusal;
  return new ServiceError('ai_output_invalid', message, { errors, facts: { ...facts, refusal: code } });
}

function applyAndCheck(
  execution: Execution,
  read: ReadSet,
  proposal: Proposal,
  instances: InstanceView,
): Decision {
  const { definition, input, instanceCount, limits } = execution;
  const { reads, wholeSchemas } = read;
  const { result, from } = proposal;
  const outcome = applyChanges(definition, proposal, instances);
  if ('needs' in outcome) return { kind: 'needs', ...outcome.needs };
  if (from === 'model') refuseUnloaded(outcome.applied, reads);
  checkGuards(definition.definition.guards ?? {}, from, outcome.applied);
  const told = { showsValues: from === 'template' };
  const changes = checkStates(outcome.applied, limits, told);
  checkResult(definition, result, told);
  checkEntrySize(input, changes, result, limits);
  checkInstanceCount(changes, instanceCount);
  const decision = { kind: 'succeeded', changes, result, reads, wholeSchemas } as const;
  if (definition.followUps.length === 0) return decision;
  const scope = { ...templateScope(execution, read), result };
  const { now } = execution.seen ?? execution;
  const followUps = planFollowUps(definition.followUps, scope, now, limits.inputBytes);
  return { ...decision, followUps };
}

/** What is refused before anything is read: a version that cannot run, or an input that breaks its contract. */
function admit({ definition, input, limits }: Execution): { selection: Selection } | { error: ServiceError } {
  try {
    if (definition.mutation === 'none') {
      const detail = 'This version has neither a template nor a behaviour prompt.';
      throw new ServiceError('mutation_missing', detail);
    }
    refuseInput(definition, input, limits);
    return { selection: selectEntities(definition.definition.readEntities, input) };
  } catch (error) {
    return { error: asServiceError(error) };
  }
}

/** @throws `invalid_input` for what breaks the contract, or is too large */
export function refuseInput(
  definition: CompiledDefinition,
  input: JsonObject,
  limits: Execution['limits'],
): void {
  const errors = problemsOf(input, definition, limits);
  if (errors.length > 0) throw invalidInput(errors);
}

const problemsOf = (
  input: JsonObject,
  definition: CompiledDefinition,
  { inputBytes: most }: Execution['limits'],
): FieldProblem[] =>
  jsonBytes(input, most) > most
    ? [fieldProblem('/input', 'too_large', `An input has at most ${most / 1024} KiB.`)]
    : definition.problemsOfInput(input).map(inRequest);

const invalidInput = (errors: ServiceError['errors']) =>
  new ServiceError('invalid_input', errors[0] && `${errors[0].pointer}: ${errors[0].message}`, { errors });

function orFailed<T>(decide: () => T): T | { kind: 'failed'; error: ServiceError } {
  try {
    return decide();
  } catch (error) {
    return { kind: 'failed', error: asServiceError(error) };
  }
}
