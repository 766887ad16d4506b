import type { Rows } from '../world/records.js';

const MOST = 50;

/**
 * Names of instances that a field may mean: those of the schema that is called like the field, or else of all that the page
 * has.
 */
export function suggestionsFor(field: string, loaded: ReadonlyMap<string, Rows>): string[] {
  const named = [...loaded].find(([schema]) => field.toLowerCase().startsWith(schema.toLowerCase()));
  const all = named === undefined ? [...loaded.values()] : [named[1]];
  return all.flatMap(({ rows }) => [...rows.keys()].slice(0, MOST)).slice(0, MOST);
}
