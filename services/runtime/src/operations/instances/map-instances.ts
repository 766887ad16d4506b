import { setImmediate } from 'node:timers/promises';
import {
  type CallContext,
  type CreateAttributeBody,
  type InstanceMisfit,
  type JsonObject,
  MOST_EXAMPLES,
  MOST_MAPPED,
  type mappingRpcs,
  refusal,
  type SchemaDefinition,
  suggested,
} from '@orrery/contracts';
import { type CompiledSchema, compileSchema } from '@orrery/deciding';
import { checkAttributeDefinitions } from '@orrery/expressions';
import { FairSlots } from '@orrery/service-kit';
import {
  type InstanceMapping,
  type Mapped,
  mapInstance,
  readMapping,
} from '../../core/deciding/map-instance.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import { type KnownDeployment, refuseLocked } from '../../store/deployments/deployment-directory.js';
import { type LookedAt, lookAtInstances } from '../../store/deployments/instance-store.js';
import type { RuntimeContext } from '../context.js';
import { unknownSchema, written } from './handlers.js';

/** Requests that read and compute at once; accounts get their turns. Each holds what it looks at in memory. */
const AT_ONCE = 2;
/** Milliseconds after which a request looks at no further instances: the next one goes on from there. */
const MOST_MS = 2000;
/** Milliseconds of work after which other requests get their turn. */
const TURN_MS = 10;

export function instanceMappings(context: RuntimeContext): OwnedHandlers<typeof mappingRpcs> {
  const slots = new FairSlots(AT_ONCE);
  const inTurn = <T>({ ownerAccountId }: KnownDeployment, { signal }: CallContext, work: () => Promise<T>) =>
    slots.run(String(ownerAccountId), signal, work);
  return {
    'instances.check': async (deployment, { body }, call) => {
      const { entitySchema, attributes } = body;
      const mapping = readMapping(body);
      const live = await schemaNamed(context, deployment, entitySchema, call);
      const schema =
        attributes === undefined ? live : compileSchema(withAttributes(live.definition, attributes));
      const { outcomes, next } = await inTurn(deployment, call, () =>
        lookAt(context, deployment, { ...body, schema, mapping, most: Number.POSITIVE_INFINITY }, call),
      );
      const misfits = outcomes.flatMap(({ instance, outcome }) => misfitOf(instance, outcome));
      const mappable = outcomes.filter(({ outcome }) => outcome.kind === 'mapped').length;
      const counted = { lookedAt: outcomes.length, unfit: mappable + misfits.length, mappable };
      return { data: { ...counted, misfits: misfits.slice(0, MOST_EXAMPLES), next } };
    },
    'instances.map': async (deployment, { body }, call) => {
      const mapping = readMapping(body);
      const schema = await schemaNamed(context, deployment, body.entitySchema, call);
      const { outcomes, next } = await inTurn(deployment, call, () =>
        lookAt(context, deployment, { ...body, schema, mapping, most: MOST_MAPPED }, call),
      );
      const unfit = outcomes.filter(({ outcome }) => outcome.kind !== 'fits').map(({ instance }) => instance);
      const done = await Promise.all(
        unfit.map(async (instance) => ({
          instance,
          outcome: await context.lanes.submit(
            mapItem(context, deployment, call, { ...body, instance, mapping }),
          ),
        })),
      );
      const misfits = done.flatMap(({ instance, outcome }) => misfitOf(instance, outcome));
      const counted = {
        lookedAt: outcomes.length,
        unfit: unfit.length,
        mapped: done.filter(({ outcome }) => outcome.kind === 'mapped').length,
      };
      return { data: { ...counted, misfits: misfits.slice(0, MOST_EXAMPLES), next } };
    },
  };
}

/** @throws `unknown_entity_schema` */
async function schemaNamed(
  { catalog }: RuntimeContext,
  { worldId, worldAddress }: KnownDeployment,
  name: string,
  call: CallContext,
): Promise<CompiledSchema> {
  const schema = await catalog.schema(worldId, name);
  if (schema === undefined) throw unknownSchema(name, await catalog.schemaNames(worldAddress, call));
  return schema;
}

/** @throws `validation_failed` with pointers, as the catalog would for attributes that contradict themselves */
function withAttributes(schema: SchemaDefinition, bodies: readonly CreateAttributeBody[]): SchemaDefinition {
  const attributes = bodies.map(({ name, type, constraints, defaultValue }) => ({
    name,
    type,
    constraints: constraints ?? null,
    defaultValue: defaultValue ?? null,
  }));
  const problems = checkAttributeDefinitions(attributes, schema.attributes).map((problem) => ({
    ...problem,
    pointer: `/attributes${problem.pointer}`,
  }));
  if (problems.length > 0) throw refusal(problems, 'The body');
  return { ...schema, attributes };
}

interface Looking {
  readonly entitySchema: string;
  readonly cursor?: string | undefined;
  readonly schema: CompiledSchema;
  readonly mapping: InstanceMapping;
  /** Of the instances that do not fit. */
  readonly most: number;
}

/**
 * What becomes of the instances after the cursor, up to the `most`-th that does not fit, as far as one request goes. `next`
 * is the cursor of those after these. @throws the signal's reason
 */
async function lookAt(
  { db, reading, limits }: RuntimeContext,
  { id }: KnownDeployment,
  { entitySchema, cursor = '0', schema, mapping, most }: Looking,
  { signal }: CallContext,
) {
  const { found, next } = await reading.run(signal, () =>
    lookAtInstances(db, id, entitySchema, Number(cursor)),
  );
  const outcomes: { instance: LookedAt; outcome: Mapped }[] = [];
  const end = performance.now() + MOST_MS;
  let turn = performance.now();
  let unfit = 0;
  for (const instance of found) {
    if (unfit >= most || (performance.now() >= end && outcomes.length > 0)) break;
    const outcome = mapInstance(schema, mapping, instance.instanceId, instance, limits.stateBytes);
    outcomes.push({ instance, outcome });
    if (outcome.kind !== 'fits') unfit += 1;
    if (performance.now() - turn < TURN_MS) continue;
    await setImmediate();
    signal.throwIfAborted();
    turn = performance.now();
  }
  const last = outcomes.at(-1)?.instance;
  return { outcomes, next: outcomes.length < found.length && last ? String(last.id) : next };
}

const misfitOf = ({ instanceId, revision }: LookedAt, outcome: Mapped): InstanceMisfit[] =>
  outcome.kind === 'unfit' ? [{ instanceId, revision, problems: outcome.problems.map(suggested) }] : [];

interface MappedOne {
  readonly entitySchema: string;
  readonly instance: LookedAt;
  readonly mapping: InstanceMapping;
}

/** Maps one instance in the state in which it is when its turn comes: a manual write, unless it fits by then. */
function mapItem(
  { catalog, limits }: RuntimeContext,
  deployment: KnownDeployment,
  call: CallContext,
  { entitySchema, instance: { instanceId }, mapping }: MappedOne,
): WorkItem<Mapped> {
  const name = { entitySchema, instanceId };
  let schema: CompiledSchema | undefined;
  return {
    deploymentId: deployment.id,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async () => {
      schema = await catalog.schema(deployment.worldId, entitySchema);
    },
    decide: (state, _ids, now) => {
      refuseLocked(state.row);
      if (schema === undefined) throw unknownSchema(entitySchema, []);
      const before = state.instances.get(entitySchema, instanceId);
      if (before === undefined) return { kind: 'needs', needs: { instances: [name] } };
      const outcome: Mapped =
        before === null
          ? { kind: 'fits' }
          : mapInstance(schema, mapping, instanceId, before, limits.stateBytes);
      if (outcome.kind !== 'mapped') return { kind: 'answer', answer: outcome };
      const write = {
        kind: 'instance_updated',
        name,
        schema,
        before,
        after: outcome.state as JsonObject,
      } as const;
      const outcomeOfWrite = written(state, call, now, write, limits);
      return outcomeOfWrite.kind === 'commit'
        ? { ...outcomeOfWrite, answer: () => ({ reply: outcome }) }
        : { kind: 'answer', answer: outcome };
    },
  };
}
