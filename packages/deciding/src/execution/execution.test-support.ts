import {
  type AttributeDefinition,
  DEFAULT_CONTENT_LIMITS,
  EVALUATOR,
  type JsonObject,
  type VersionDefinition,
} from '@orrery/contracts';
import type { Execution, InstanceState, InstanceView } from './execution.js';
import { compileDefinition } from './execution.js';

type AttributeText =
  | AttributeDefinition['type']
  | [AttributeDefinition['type'], Partial<AttributeDefinition>];

/** A schema in few words: `{ wins: ['integer', { defaultValue: 0 }], name: 'string' }`. */
export const schemaOf = (name: string, attributes: Record<string, AttributeText> = {}) => ({
  schemaId: 1,
  name,
  hash: '0'.repeat(64),
  attributes: Object.entries(attributes).map(([attribute, text]) => {
    const [type, rest] = typeof text === 'string' ? [text, {}] : text;
    return { name: attribute, type, constraints: null, defaultValue: null, ...rest };
  }),
});

interface DefinitionParts extends Partial<Omit<VersionDefinition, 'schemas'>> {
  schemas?: Record<string, Record<string, AttributeText>>;
  template?: JsonObject;
}

export function definitionOf({
  schemas = { horse: {} },
  template,
  ...rest
}: DefinitionParts): VersionDefinition {
  return {
    worldId: 1,
    eventId: 1,
    event: 'race',
    versionId: 1,
    version: 1,
    isLocked: false,
    versionHash: 'a'.repeat(64),
    inputSchema: null,
    outputSchema: null,
    readEntities: [],
    stateChanges: null,
    behaviorPrompt: null,
    mutationSettings: template === undefined ? null : { mode: 'direct', template },
    executionSettings: null,
    guards: null,
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, attributes]) => [name, schemaOf(name, attributes)]),
    ),
    hash: 'b'.repeat(64),
    ...rest,
  };
}

export const executionOf = (parts: DefinitionParts, input: JsonObject = {}): Execution => ({
  evaluator: EVALUATOR,
  definition: compileDefinition(definitionOf(parts)),
  deployment: { address: `0x${'4f'.repeat(20)}`, worldAddress: `0x${'aa'.repeat(20)}` },
  instanceCount: { before: 0, limit: 100 },
  limits: DEFAULT_CONTENT_LIMITS,
  event: 'race',
  input,
  caller: { kind: 'account', accountId: 7, scopes: ['execute'] },
  trigger: 'admin',
  walletAddress: null,
  now: Date.UTC(2026, 10, 21, 9, 30),
  timestamp: '2026-11-21T09:30:00.000Z',
});

/** A view that has everything in memory; states start at revision 1. */
export function viewOf(states: Record<string, Record<string, JsonObject>> = {}): InstanceView {
  const schemas = new Map(
    Object.entries(states).map(([schema, instances]) => [
      schema,
      new Map<string, InstanceState>(
        Object.entries(instances).map(([id, state]) => [id, { state, revision: 1 }]),
      ),
    ]),
  );
  return {
    get: (schema, id) => schemas.get(schema)?.get(id) ?? null,
    all: (schema) => schemas.get(schema) ?? new Map(),
    tooMany: (schema, most) => (schemas.get(schema)?.size ?? 0) > most,
    isTooLarge: () => false,
    recent: { find: () => [] },
  };
}

/** A view that holds nothing yet. */
export const emptyView: InstanceView = {
  get: () => undefined,
  all: () => undefined,
  tooMany: () => false,
  isTooLarge: () => false,
  recent: { find: () => undefined },
};
