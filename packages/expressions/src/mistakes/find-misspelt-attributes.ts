import {
  childPointer,
  closest,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  toNfc,
} from '@orrery/contracts';
import { quoted } from '../messages/error-text.js';
import { changesIn } from '../mutations/changed-schemas.js';
import type { TemplateReference } from './template-references.js';

/** The names of attributes by schema. */
export type AttributeNames = ReadonlyMap<string, readonly string[]>;

/** Names that are compared with those of their schema; a template may hold thousands. */
const MAX_COMPARED = 200;

/**
 * Attributes that a template sets or reads and that their schema does not name, where it names one that differs by few
 * letters. A state may hold attributes that its schema does not name, so these are warnings.
 */
export const findMisspeltAttributes = (
  template: JsonObject,
  references: readonly TemplateReference[],
  attributes: AttributeNames,
): FieldProblem[] =>
  [...setIn(template), ...readBy(references)]
    .filter(({ schema, name }) => attributes.get(schema)?.includes(name) === false)
    .slice(0, MAX_COMPARED)
    .flatMap(({ pointer, schema, name }) => {
      const meant = closest(name, attributes.get(schema) ?? []);
      if (meant === undefined) return [];
      const message = `The entity schema "${schema}" has no attribute "${quoted(name)}". Did you mean "${meant}"?`;
      return [fieldProblem(pointer, 'unknown_attribute', message)];
    });

/** An attribute in a template, with names in NFC. */
interface AttributeUse {
  readonly pointer: string;
  readonly schema: string;
  readonly name: string;
}

const setIn = (template: JsonObject): AttributeUse[] =>
  changesIn(template).flatMap(({ schema, change, pointer }) =>
    schema === undefined || !isJsonObject(change)
      ? []
      : Object.keys(change)
          .filter((name) => !name.includes('{{') && !name.startsWith('$'))
          .map((name) => ({ pointer: childPointer(pointer, name), schema, name: toNfc(name) })),
  );

const readBy = (references: readonly TemplateReference[]): AttributeUse[] =>
  references.flatMap(({ root, steps: [schema, , name], pointer }) =>
    root === 'entities' && schema !== undefined && name !== undefined
      ? [{ pointer, schema: toNfc(schema), name: toNfc(name) }]
      : [],
  );
