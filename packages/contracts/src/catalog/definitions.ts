import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { type FieldProblem, fieldProblem } from '../json/problems.js';
import { MOST_CONTENT } from '../records/content-limits.js';
import { address, sha256, storedName } from '../records/fields.js';
import { rpc } from '../rpc/rpc.js';
import { attributeDefinition } from './attributes.js';
import { versionErrors, versionRecord } from './event-versions.js';
import {
  executionSettings,
  followUps,
  guards,
  modeMap,
  mutationSettings,
  readEntity,
  readHistory,
  versionBody,
} from './version-parts.js';

/** An entity schema as executions and writes check against it; `hash` covers its name and attributes. */
export const schemaDefinition = z.object({
  schemaId: z.int(),
  name: z.string(),
  attributes: z.array(attributeDefinition),
  hash: sha256,
});
export type SchemaDefinition = z.infer<typeof schemaDefinition>;

/**
 * All that running a version takes. `schemas`: those it names (without a mode map: all of the world), frozen copies
 * when it is locked, else live. `hash` covers everything here but itself, so it tells whether a cached one is fresh.
 */
export const versionDefinition = z.object({
  worldId: z.int(),
  eventId: z.int(),
  event: z.string(),
  versionId: z.int(),
  version: z.int(),
  isLocked: z.boolean(),
  versionHash: sha256,
  inputSchema: jsonObject.nullable(),
  outputSchema: jsonObject.nullable(),
  readEntities: z.array(readEntity),
  /** Absent: none. */
  readHistory: readHistory.optional(),
  stateChanges: modeMap.nullable(),
  behaviorPrompt: z.string().nullable(),
  mutationSettings: mutationSettings.nullable(),
  executionSettings: executionSettings.nullable(),
  guards: guards.nullable(),
  followUps: followUps.optional(),
  schemas: z.record(z.string(), schemaDefinition),
  hash: sha256,
});
export type VersionDefinition = z.infer<typeof versionDefinition>;

const {
  inputSchema,
  outputSchema,
  readEntities,
  readHistory: memory,
  stateChanges,
  followUps: following,
} = versionRecord.shape;

/** What a version's hash covers, by which it is kept once it was executed (docs/history.md "Definitions"). */
export const keptDefinition = z
  .strictObject({
    event: storedName.describe('Name of the event.'),
    versionHash: sha256.describe('Hash of all that follows (docs/history.md).'),
    ...{ inputSchema, outputSchema, readEntities, readHistory: memory, stateChanges },
    behaviorPrompt: z.string().nullable().describe('What the event does, for a model. Null: none.'),
    mutationSettings: mutationSettings.nullable().describe('What makes the changes, whole. Null: a model.'),
    executionSettings: executionSettings
      .nullable()
      .describe('Who may execute it, and when. Null: its owner.'),
    guards: guards.nullable().describe('Limits on its changes. Null: none but those of every execution.'),
    followUps: following,
    schemas: z
      .record(
        z.string(),
        z.strictObject({
          name: storedName.describe('Name of the entity schema.'),
          attributes: z.array(attributeDefinition).max(500).describe('Its attributes as they were then.'),
          hash: sha256.describe('Hash of name and attributes.'),
        }),
      )
      .describe('The entity schemas that it runs with, by their names.'),
  })
  .meta({ id: 'Definition', description: 'A version that was executed, as it was then.' });
export type KeptDefinition = z.infer<typeof keptDefinition>;

/** Warns, at `pointer`, of a version that has nothing to run: a draft may be saved and bound before it says what. */
export const nothingToRun = (
  { mutationSettings, behaviorPrompt }: { mutationSettings: unknown; behaviorPrompt: string | null },
  pointer: string,
): FieldProblem[] =>
  mutationSettings === null && behaviorPrompt === null
    ? [
        fieldProblem(
          pointer,
          'nothing_to_run',
          'The version has neither a template nor a behaviorPrompt, so each execution is refused with mutation_missing.',
        ),
      ]
    : [];

/** The world's texts that prompts are built from; `hash` covers them. */
export const worldTexts = z.object({
  name: z.string(),
  description: z.string().nullable(),
  domainTags: z.array(z.string()),
  promptSeed: z.string().nullable(),
  hash: sha256,
});
export type WorldTexts = z.infer<typeof worldTexts>;

const versionName = z.object({ event: z.string(), version: z.int() });
/** Of the claims made, by the id of what is claimed. */
const revisions = z.record(z.string(), z.int());
const claims = z.array(z.object({ id: z.int(), revision: z.int() }));
const states = <T extends z.ZodType>(definition: T) =>
  [
    z.object({ state: z.literal('same') }),
    z.object({ state: z.literal('changed'), definition }),
    z.object({ state: z.literal('gone') }),
    /** It had no room in this reply: ask again. Only who asks with `sharing` gets it. */
    z.object({ state: z.literal('later') }),
  ] as const;
const changedOr = <T extends z.ZodType>(definition: T) => z.discriminatedUnion('state', states(definition));

/** A version without the schemas that it may have in common with others: their places in the list `sharedSchemas`. */
const sharingVersion = versionDefinition.extend({ schemas: z.array(z.int()) });
export type SharingVersion = z.infer<typeof sharingVersion>;

/**
 * The list of definitions in the reply is empty, since one reply may not carry them all: the caller reads them by
 * `definitions.confirm`. Absent: a caller of the previous release.
 */
const withoutDefinitions = z.boolean().optional();

/**
 * What the runtime asks of the catalog. Claims (docs/catalog.md) are made before the runtime commits a reference and may
 * be repeated; a claimed definition cannot be deleted, one that is being deleted cannot be claimed.
 */
export const definitionRpcs = {
  /** Is what I remember still so? One call confirms everything that a batch of runs uses; answers are in item order. */
  'definitions.confirm': rpc({
    request: z.object({
      versions: z.array(z.object({ versionId: z.int(), hash: z.string() })).max(1000),
      schemas: z.array(z.object({ worldId: z.int(), name: z.string(), hash: z.string() })).max(1000),
      worlds: z.array(z.object({ worldId: z.int(), hash: z.string() })).max(1000),
      /**
       * The caller reads versions that are `shared`, and asks again for what is answered `later`: then any number of
       * definitions of any size is carried. Absent: a caller of the previous release, or one that asks for few.
       */
      sharing: z.boolean().optional(),
    }),
    reply: z.object({
      versions: z.array(
        z.discriminatedUnion('state', [
          ...states(versionDefinition),
          z.object({ state: z.literal('shared'), definition: sharingVersion }),
        ]),
      ),
      schemas: z.array(changedOr(schemaDefinition)),
      worlds: z.array(changedOr(worldTexts)),
      /** Each schema of the versions that are `shared`, once. */
      sharedSchemas: z.array(schemaDefinition).optional(),
    }),
  }),
  /** The id of an event's version, bound or not; null when there is none. It is not claimed. */
  'definitions.find': rpc({
    request: z.object({ worldId: z.int(), event: z.string(), version: z.int() }),
    reply: z.object({ versionId: z.int().nullable() }),
  }),
  /**
   * A version that is not saved, checked and completed as saving would, with the number that it would get. Pointers of
   * what is refused begin with `/definition`.
   */
  'definitions.draft': rpc({
    errors: [...versionErrors, 'world_not_found'],
    request: z.object({ worldId: z.int(), event: z.string(), definition: versionBody }),
    reply: z.object({ definition: versionDefinition }),
  }),
  /**
   * Schemas that have indexed attributes, in order of their ids, from behind `after` on; `next` is the `after` of the
   * following page, null the last one. No hash covers which attributes are indexed.
   */
  'definitions.indexed': rpc({
    request: z.object({ after: z.int() }),
    reply: z.object({
      schemas: z.array(z.object({ schemaId: z.int(), attributes: z.array(z.string()) })),
      next: z.int().nullable(),
    }),
  }),
  /** A world and events of it as anyone may see them: descriptions only where the world is published; null when it is gone. */
  'definitions.describe': rpc({
    request: z.object({
      worldId: z.int(),
      eventIds: z.array(z.int()).max(MOST_CONTENT.bindingsPerDeployment),
    }),
    reply: z.object({
      world: z
        .object({
          name: z.string(),
          /** Absent: a catalog of the previous release. */
          description: z.string().nullish(),
          domainTags: z.array(z.string()),
        })
        .nullable(),
      descriptions: z.record(z.string(), z.string()),
    }),
  }),
  /** Claims a world for a deployment about to be created; the caller must own the world. */
  'claims.world': rpc({
    access: { scope: 'none', relation: 'owner' },
    errors: ['world_not_found'],
    request: z.object({ world: z.string(), deployment: address }),
    reply: z.object({ worldId: z.int(), worldAddress: address }),
  }),
  /** Claims versions for bindings; `unknown_event` / `unknown_event_version` carry the pointer `/<index>/event…`. */
  'claims.versions': rpc({
    errors: ['unknown_event', 'unknown_event_version'],
    request: z.object({
      worldId: z.int(),
      deployment: address,
      versions: z.array(versionName).max(MOST_CONTENT.bindingsPerDeployment),
      withoutDefinitions,
    }),
    reply: z.object({
      definitions: z.array(versionDefinition),
      /** Of the versions, in order, in place of definitions. Absent: a catalog of the previous release. */
      versionIds: z.array(z.int()).optional(),
      revisions,
    }),
  }),
  /** Claims schemas for a deployment's first instances of them; live definitions are answered. */
  'claims.schemas': rpc({
    errors: ['unknown_entity_schema'],
    request: z.object({ worldId: z.int(), deployment: address, schemas: z.array(z.string()).max(500) }),
    reply: z.object({ definitions: z.array(schemaDefinition), revisions }),
  }),
  /**
   * Gives claims back early; the sweep would find them anyway. A claim that has been made again has another revision and
   * stays. Without lists: all claims of the deployment.
   */
  'claims.release': rpc({
    request: z.object({
      deployment: address,
      versions: claims.optional(),
      schemas: claims.optional(),
    }),
    reply: z.object({ released: z.int() }),
  }),
  /** Locks versions on behalf of a deployment's lock; answers them as they now are for ever, with the world's texts. */
  'definitions.lock': rpc({
    errors: ['unknown_event', 'unknown_event_version'],
    request: z.object({
      worldId: z.int(),
      versionIds: z.array(z.int()).max(MOST_CONTENT.bindingsPerDeployment),
      withoutDefinitions,
    }),
    reply: z.object({ definitions: z.array(versionDefinition), world: worldTexts }),
  }),
};

/** What the catalog's sweep asks the runtime: which of a deployment's claims are still held. Answered in its lane. */
export const referenceRpcs = {
  'references.held': rpc({
    request: z.object({ deployment: address, versionIds: z.array(z.int()), schemaIds: z.array(z.int()) }),
    reply: z.object({ exists: z.boolean(), versionIds: z.array(z.int()), schemaIds: z.array(z.int()) }),
  }),
};
