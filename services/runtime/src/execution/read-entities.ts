import { type FieldProblem, type JsonObject, type ReadEntity, ServiceError } from '@orrery/contracts';
import { type PathWork, pathWork, readPath } from '@orrery/expressions';
import type { InstanceName } from '../journal/change.js';
import { type InstanceState, type InstanceView, MAX_READ, type Needs } from '../state/instance-view.js';
import type { CompiledDefinition } from './compiled-definition.js';

/** What an execution reads: for each schema the instanceIds that its input selects, or all of them. */
export type Selection = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

/** What was read: the states that templates and prompts see, with defaults, and their revisions. */
export interface ReadSet {
  /** Schema → instanceId → state; every schema that the version reads is there. */
  entities: JsonObject;
  /** Revision 0: selected and absent. */
  reads: (InstanceName & { revision: number })[];
  /** Schemas read without a filter. */
  wholeSchemas: string[];
}

/** Several entries for one schema select together; one without a filter selects all (docs/execution.md, "Read"). */
export function selectEntities(readEntities: readonly ReadEntity[], input: JsonObject): Selection {
  const selection = new Map<string, ReadonlySet<string> | 'all'>();
  const work = pathWork();
  for (const { schema, filter } of readEntities) {
    const before = selection.get(schema);
    const selected = filter === undefined ? 'all' : selectInstances(filter, input, work);
    selection.set(schema, before === undefined ? selected : both(before, selected));
  }
  return selection;
}

const both = (one: ReadonlySet<string> | 'all', other: ReadonlySet<string> | 'all') =>
  one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);

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

/** A problem of the input, with its place in the body of the request: `/input/amount`. */
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
  for (const [schema, selected] of selection) addSchema(definition, schema, selected, view, read);
  return { read };
}

function refuseTooMany(selection: Selection, view: InstanceView): void {
  let count = 0;
  for (const [schema, selected] of selection) {
    if (selected === 'all' && view.tooMany(schema)) throw tooLarge();
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
  for (const [entitySchema, selected] of selection) {
    if (selected === 'all') {
      if (view.all(entitySchema) === undefined) needs.schemas.push(entitySchema);
      continue;
    }
    for (const instanceId of selected) {
      if (view.get(entitySchema, instanceId) === undefined)
        needs.instances.push({ entitySchema, instanceId });
    }
  }
  return needs.instances.length + needs.schemas.length > 0 ? needs : undefined;
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
  if (selected === 'all') read.wholeSchemas.push(entitySchema);
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
