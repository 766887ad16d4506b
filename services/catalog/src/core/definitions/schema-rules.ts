import {
  type AttributeDefinition,
  type CreateAttributeBody,
  type FieldProblem,
  fieldProblem,
  MOST_INDEXED,
  refusal,
  ServiceError,
  type UpdateAttributeBody,
} from '@orrery/contracts';
import { checkAttributeDefinition, checkAttributeDefinitions, findCostlyPatterns } from '@orrery/expressions';
import type { CatalogLimits } from '../limits.js';
import { below } from '../problems.js';
import { contentBytes, contentHash } from './content-hash.js';

/** An attribute with what is not part of its definition, and so of no hash. */
export interface StoredAttribute extends AttributeDefinition {
  readonly indexed: boolean;
}

export const toDefinition = ({ indexed: _, ...definition }: StoredAttribute): AttributeDefinition =>
  definition;

/** An attribute as sent on creation; absent and null mean none. */
export const definedBy = (body: CreateAttributeBody): StoredAttribute => ({
  name: body.name,
  type: body.type,
  constraints: body.constraints ?? null,
  defaultValue: body.defaultValue ?? null,
  indexed: body.indexed ?? false,
});

/** Absent members stay, constraints are replaced as a whole, null removes (docs/catalog.md). */
export const changedBy = (
  current: StoredAttribute,
  { name, type, constraints, defaultValue, indexed }: UpdateAttributeBody,
): StoredAttribute => ({
  name: name ?? current.name,
  type: type ?? current.type,
  constraints: constraints === undefined ? current.constraints : constraints,
  defaultValue: defaultValue === undefined ? current.defaultValue : defaultValue,
  indexed: indexed ?? current.indexed,
});

/**
 * Refuses an inconsistent attribute: a default that violates its own constraints, min above max, an invalid pattern, a
 * constraint of another type. The pattern of a saved one may stay, whatever it costs.
 * @throws ServiceError `validation_failed` with pointers
 */
export function checkAttribute(definition: StoredAttribute, saved?: StoredAttribute): void {
  refuse(checkAttributeDefinition(definition, saved));
}

/**
 * The attributes that a new schema is created with, checked.
 *
 * @throws ServiceError `validation_failed`, `attribute_exists` for a repeated name, `limit_reached` for too many
 */
export function attributesOf(
  bodies: readonly CreateAttributeBody[],
  limits: CatalogLimits,
): StoredAttribute[] {
  const definitions = bodies.map(definedBy);
  refuse(below('/attributes', checkAttributeDefinitions(definitions)));
  refuseRepeatedNames(definitions);
  refuseOversizedSchema(definitions.map(toDefinition), limits);
  refuseManyIndexed(definitions);
  return definitions;
}

function refuse(errors: FieldProblem[]): void {
  if (errors.length > 0) throw refusal(errors, 'The body');
}

function refuseRepeatedNames(definitions: readonly AttributeDefinition[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of definitions.entries()) {
    if (seen.has(name)) throw repeated(name, `/attributes/${index}/name`);
    seen.add(name);
  }
}

function repeated(name: string, pointer: string): ServiceError {
  const message = `The attribute "${name}" appears twice.`;
  const errors = [fieldProblem(pointer, 'attribute_exists', message)];
  return new ServiceError('attribute_exists', message, { errors });
}

/** @throws ServiceError `limit_reached` for too many attributes, `validation_failed` for too much JSON in them. */
export function refuseOversizedSchema(attributes: AttributeDefinition[], limits: CatalogLimits): void {
  if (attributes.length > limits.attributesPerSchema)
    throw new ServiceError(
      'limit_reached',
      `An entity schema may have at most ${limits.attributesPerSchema} attributes.`,
    );
  const message = `The attributes of an entity schema may take at most ${limits.schemaBytes} bytes.`;
  if (contentBytes(attributes) > limits.schemaBytes) refuse([fieldProblem('', 'too_large', message)]);
}

/** What a change adds is bounded. @throws ServiceError `validation_failed` */
export function refuseCostlyPatterns(
  attributes: readonly AttributeDefinition[],
  before: readonly AttributeDefinition[],
): void {
  const costly = findCostlyPatterns(attributes, before);
  refuse(costly.map((problem) => ({ ...problem, pointer: '/constraints/pattern' })));
}

/** @throws ServiceError `limit_reached` */
export function refuseManyIndexed(attributes: readonly StoredAttribute[]): void {
  const indexed = attributes.filter((attribute) => attribute.indexed).map(({ name }) => `"${name}"`);
  if (indexed.length <= MOST_INDEXED) return;
  throw new ServiceError(
    'limit_reached',
    `An entity schema may have at most ${MOST_INDEXED} indexed attributes; these would be ${indexed.slice(0, 10).join(', ')}. ` +
      'Leave out "indexed" where no query orders or compares by the attribute.',
  );
}

/** SHA-256 over the name of a schema and its attributes in order of creation. */
export const schemaHash = (name: string, attributes: AttributeDefinition[]): string =>
  contentHash({ name, attributes });
