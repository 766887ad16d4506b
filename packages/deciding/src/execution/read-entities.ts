import {
  EVALUATOR,
  type Evaluator,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mayNeedNfc,
  type ReadEntity,
  ServiceError,
  toNfc,
} from '@orrery/contracts';
import { keepReadOrder, numberToText } from '@orrery/expressions';
import {
  type CompiledDefinition,
  type InstanceState,
  type InstanceView,
  MAX_READ,
  type Needs,
  type ReadSet,
} from './execution.js';
import {
  compileSearch,
  type EntitySearch,
  MAX_SEARCHED,
  searchEntities,
  searchedTogether,
  searchWork,
  tooLargeToSearch,
  tooManySearched,
} from './search-entities.js';

/** InstanceIds that the input selects, or all instances of a schema. */
type Selected = ReadonlySet<string> | 'all';

/** What an execution reads. */
export interface Selection {
  /** By schema what is read as it is selected. */
  readonly direct: ReadonlyMap<string, Selected>;
  /** What is searched, and of what is found is read. */
  readonly searches: readonly (EntitySearch & { readonly schema: string; readonly among: Selected })[];
  readonly input: JsonObject;
  readonly evaluator: Evaluator;
}

/** Several entries for one schema select together; one without a filter selects all (docs/execution.md, "Read"). */
export function selectEntities(
  readEntities: readonly ReadEntity[],
  input: JsonObject,
  evaluator: Evaluator = EVALUATOR,
): Selection {
  const direct = new Map<string, Selected>();
  const searches: Selection['searches'][number][] = [];
  const work = { left: PATH_WORK };
  for (const entity of readEntities) {
    const { schema, filter } = entity;
    const selected = filter === undefined ? 'all' : selectInstances(filter, input, work);
    const search = searchOf(entity);
    if (search !== undefined) searches.push({ ...search, schema, among: selected });
    else direct.set(schema, both(direct.get(schema) ?? NONE, selected));
  }
  return { direct, searches, input, evaluator };
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

/** Values of the input that all paths of an execution may go through, and characters that they may normalize: at most some 20 ms. */
const PATH_WORK = 500_000;
/** Ids that one path may select, each as often as it is there; at most 500 instances are read (docs/execution.md). */
const MAX_IDS = 10_000;
/** To write a number out takes as long as going through so many values; a text is normalized character by character. */
const NUMBER_WORK = 4;

interface PathSearch {
  readonly path: string;
  readonly steps: readonly string[];
  readonly ids: string[];
  readonly work: { left: number };
}

/**
 * The instanceIds that a filter's paths (`race.horses`) lead to in the input, each once, in NFC, as they are stored. Absent or
 * null selects nothing, a list each of its elements (also half way: `horses.id` reads the id of each; a number picks one:
 * `horses.0`), numbers are taken as text. @throws `invalid_input` for an object or a boolean
 */
function selectInstances(
  filter: readonly string[],
  input: JsonObject,
  work: PathSearch['work'],
): Set<string> {
  const selected = new Set<string>();
  for (const path of filter) {
    const search: PathSearch = { path, steps: path.split('.'), ids: [], work };
    follow(input, 0, search);
    for (const id of search.ids) selected.add(id);
  }
  return selected;
}

function follow(value: JsonValue | undefined, at: number, search: PathSearch): void {
  const step = search.steps[at];
  if (--search.work.left < 0) throw unusable(search, TOO_MANY_VALUES);
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) {
    if (step === undefined) take(value, search);
    else if (isJsonObject(value))
      follow(Object.hasOwn(value, step) ? value[step] : undefined, at + 1, search);
  } else if (step !== undefined && /^\d{1,9}$/.test(step)) follow(value[Number(step)], at + 1, search);
  else for (const element of value) follow(element, at, search);
}

const TOO_MANY_VALUES = 'The filter paths go through too many values of the input.';

function take(value: JsonValue, search: PathSearch): void {
  const { path, ids, work } = search;
  if (typeof value !== 'string' && typeof value !== 'number')
    throw unusable(search, `The filter path "${path}" must lead to text, a number or a list of them.`);
  if (ids.length >= MAX_IDS)
    throw unusable(search, `The filter path "${path}" selects more than ${MAX_IDS} instances.`);
  work.left -= typeof value === 'number' || !mayNeedNfc(value) ? NUMBER_WORK : value.length;
  if (work.left < 0) throw unusable(search, TOO_MANY_VALUES);
  ids.push(typeof value === 'number' ? numberToText(value) : toNfc(value));
}

function unusable({ path }: PathSearch, message: string): ServiceError {
  const problem = fieldProblem(`/${path.replaceAll('.', '/')}`, 'invalid_filter_value', message);
  return new ServiceError('invalid_input', message, { errors: [inRequest(problem)] });
}

/** A problem of the input, with its path in the body of the request: `/input/amount`. */
export const inRequest = (problem: FieldProblem): FieldProblem => ({
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
  { searches, input, evaluator }: Selection,
  view: InstanceView,
  read: ReadSet,
): [schema: string, found: ReadonlySet<string>][] {
  if (searches.length === 0) return [];
  const [work, count] = [searchWork(evaluator), searchedTogether()];
  read.searched = [];
  const { searched } = read;
  return searches.map(({ schema: entitySchema, among, ...search }) => {
    const schema = definition.schemaNamed(entitySchema);
    const candidates = [...instancesOf(entitySchema, among, view)].flatMap(([instanceId, found]) =>
      found ? [{ instanceId, found, state: schema.withDefaults(found.state) }] : [],
    );
    if (candidates.length > MAX_SEARCHED) throw tooManySearched();
    count(candidates.length);
    if (!read.wholeSchemas.includes(entitySchema)) read.wholeSchemas.push(entitySchema);
    for (const { instanceId, found } of candidates)
      searched.push({ entitySchema, instanceId, revision: found.revision });
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
  const whole = [...wholeSchemas(direct, searches)];
  if (whole.length > 0 && view.isTooLarge(whole)) throw tooLargeToSearch();
}

/** Schemas of which all instances have to be in memory. */
function wholeSchemas(direct: Selection['direct'], searches: Selection['searches']): Set<string> {
  const whole = new Set<string>();
  for (const [schema, selected] of direct) if (selected === 'all') whole.add(schema);
  for (const { schema, among } of searches) if (among === 'all') whole.add(schema);
  return whole;
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
  const ids: string[] = [];
  const schema = definition.schemaNamed(entitySchema);
  if (selected === 'all' && !read.wholeSchemas.includes(entitySchema)) read.wholeSchemas.push(entitySchema);
  for (const [instanceId, found] of instancesOf(entitySchema, selected, view)) {
    read.reads.push({ entitySchema, instanceId, revision: found?.revision ?? 0 });
    if (!found) continue;
    ids.push(instanceId);
    loaded[instanceId] = schema.withDefaults(found.state);
  }
  keepReadOrder(loaded, ids);
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
