import type { JsonObject } from '@orrery/sdk';
import type { Field, Member } from '../forms/fields.js';
import { formOf } from '../forms/form-model.js';

export interface ContractRow {
  /** With dots: `car.speed`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly note: string;
}

/** The values of a contract in either notation (docs/schemas.md); undefined where they cannot be listed. */
export function contractRows(contract: JsonObject): ContractRow[] | undefined {
  const form = formOf(contract);
  return form.kind === 'form' ? form.root.members.flatMap((member) => rowsOf(member, '')) : undefined;
}

function rowsOf({ name, field, isRequired }: Member, parent: string): ContractRow[] {
  const path = parent === '' ? name : `${parent}.${name}`;
  const note = [field.title, field.description, field.kind === 'json' ? undefined : field.hint];
  const row = { path, type: typeWords(field), isRequired, note: note.filter(Boolean).join(' · ') };
  const inside = itemOf(field);
  return inside.kind === 'object' ? [row, ...inside.members.flatMap((one) => rowsOf(one, path))] : [row];
}

const itemOf = (field: Field): Field => (field.kind === 'list' ? itemOf(field.item) : field);

function typeWords(field: Field): string {
  switch (field.kind) {
    case 'text':
      return 'text';
    case 'number':
      return field.isWhole ? 'whole number' : 'number';
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `one of ${field.options.map((option) => JSON.stringify(option)).join(', ')}`;
    case 'list':
      return `list of: ${typeWords(field.item)}`;
    case 'object':
      return 'object';
    case 'json':
      return field.hint ?? 'any JSON';
  }
}
