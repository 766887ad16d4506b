import { LRUCache } from 'lru-cache';
import { type CompiledDefinition, compileDefinition } from '../execution/compiled-definition.js';
import { type CompiledSchema, compileSchema } from '../execution/compiled-schema.js';
import type { Confirm } from './confirm.js';

/** Compiled definitions kept at once. */
const KEPT = 5000;
/** A hash that nothing has: asks for the definition itself. */
const NOTHING = '';

/** Definitions as they are now: what is remembered is confirmed by its hash, locked versions are believed for ever. */
export function createDefinitions(confirm: Confirm) {
  const versions = new LRUCache<number, CompiledDefinition>({ max: KEPT });
  const schemas = new LRUCache<string, CompiledSchema>({ max: KEPT });

  return {
    version: async (versionId: number): Promise<CompiledDefinition | undefined> => {
      const known = versions.get(versionId);
      if (known?.definition.isLocked) return known;
      const answer = await confirm('versions', { versionId, hash: known?.definition.hash ?? NOTHING });
      if (answer.state === 'same') return known;
      versions.delete(versionId);
      if (answer.state === 'gone') return undefined;
      const compiled = compileDefinition(answer.definition);
      versions.set(versionId, compiled);
      return compiled;
    },
    schema: async (worldId: number, name: string): Promise<CompiledSchema | undefined> => {
      const key = `${worldId}:${name}`;
      const known = schemas.get(key);
      const answer = await confirm('schemas', { worldId, name, hash: known?.definition.hash ?? NOTHING });
      if (answer.state === 'same') return known;
      schemas.delete(key);
      if (answer.state === 'gone') return undefined;
      const compiled = compileSchema(answer.definition);
      schemas.set(key, compiled);
      return compiled;
    },
  };
}
