import { isJsonObject, toNfc } from '@orrery/contracts';
import type { EventDefinition, SchemaDefinition } from './definitions.js';

/** Definitions that one request has checked. */
export interface CheckGroup {
  readonly entitySchemas: readonly SchemaDefinition[];
  readonly events: readonly EventDefinition[];
}

/** Bytes that one request collects, and what a single definition may bring it to: a body may have 1 MiB by default. */
const GROUP_BYTES = 400_000;
const MOST_BYTES = 1_000_000;
/** Definitions of one kind in one request. */
const MOST_CHECKED = 500;

/**
 * New and changed definitions in as few requests as may be. An event goes with the schemas that it names, and with the bare
 * names of the others, among which the server looks for what a misspelt name was to be.
 * @param all the schemas that the world will have
 */
export function checkGroups(
  schemas: readonly SchemaDefinition[],
  events: readonly EventDefinition[],
  all: readonly SchemaDefinition[],
): CheckGroup[] {
  const units = [
    ...schemas.map((schema) => ({ entitySchemas: [schema], events: [] })),
    ...events.map((event) => withItsSchemas(event, all)),
  ];
  const groups: CheckGroup[] = [];
  for (const unit of units) {
    const joined = joinedOf(groups.at(-1) ?? NOTHING, unit);
    if (groups.length > 0 && bytesOf(joined) <= GROUP_BYTES && isInBounds(joined))
      groups[groups.length - 1] = joined;
    else groups.push(unit);
  }
  return groups.map((group) => withOtherNames(group, all));
}

const NOTHING: CheckGroup = { entitySchemas: [], events: [] };

/** Where all of its schemas are too much for a request, of each only the names and types of its attributes. */
function withItsSchemas(event: EventDefinition, all: readonly SchemaDefinition[]): CheckGroup {
  const names = schemasNamed(event);
  const named = all.filter(({ name }) => names.has(name));
  const unit = { entitySchemas: named, events: [event] };
  return bytesOf(unit) <= MOST_BYTES ? unit : { ...unit, entitySchemas: named.map(outlineOf) };
}

const outlineOf = ({ name, attributes = [] }: SchemaDefinition): SchemaDefinition => ({
  name,
  attributes: attributes.map((attribute) => ({ name: attribute.name, type: attribute.type })),
});

/** The schemas that an event names where a server looks for them: in a key of a template before the first colon, too. */
function schemasNamed({ readEntities, stateChanges, mutationSettings }: EventDefinition): Set<string> {
  const template = mutationSettings?.template ?? {};
  const inner = template['stateChanges'];
  const changes = { ...template, ...(isJsonObject(inner) && inner) };
  return new Set(
    [
      ...(readEntities ?? []).map(({ schema }) => schema),
      ...Object.keys(stateChanges ?? {}),
      ...Object.keys(changes).map((key) => key.slice(0, Math.max(0, key.indexOf(':')))),
    ].map(toNfc),
  );
}

function joinedOf(group: CheckGroup, { entitySchemas, events }: CheckGroup): CheckGroup {
  const names = new Set(group.entitySchemas.map(({ name }) => name));
  const more = entitySchemas.filter(({ name }) => !names.has(name));
  return { entitySchemas: [...group.entitySchemas, ...more], events: [...group.events, ...events] };
}

function withOtherNames(group: CheckGroup, all: readonly SchemaDefinition[]): CheckGroup {
  if (group.events.length === 0) return group;
  const others = all.map(({ name }) => ({ name }));
  const whole = joinedOf(group, { entitySchemas: others, events: [] });
  return bytesOf(whole) <= MOST_BYTES && isInBounds(whole) ? whole : group;
}

const isInBounds = ({ entitySchemas, events }: CheckGroup): boolean =>
  entitySchemas.length <= MOST_CHECKED && events.length <= MOST_CHECKED;

/** Of definitions as they are sent, but for a few around each. */
const bytesOf = ({ entitySchemas, events }: CheckGroup): number =>
  [...entitySchemas, ...events].reduce((sum, one) => sum + sizeOf(one), 0);

/** A definition is measured once, with however many others it is tried. */
const sizes = new WeakMap<object, number>();

function sizeOf(definition: object): number {
  const size = sizes.get(definition) ?? Buffer.byteLength(JSON.stringify(definition));
  sizes.set(definition, size);
  return size;
}
