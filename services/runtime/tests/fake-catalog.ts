import {
  type AttributeDefinition,
  canonicalHash,
  defineContract,
  definitionRpcs,
  entitySchemaRpcs,
  type Handlers,
  type JsonObject,
  newAddress,
  type SchemaDefinition,
  ServiceError,
  tagged,
  type VersionDefinition,
  worldRpcs,
} from '@orrery/contracts';
import { hashOfDefinition } from '@orrery/deciding';
import { keptDefinition } from '../src/store/journal/definitions.js';

/** The part of the catalog's contract that the runtime uses. */
export const usedContract = defineContract('catalog', {
  ...definitionRpcs,
  'worlds.get': worldRpcs['worlds.get'],
  'entitySchemas.list': entitySchemaRpcs['entitySchemas.list'],
});

type VersionParts = Partial<Omit<VersionDefinition, 'hash' | 'versionHash' | 'schemas'>> & { event: string };

const NOW = new Date(0).toISOString();

/** A catalog in memory: one world of account 1, definitions that tests plant and change, and the claims on them. */
export function createFakeCatalog() {
  const world = { id: 1, address: newAddress(), ownerAccountId: 1 };
  const schemas = new Map<string, SchemaDefinition>();
  const versions = new Map<number, VersionDefinition>();
  /** Names of attributes by the id of their schema. */
  const indexed = new Map<number, string[]>();
  const claims = new Set<string>();
  const revisions = new Map<string, number>();
  const hooks: { beforeSchemaClaim?: (() => Promise<void>) | undefined } = {};
  const calls = { confirm: 0, lock: 0 };

  const definitionOf = (parts: VersionParts): VersionDefinition => {
    const content = {
      worldId: world.id,
      eventId: 1,
      versionId: parts.versionId ?? versions.size + 1,
      version: 1,
      isLocked: false,
      inputSchema: null,
      outputSchema: null,
      readEntities: [],
      stateChanges: null,
      behaviorPrompt: null,
      mutationSettings: null,
      executionSettings: null,
      guards: null,
      ...parts,
      schemas: Object.fromEntries(schemas),
    };
    const hash = canonicalHash(content as unknown as JsonObject);
    return {
      ...content,
      versionHash: hashOfDefinition(keptDefinition({ ...content, versionHash: '', hash })),
      hash,
    };
  };
  const named = ({ event, version }: { event: string; version: number }, index: number) => {
    const ofEvent = [...versions.values()].filter((one) => one.event === event);
    const refuse = (code: 'unknown_event' | 'unknown_event_version', member: string) =>
      new ServiceError(code, undefined, {
        errors: [{ pointer: `/${index}/${member}`, code, message: code }],
      });
    if (ofEvent.length === 0) throw refuse('unknown_event', 'event');
    const found = ofEvent.find((one) => one.version === version);
    if (found === undefined) throw refuse('unknown_event_version', 'eventVersion');
    return found;
  };
  let texts = {
    name: 'Derby',
    description: null,
    domainTags: [],
    promptSeed: 'Horses race.',
    hash: canonicalHash('Derby'),
  };
  const compare = <T extends { hash: string }>(hash: string, now: T | undefined) => {
    if (now === undefined) return { state: 'gone' as const };
    return now.hash === hash ? { state: 'same' as const } : { state: 'changed' as const, definition: now };
  };

  let onNextClaim: () => Promise<unknown> = async () => undefined;
  const claim = (name: string): number => {
    claims.add(name);
    revisions.set(name, (revisions.get(name) ?? 0) + 1);
    return revisions.get(name) ?? 0;
  };
  const release = (name: string, revision: number) => {
    if (revisions.get(name) === revision) claims.delete(name);
  };

  const handlers: Handlers<
    typeof definitionRpcs &
      Pick<typeof worldRpcs, 'worlds.get'> &
      Pick<typeof entitySchemaRpcs, 'entitySchemas.list'>
  > = {
    'worlds.get': async ({ params: { idOrAddress } }) => {
      if (idOrAddress !== '1' && idOrAddress !== world.address) throw new ServiceError('world_not_found');
      const { hash: _, ...shown } = texts;
      const { id, address } = world;
      return tagged({ id, address, ...shown, isPublic: false, createdAt: NOW, updatedAt: NOW } as never);
    },
    'entitySchemas.list': async () => ({
      data: [...schemas.values()].map(({ schemaId: id, name }) => ({
        id,
        worldId: world.id,
        name,
        description: null,
        attributes: [],
        createdAt: NOW,
        updatedAt: NOW,
      })),
      pagination: { page: 1, limit: 100, total: schemas.size, totalPages: 1 },
    }),
    'claims.world': async ({ world: reference, deployment }, { caller }) => {
      const isOwner = caller.kind === 'account' && caller.accountId === world.ownerAccountId;
      if (!isOwner || (reference !== '1' && reference !== world.address))
        throw new ServiceError('world_not_found');
      claim(`${deployment} world ${world.id}`);
      return { worldId: world.id, worldAddress: world.address };
    },
    'claims.versions': async ({ deployment, versions: wanted, withoutDefinitions }) => {
      const meanwhile = onNextClaim;
      onNextClaim = async () => undefined;
      await meanwhile();
      const definitions = wanted.map(named);
      const claimed = definitions.map(({ versionId }) => [
        versionId,
        claim(`${deployment} version ${versionId}`),
      ]);
      const revisions = Object.fromEntries(claimed);
      if (!withoutDefinitions) return { definitions, revisions };
      return { definitions: [], versionIds: definitions.map(({ versionId }) => versionId), revisions };
    },
    'claims.schemas': async ({ deployment, schemas: wanted }) => {
      await hooks.beforeSchemaClaim?.();
      const definitions = wanted.map((name) => {
        const found = schemas.get(name);
        if (found === undefined) throw new ServiceError('unknown_entity_schema');
        return found;
      });
      const claimed = definitions.map(({ schemaId }) => [
        schemaId,
        claim(`${deployment} schema ${schemaId}`),
      ]);
      return { definitions, revisions: Object.fromEntries(claimed) };
    },
    'claims.release': async ({ deployment, versions: some, schemas: others }) => {
      const before = claims.size;
      for (const { id, revision } of some ?? []) release(`${deployment} version ${id}`, revision);
      for (const { id, revision } of others ?? []) release(`${deployment} schema ${id}`, revision);
      if (some === undefined && others === undefined) {
        for (const claim of claims) if (claim.startsWith(deployment)) claims.delete(claim);
      }
      return { released: before - claims.size };
    },
    'definitions.confirm': async ({ versions: asked, schemas: askedSchemas, worlds, sharing }) => {
      calls.confirm += 1;
      const answers = asked.map(({ versionId, hash }) => compare(hash, versions.get(versionId)));
      return {
        ...(sharing ? shareSchemas(answers) : { versions: answers }),
        schemas: askedSchemas.map(({ name, hash }) => compare(hash, schemas.get(name))),
        worlds: worlds.map(({ hash }) => compare(hash, texts)),
      };
    },
    'definitions.find': async ({ event, version }) => {
      const found = [...versions.values()].find((one) => one.event === event && one.version === version);
      return { versionId: found?.versionId ?? null };
    },
    'definitions.draft': async ({ event, definition }) => ({
      definition: definitionOf({ event, version: 9, versionId: 0, ...definition } as VersionParts),
    }),
    'definitions.indexed': async ({ after }) => ({
      schemas: [...indexed]
        .filter(([id]) => id > after)
        .map(([schemaId, attributes]) => ({ schemaId, attributes })),
      next: null,
    }),
    'definitions.describe': async () => ({
      world: { name: texts.name, domainTags: texts.domainTags },
      descriptions: {},
    }),
    'definitions.lock': async ({ versionIds, withoutDefinitions }) => {
      calls.lock += 1;
      const definitions = versionIds.map((id) => {
        const found = versions.get(id);
        if (found === undefined) throw new ServiceError('unknown_event_version');
        const locked = { ...found, isLocked: true };
        versions.set(id, locked);
        return locked;
      });
      return { definitions: withoutDefinitions ? [] : definitions, world: texts };
    },
  };

  return {
    world,
    handlers,
    claims,
    /** Makes a claim, as the deployment's next owner may. */
    claim,
    /** Something that happens while the next versions are claimed. */
    onNextClaim: (meanwhile: () => Promise<unknown>) => {
      onNextClaim = meanwhile;
    },
    calls,
    hooks,
    /** Declares which attributes of a schema are indexed; an empty list takes it back. */
    indexAttributes: (schema: string, attributes: string[]) => {
      const id = schemas.get(schema)?.schemaId ?? 0;
      if (attributes.length === 0) indexed.delete(id);
      else indexed.set(id, attributes);
    },
    setPromptSeed: (promptSeed: string) => {
      texts = { ...texts, promptSeed, hash: canonicalHash(promptSeed) };
    },
    plantSchema: (name: string, attributes: readonly AttributeDefinition[]) => {
      const content = {
        schemaId: schemas.get(name)?.schemaId ?? schemas.size + 1,
        name,
        attributes: [...attributes],
      };
      const { schemaId: _, ...hashed } = content;
      schemas.set(name, { ...content, hash: canonicalHash(hashed as unknown as JsonObject) });
    },
    removeSchema: (name: string) => schemas.delete(name),
    plantVersion: (parts: VersionParts): VersionDefinition => {
      const definition = definitionOf(parts);
      versions.set(definition.versionId, definition);
      return definition;
    },
  };
}

type Compared = { state: 'same' | 'gone' } | { state: 'changed'; definition: VersionDefinition };

/** Each schema once, beside the versions, as the catalog answers who asks for it. */
function shareSchemas(answers: readonly Compared[]) {
  const sharedSchemas: SchemaDefinition[] = [];
  const placeOf = (schema: SchemaDefinition) => {
    const place = sharedSchemas.findIndex(
      ({ schemaId, hash }) => schemaId === schema.schemaId && hash === schema.hash,
    );
    return place < 0 ? sharedSchemas.push(schema) - 1 : place;
  };
  const versions = answers.map((answer) => {
    if (answer.state !== 'changed') return { state: answer.state };
    const schemas = Object.values(answer.definition.schemas).map(placeOf);
    return { state: 'shared' as const, definition: { ...answer.definition, schemas } };
  });
  return { versions, sharedSchemas };
}

export const attribute = (
  name: string,
  type: AttributeDefinition['type'],
  rest: Partial<AttributeDefinition> = {},
): AttributeDefinition => ({ name, type, constraints: null, defaultValue: null, ...rest });

/** A direct version that adds `input.by` to `count` of the counter `input.id`. */
export const incrementVersion = {
  event: 'increment',
  inputSchema: { id: 'string', by: 'integer?' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
  stateChanges: { counter: 'partial' as const },
  mutationSettings: {
    mode: 'direct' as const,
    template: { 'counter:{{input.id}}': { count: { $increment: 1 } } },
  },
};

/** A version that a model decides, and that reads the counter `input.id`; its event and its id are given by the test. */
export const judgeVersion = {
  behaviorPrompt: 'Judge.',
  isLocked: true,
  inputSchema: { id: 'string' },
  stateChanges: { counter: 'partial' as const },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
};
