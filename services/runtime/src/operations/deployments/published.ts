import { serviceCall } from '@orrery/bus';
import {
  type CallContext,
  catalogContract,
  type Handlers,
  type JsonObject,
  type PublicDeployment,
  type PublicEvent,
  type publishedRpcs,
  runtimeContract,
  type VersionDefinition,
} from '@orrery/contracts';
import type { CompiledDefinition } from '@orrery/deciding';
import { compileContract, toJsonSchema } from '@orrery/expressions';
import { notFound, publishedHeads } from '../../store/deployments/deployment-directory.js';
import { schemasInUse } from '../../store/deployments/instance-store.js';
import { headOf } from '../../store/journal/journal-store.js';
import { listBindings } from '../../store/state/bindings.js';
import { type Binding, isPaused } from '../../store/state/deployment-state.js';
import type { RuntimeContext } from '../context.js';
import { eachInTime, replyOf, within } from './published-by-place.js';

/** What the gateway asks for those who have no key. */
export const publishedReads = (
  context: RuntimeContext,
): Handlers<Omit<typeof publishedRpcs, 'history.published'>> => ({
  'deployments.published': async ({ deployments, withinMs }, call) => {
    const found = await publishedHeads(context.db, deployments);
    const { homes, clock } = context;
    if (homes.isOnly()) return { deployments: found };
    if (withinMs !== undefined) {
      const sooner = within(clock, withinMs, call);
      const find = async (one: string, at: number) => found[at] ?? whereItLives(context, one, sooner);
      return replyOf(deployments, await eachInTime(clock, withinMs, deployments, find));
    }
    return {
      deployments: await Promise.all(
        found.map((one, at) => one ?? whereItLives(context, deployments[at] ?? '', call)),
      ),
    };
  },
  'deployments.describe': async ({ params, query }, call) => ({
    data: await describe(context, params, query.event, call),
  }),
});

/** Of a deployment that was not found here: it may have moved, or be back. */
async function whereItLives({ db, homes }: RuntimeContext, deployment: string, call: CallContext) {
  const home = await homes.homeInTheEnd(deployment, call);
  if (home === undefined) return null;
  if (home === homes.id) return (await publishedHeads(db, [deployment]))[0] ?? null;
  const rpc = runtimeContract.rpcs['deployments.published'];
  const { deployments } = await homes.call(rpc, { deployments: [deployment] }, call, home);
  return deployments[0] ?? null;
}

const TIMEOUT_MS = 5000;

async function describe(
  { bus, db, clock, access, catalog }: RuntimeContext,
  path: { worldAddress: string; address: string },
  only: string | undefined,
  { caller, signal }: CallContext,
): Promise<PublicDeployment> {
  const row = await access.visible(path, caller);
  if (!row.is_public) throw notFound();
  const [bindings, { totals }, entitySchemas] = await Promise.all([
    listBindings(db, row.id),
    headOf(db, row.id),
    schemasInUse(db, row.id),
  ]);
  const asked = bindings.filter(({ event }) => only === undefined || event === only);
  const bound = (
    await Promise.all(asked.map((binding) => withDefinition(catalog, row.world_id, binding)))
  ).filter(isPublic);
  const { world, descriptions } = await bus.call(
    catalogContract.rpcs['definitions.describe'],
    { worldId: row.world_id, eventIds: bound.map(({ definition }) => definition.definition.eventId) },
    serviceCall('runtime', clock, TIMEOUT_MS, signal),
  );
  const { id, address, name, description, mode, definition_hash: definitionHash, source } = row;
  return {
    id,
    address,
    name,
    description,
    world: world && { address: row.world_address, ...world, description: world.description ?? null },
    mode,
    isPaused: isPaused(row),
    isLLMPublic: row.is_llm_public,
    isCodePublic: row.is_code_public,
    lockedAt: row.locked_at?.toISOString() ?? null,
    definitionHash,
    source,
    events: withinBytes(bound.map((one) => toPublicEvent(one, descriptions))),
    entitySchemas,
    totals: {
      instances: totals['instances'] ?? 0,
      entries: totals['entries'] ?? 0,
      executions: executionsOf(totals),
    },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

interface Bound {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

const withDefinition = async (catalog: RuntimeContext['catalog'], worldId: number, binding: Binding) => ({
  binding,
  definition: await catalog.version(worldId, binding),
});

/** A version that the catalog has lost cannot be executed either. */
const isPublic = (one: { binding: Binding; definition: CompiledDefinition | undefined }): one is Bound =>
  one.definition?.definition.executionSettings?.visibility === 'public';

function toPublicEvent(
  { binding: { event, eventVersion }, definition: { definition } }: Bound,
  descriptions: Readonly<Record<string, string>>,
): PublicEvent {
  const { eventId, versionHash, executionSettings } = definition;
  return {
    event,
    description: descriptions[eventId] ?? null,
    eventVersion,
    versionHash,
    priceUsd: executionSettings?.priceUsd ?? 0,
    payerMayCall: executionSettings?.payerMayCall === true && (executionSettings.priceUsd ?? 0) > 0,
    inputSchema: schemaOf(definition),
  };
}

/** By the definitions that the catalog's client remembers: strangers ask often, and a contract may be large. */
const schemas = new WeakMap<VersionDefinition, JsonObject>();

/** The input contract as JSON Schema, whichever form it was written in. */
function schemaOf(definition: VersionDefinition): JsonObject | null {
  if (definition.inputSchema === null) return null;
  const known = schemas.get(definition);
  if (known !== undefined) return known;
  const compiled = compileContract(definition.inputSchema);
  if (!compiled.ok) return null;
  const schema = toJsonSchema(compiled.contract);
  schemas.set(definition, schema);
  return schema;
}

/** Bytes of all input contracts of an answer; a version has up to 1 MiB, and a deployment 200 of them. */
const MOST_CONTRACT_BYTES = 4 * 1024 * 1024;

/** Leaves contracts out from where all of them would be too large for one answer. */
function withinBytes(events: readonly PublicEvent[]): PublicEvent[] {
  let left = MOST_CONTRACT_BYTES;
  return events.map(({ inputSchema, ...event }) => {
    left -= inputSchema ? JSON.stringify(inputSchema).length : 0;
    return left < 0 ? event : { ...event, inputSchema };
  });
}

const executionsOf = (totals: Readonly<Record<string, number>>): number =>
  Object.entries(totals).reduce(
    (sum, [name, count]) => (/_(succeeded|failed)$/.test(name) ? sum + count : sum),
    0,
  );
