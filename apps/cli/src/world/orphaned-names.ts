import type { AttributeDefinition, EventDefinition } from './definitions.js';
import { type Plan, runsWith, type SchemaChange } from './plan-changes.js';

/**
 * Attributes that schemas lose and that events of the world go on naming, a sentence for each. Events may name attributes
 * that no schema has, so a server refuses none of this.
 * @param events those that the world will have, in their latest versions
 */
export function orphanedNames(
  { changes, keepsOldSchemas }: Plan,
  events: readonly EventDefinition[],
): string[] {
  // A locked version keeps its copies of the schemas.
  const live = events.filter(({ name }) => !keepsOldSchemas.includes(name));
  return changes
    .flatMap((change) => (change.what === 'change schema' ? lostBy(change) : []))
    .flatMap(({ schema, attribute }) => {
      const names = live.filter((event) => runsWith(event, new Set([schema]))).filter(naming(attribute));
      if (names.length === 0) return [];
      const who = names.map(({ name }) => `"${name}"`).join(', ');
      const those = names.length === 1 ? `the event ${who} names` : `the events ${who} name`;
      return [`The schema "${schema}" loses the attribute "${attribute}", which ${those}.`];
    });
}

function lostBy({ from, to, name: schema }: SchemaChange) {
  const left = new Set((to.attributes ?? []).map(({ name }: AttributeDefinition) => name));
  return (from.attributes ?? [])
    .filter(({ name }) => !left.has(name))
    .map(({ name: attribute }) => ({ schema, attribute }));
}

/** Whether a template, a guard or an expression of an event names an attribute. Texts for a model are prose, so they do not count. */
const naming =
  (attribute: string) =>
  ({ mutationSettings, guards, executionSettings, readEntities }: EventDefinition): boolean =>
    mentions([mutationSettings?.template, executionSettings?.cron?.input, readEntities], attribute) ||
    guards?.deny?.includes(attribute) === true ||
    Object.hasOwn(guards?.maxDelta ?? {}, attribute);

function mentions(value: unknown, attribute: string): boolean {
  if (typeof value === 'string') return inExpression(value, attribute);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, below]) => key === attribute || inExpression(key, attribute) || mentions(below, attribute),
  );
}

/** `{{ entities.horse.H1.wins }}` or `["wins"]`; `input.wins` is a member of the input. */
function inExpression(text: string, attribute: string): boolean {
  const name = attribute.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const member = new RegExp(
    `(?<!\\binput)(\\.${name}(?![\\p{L}\\p{N}_])|\\[\\s*["']${name}["']\\s*\\])`,
    'u',
  );
  return [...text.matchAll(/\{\{(.*?)\}\}/gs)].some(([, expression = '']) => member.test(expression));
}
