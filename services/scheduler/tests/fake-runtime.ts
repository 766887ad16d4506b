import {
  acknowledgeRpcs,
  type BoundVersion,
  type CronSettings,
  canonicalHash,
  defineContract,
  definitionRpcs,
  type ExecutionAnswer,
  type Handlers,
  type JsonObject,
  journalRpcs,
  type LifecycleEntry,
  lifecycleRpcs,
  newAddress,
  type OccurrenceKey,
  type RequestOf,
  readOccurrenceKey,
  ServiceError,
  type ServiceExecution,
  serviceExecutionRpcs,
  type VersionDefinition,
} from '@orrery/contracts';

const { 'journal.heads': heads } = journalRpcs;
const { 'definitions.confirm': confirm } = definitionRpcs;
/** What the scheduler uses of other services. */
export const usedOfRuntime = defineContract('runtime', {
  'journal.heads': heads,
  ...lifecycleRpcs,
  ...serviceExecutionRpcs,
  ...acknowledgeRpcs,
});
export const usedOfCatalog = defineContract('catalog', { 'definitions.confirm': confirm });

type ForService = RequestOf<(typeof serviceExecutionRpcs)['executions.forService']>;

/** An execution that has happened. */
export interface Executed {
  readonly deployment: string;
  readonly event: string;
  readonly eventVersion: number;
  readonly key: string;
  readonly input: JsonObject;
}

interface FakeDeployment {
  readonly id: number;
  readonly owner: number;
  isPublic: boolean;
  isDeleted: boolean;
  readonly causes: Set<string>;
  bindings: BoundVersion[];
  journal: (LifecycleEntry & { hash: string })[];
  /** When its head changed, in milliseconds. */
  changedAt: number;
}

const EPOCH = new Date(0).toISOString();

const scheduleOf = ({ deployment, event, kind }: OccurrenceKey): string => `${deployment} ${kind} ${event}`;

/** Deployments and versions in memory: the same promises as the runtime and the catalog, without their databases. */
export function createFakeRuntime(now: () => number) {
  const deployments = new Map<string, FakeDeployment>();
  const versions = new Map<number, VersionDefinition>();
  const once = new Map<string, { readonly hash: string; readonly outcome: ServiceExecution }>();
  /** By schedule, the last position that was acknowledged. */
  const acknowledgedUntil = new Map<string, number>();
  const executed: Executed[] = [];
  const acknowledged: string[] = [];
  /** Versions whose definitions the catalog has sent. */
  const sent: number[] = [];
  const world = { worldId: 1, worldAddress: newAddress() };
  let ids = 100;
  const hooks: {
    /** What an execution leads to. Default: it succeeds, with its input as the result. */
    execute: (request: ForService) => ServiceExecution | 'succeeds' | Promise<ServiceExecution | 'succeeds'>;
    /** Runs after an execution was stored; throwing loses its answer. */
    answer: (request: ForService) => void | Promise<void>;
    /** Runs before a lifecycle is read. */
    read: () => void | Promise<void>;
    /** Runs before occurrences are acknowledged. */
    acknowledge: () => void;
  } = {
    execute: () => 'succeeds',
    answer: () => undefined,
    read: () => undefined,
    acknowledge: () => undefined,
  };
  /** How much its clock is ahead of the database's, in milliseconds. */
  let ahead = 0;
  const at = () => new Date(now() + ahead).toISOString();

  const found = (address: string): FakeDeployment => {
    const deployment = deployments.get(address);
    if (deployment === undefined) throw new ServiceError('deployment_not_found');
    return deployment;
  };
  const note = (
    address: string,
    kind: LifecycleEntry['kind'],
    { versions, ...more }: Partial<Pick<LifecycleEntry, 'events' | 'versions' | 'cause' | 'at'>> = {},
  ) => {
    const { journal } = found(address);
    found(address).changedAt = now();
    const seq = (journal.at(-1)?.seq ?? 0) + 1;
    const entry = { seq, kind, events: [], cause: null, at: at(), ...more, ...(versions && { versions }) };
    journal.push({ ...entry, hash: canonicalHash({ address, ...entry, salt: crypto.randomUUID() }) });
  };
  const headOf = ({ journal }: FakeDeployment) => {
    const last = journal.at(-1);
    return { seq: last?.seq ?? 0, hash: last?.hash ?? '' };
  };

  const definitionOf = (
    versionId: number,
    event: string,
    version: number,
    cron: CronSettings | null,
    isLocked = false,
  ): VersionDefinition => {
    const content = {
      worldId: world.worldId,
      eventId: 1,
      event,
      versionId,
      version,
      isLocked,
      inputSchema: null,
      outputSchema: null,
      readEntities: [],
      stateChanges: null,
      behaviorPrompt: null,
      mutationSettings: null,
      executionSettings: cron === null ? null : { visibility: 'cron' as const, cron },
      guards: null,
      schemas: {},
    };
    const hash = canonicalHash(content as unknown as JsonObject);
    return { ...content, versionHash: hash, hash };
  };

  const isForgotten = (key: string): boolean => {
    const read = readOccurrenceKey(key);
    return read !== undefined && read.position <= (acknowledgedUntil.get(scheduleOf(read)) ?? -1);
  };

  const executeOnce = async (request: ForService): Promise<ServiceExecution> => {
    const [{ key } = { key: '' }] = request.keys;
    const { deployment: address, event, input } = request;
    const hash = canonicalHash({ address, event, input });
    const known = once.get(key);
    if (known !== undefined && known.hash === hash) return known.outcome;
    if (known !== undefined || isForgotten(key)) throw new ServiceError('idempotency_key_reused');
    const deployment = found(request.deployment);
    if (deployment.isDeleted) throw new ServiceError('deployment_not_found');
    if (deployment.causes.size > 0) throw new ServiceError('deployment_paused');
    const binding = deployment.bindings.find(({ event }) => event === request.event);
    if (binding === undefined) throw new ServiceError('event_not_bound');
    const { expected } = request;
    const definition = versions.get(binding.versionId);
    if (
      expected !== null &&
      (expected.eventVersion !== binding.eventVersion || expected.versionHash !== definition?.versionHash)
    )
      throw new ServiceError('binding_changed');
    const result = await hooks.execute(request);
    if (result !== 'succeeds' && result.state === 'running') return result;
    executed.push({ deployment: address, event, eventVersion: binding.eventVersion, key, input });
    const seq = executed.length;
    const answer: ExecutionAnswer = {
      historyId: `entry-${seq}`,
      seq,
      event,
      eventVersion: binding.eventVersion,
      stateChanges: {},
      result: input,
      attestation: null,
      pushes: [],
    };
    const ended = { state: 'ended' as const, historyId: `entry-${seq}`, seq };
    const outcome: ServiceExecution =
      result === 'succeeds' ? { ...ended, status: 'succeeded', answer } : { ...result, ...ended };
    once.set(key, { hash, outcome });
    return outcome;
  };

  const runtime: Handlers<typeof usedOfRuntime.rpcs> = {
    'journal.heads': async ({ after, changedSince }) => ({
      heads: [...deployments]
        .filter(([, one]) => after === null && one.changedAt >= Date.parse(changedSince ?? EPOCH))
        .map(([deployment, one]) => ({ deployment, ...headOf(one) })),
      next: null,
      until: new Date(now()).toISOString(),
    }),
    'lifecycle.read': async ({ deployment, after }) => {
      await hooks.read();
      const { bindings, journal, causes, isDeleted } = found(deployment);
      return {
        deployment,
        ...world,
        isPaused: causes.size > 0,
        isDeleted,
        bindings: isDeleted ? [] : bindings,
        head: headOf(found(deployment)),
        afterHash: journal.find(({ seq }) => seq === after)?.hash ?? null,
        entries: journal.filter(({ seq }) => seq > after),
        now: at(),
      };
    },
    'deployments.authorize': async ({ params, relation }, { caller }) => {
      const deployment = found(params.address);
      const isOwner = caller.kind === 'account' && caller.accountId === deployment.owner;
      if (deployment.isDeleted || (!isOwner && !deployment.isPublic))
        throw new ServiceError('deployment_not_found');
      if (relation === 'owner' && !isOwner) throw new ServiceError('forbidden');
      const isPaused = deployment.causes.size > 0;
      return { deployment: params.address, isPaused, lifecycle: headOf(deployment), seesCode: isOwner };
    },
    'executions.forService': async (request) => {
      const outcome = await executeOnce(request);
      await hooks.answer(request);
      return outcome;
    },
    'executions.outcomeOf': async ({ key }) => once.get(key)?.outcome ?? { state: 'unknown' },
    'executions.acknowledge': async ({ occurrences }) => {
      hooks.acknowledge();
      acknowledged.push(...occurrences);
      for (const key of occurrences) {
        once.delete(key);
        const read = readOccurrenceKey(key);
        if (read === undefined) continue;
        const until = acknowledgedUntil.get(scheduleOf(read)) ?? -1;
        acknowledgedUntil.set(scheduleOf(read), Math.max(until, read.position));
      }
      return null;
    },
  };
  const catalog: Handlers<typeof usedOfCatalog.rpcs> = {
    'definitions.confirm': async ({ versions: asked }) => ({
      versions: asked.map(({ versionId, hash }) => {
        const definition = versions.get(versionId);
        if (definition === undefined) return { state: 'gone' };
        if (definition.hash === hash) return { state: 'same' };
        sent.push(versionId);
        return { state: 'changed', definition };
      }),
      schemas: [],
      worlds: [],
    }),
  };

  return {
    runtime,
    catalog,
    hooks,
    executed,
    acknowledged,
    sent,
    world,
    setAhead: (ms: number) => {
      ahead = ms;
    },
    /** Saves a version of an event, and returns its id. */
    version: (event: string, version: number, cron: CronSettings | null, isLocked = false): number => {
      ids += 1;
      versions.set(ids, definitionOf(ids, event, version, cron, isLocked));
      return ids;
    },
    /** Changes a draft. */
    edit: (versionId: number, cron: CronSettings | null) => {
      const { event, version } = versions.get(versionId) as VersionDefinition;
      versions.set(versionId, definitionOf(versionId, event, version, cron));
    },
    /** A deployment of account 1 with these versions bound, by event. */
    deploy: (bound: Readonly<Record<string, number>>): string => {
      const address = newAddress();
      ids += 1;
      deployments.set(address, {
        id: ids,
        owner: 1,
        isPublic: false,
        isDeleted: false,
        causes: new Set(),
        bindings: [],
        journal: [],
        changedAt: now(),
      });
      const deployment = found(address);
      deployment.bindings = Object.entries(bound).map(([event, versionId]) => bindingOf(event, versionId));
      note(address, 'deployment_created', { events: Object.keys(bound), versions: versionsOf(bound) });
      return address;
    },
    bind: (address: string, event: string, versionId: number, at?: string) => {
      const deployment = found(address);
      const others = deployment.bindings.filter((binding) => binding.event !== event);
      const kind = others.length === deployment.bindings.length ? 'bindings_added' : 'bindings_updated';
      deployment.bindings = [...others, bindingOf(event, versionId)];
      note(address, kind, {
        events: [event],
        versions: versionsOf({ [event]: versionId }),
        ...(at !== undefined && { at }),
      });
    },
    unbind: (address: string, event: string) => {
      const deployment = found(address);
      deployment.bindings = deployment.bindings.filter((binding) => binding.event !== event);
      note(address, 'binding_removed', { events: [event] });
    },
    pause: (address: string, cause: 'owner' | 'account' | 'operator' = 'owner') => {
      found(address).causes.add(cause);
      note(address, 'paused', { cause });
    },
    resume: (address: string, cause: 'owner' | 'account' | 'operator' = 'owner') => {
      found(address).causes.delete(cause);
      note(address, 'resumed', { cause });
    },
    remove: (address: string) => {
      found(address).isDeleted = true;
      note(address, 'deleted');
    },
    /** The runtime's database comes back without it. */
    forget: (address: string) => void deployments.delete(address),
    publish: (address: string) => {
      found(address).isPublic = true;
      note(address, 'published');
    },
    /** Its database comes back from a backup: it looks as if its head had changed long ago. */
    age: (address: string) => {
      found(address).changedAt = Date.parse(EPOCH);
    },
    /** The journal comes back without its last entries. */
    loseTail: (address: string, count: number) => {
      found(address).journal.splice(-count);
      note(address, 'tail_lost');
    },
  };

  function versionsOf(bound: Readonly<Record<string, number>>): Record<string, number> {
    const numbers = Object.entries(bound).map(([event, id]) => [event, versions.get(id)?.version ?? 0]);
    return Object.fromEntries(numbers);
  }

  function bindingOf(event: string, versionId: number): BoundVersion {
    ids += 1;
    return { bindingId: ids, event, versionId, eventVersion: versions.get(versionId)?.version ?? 0 };
  }
}
