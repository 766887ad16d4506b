import { isJsonObject, type JsonObject, toNfc } from '@orrery/contracts';
import { isMutationForm } from './mutation.js';

/**
 * The schemas, in NFC, that the change keys of a mutation's template name: what precedes a key's first colon, unless a
 * placeholder says it. `horse:{{ input.id }}` names `horse`, `{{ input.key }}` names nothing that is known before a run.
 */
export function changedSchemas(template: JsonObject): string[] {
  const changes = isMutationForm(template) ? template['stateChanges'] : template;
  if (changes === undefined || !isJsonObject(changes)) return [];
  const named = Object.keys(changes).map((key) => key.slice(0, Math.max(0, key.indexOf(':'))));
  return [...new Set(named.filter((name) => name !== '' && !name.includes('{{')).map(toNfc))];
}
