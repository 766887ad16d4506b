import { childPointer, isJsonObject, type JsonObject, type JsonValue, toNfc } from '@orrery/contracts';
import { isMutationForm } from './mutation.js';

/** One change that a mutation's template makes. */
export interface TemplateChange {
  /** As it is written, with its placeholders. */
  readonly key: string;
  /** Into the template. */
  readonly pointer: string;
  /** The schema in NFC; undefined where a placeholder says it, or nothing does. */
  readonly schema: string | undefined;
  readonly change: JsonValue;
}

/**
 * The changes of a mutation's template. The schema is what precedes a key's first colon, unless a placeholder says it:
 * `horse:{{ input.id }}` names `horse`, `{{ input.key }}` names nothing that is known before a run.
 */
export function changesIn(template: JsonObject): TemplateChange[] {
  const isForm = isMutationForm(template);
  const changes = isForm ? template['stateChanges'] : template;
  if (changes === undefined || !isJsonObject(changes)) return [];
  return Object.entries(changes).map(([key, change]) => ({
    key,
    pointer: childPointer(isForm ? '/stateChanges' : '', key),
    schema: schemaOf(key),
    change,
  }));
}

function schemaOf(key: string): string | undefined {
  const name = key.slice(0, Math.max(0, key.indexOf(':')));
  return name === '' || name.includes('{{') ? undefined : toNfc(name);
}

/** The schemas that the change keys of a mutation's template name, each once. */
export const changedSchemas = (template: JsonObject): string[] => [
  ...new Set(changesIn(template).flatMap(({ schema }) => schema ?? [])),
];
