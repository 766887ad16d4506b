import { hash } from 'node:crypto';
import type { Bus } from '@orrery/bus';
import {
  accountOf,
  canonicalHash,
  defineContract,
  deploymentRpcs,
  historyRpcs,
  type JournalFact,
  type JournalKind,
  type JsonObject,
  journalEntry,
  journalHeads,
  journalRpcs,
  lifecycleChanged,
  lifecycleRpcs,
  liveExecutionOf,
  newAddress,
  type PushPlan,
  pastHeadRpcs,
  ServiceError,
  tagged,
} from '@orrery/contracts';

/** What the chain-pusher uses of the runtime. */
const used = defineContract('runtime', {
  ...journalRpcs,
  ...pastHeadRpcs,
  'deployments.relation': deploymentRpcs['deployments.relation'],
  'deployments.get': deploymentRpcs['deployments.get'],
  'history.get': historyRpcs['history.get'],
  'lifecycle.read': lifecycleRpcs['lifecycle.read'],
});

export const OWNER = 1;

export interface Execution {
  readonly plan?: PushPlan | null;
  readonly result?: JsonObject;
  readonly stateChanges?: JournalFact['stateChanges'];
  readonly status?: 'succeeded' | 'failed';
  readonly executedAt?: string;
}

const at = '2026-11-21T09:30:00.000Z';
const RECORD = {
  ...{ id: 1, worldId: 1, worldAddress: newAddress(), name: 'Season 1', description: null, source: null },
  ...{
    mode: 'upgradable' as const,
    isPublic: false,
    isPaused: false,
    isLLMPublic: false,
    isCodePublic: false,
    lockedAt: null,
  },
  ...{ aiModelId: null, aiDailyBudgetUsd: null, payToAddress: null, definitionHash: null },
  ...{ createdAt: at, updatedAt: at },
};

/** Journals in memory, served and published like those of the runtime. */
export async function startFakeRuntime(bus: Bus, journals = new Map<string, JournalFact[]>()) {
  const hidden = new Set<string>();
  const forks = new Set<string>();
  const untold = new Set<string>();
  let bound: readonly string[] | 'never' | undefined = ['race', 'sale'];
  let now = Date.now;
  await bus.serve(used, {
    'journal.range': async ({ deployment, after, limit }) => {
      const entries = journals.get(deployment);
      if (entries === undefined) throw new ServiceError('deployment_not_found');
      return { entries: entries.slice(after, after + limit), head: entries.length };
    },
    'journal.headBefore': async ({ deployment, from, before }) => {
      const entries = journals.get(deployment) ?? [];
      const covered = entries.filter(({ executedAt }) => executedAt < before);
      const size = covered.length;
      const isOver = size < entries.length || now() > Date.parse(before);
      if (!isOver || size < from || untold.has(deployment)) return { head: null };
      const generation = 1 + covered.filter(({ kind }) => kind === 'tail_lost').length;
      const hashes = covered.map((entry) => entry.hash);
      return { head: { generation, size, rootHash: rootOf(hashes), entryHash: hashes.at(-1) ?? '' } };
    },
    'journal.heads': async () => ({
      heads: [...journals].map(([deployment, entries]) => ({
        deployment,
        seq: entries.length,
        hash: entries.at(-1)?.hash ?? '',
      })),
      next: null,
      until: new Date().toISOString(),
    }),
    'deployments.get': async ({ params: { address } }) =>
      tagged({
        ...{ ...RECORD, address },
        ...(forks.has(address) && { purpose: 'what_if' as const, isKept: false }),
      }),
    'history.get': async ({ params: { address, historyId } }) => {
      const entry = journals.get(address)?.find(({ id }) => id === historyId);
      if (entry === undefined) throw new ServiceError('history_entry_not_found');
      const seen = liveExecutionOf(entry);
      return { data: { ...seen, llm: null, payment: null, pushes: [], durationMs: 1 } };
    },
    'lifecycle.read': async ({ deployment }) => {
      const entries = journals.get(deployment);
      const last = entries?.at(-1);
      if (last === undefined) throw new ServiceError('deployment_not_found');
      if (bound === undefined) throw new ServiceError('unavailable');
      if (bound === 'never') return new Promise<never>(() => undefined);
      const ids = { bindingId: 1, versionId: 1, eventVersion: 1 };
      return {
        ...{
          deployment,
          worldId: 1,
          worldAddress: last.worldAddress,
          isPaused: false,
          bindings: bound.map((event) => ({ ...ids, event })),
        },
        isDeleted: last.kind === 'deleted',
        entries: lossesOf(entries ?? []),
        head: { seq: last.seq, hash: last.hash },
        afterHash: null,
        now: new Date().toISOString(),
      };
    },
    'deployments.relation': async ({ params: { address } }, { caller }) => {
      const isOwner = accountOf(caller) === OWNER;
      if (!journals.has(address) || (hidden.has(address) && !isOwner))
        throw new ServiceError('deployment_not_found');
      return { address, relation: isOwner ? ('owner' as const) : ('visible' as const) };
    },
  });

  function append(deployment: string, kind: JournalKind, parts: Partial<JournalFact>): JournalFact {
    const entries = journals.get(deployment) ?? [];
    journals.set(deployment, entries);
    const last = entries.at(-1);
    const entry = {
      v: 1 as const,
      deployment,
      id: crypto.randomUUID(),
      seq: entries.length + 1,
      kind,
      event: null,
      eventVersion: null,
      versionHash: null,
      trigger: null,
      caller: `account:${OWNER}`,
      status: null,
      input: {},
      changes: [],
      result: null,
      error: null,
      llmHash: null,
      attestation: null,
      paymentKey: null,
      executedAt: new Date().toISOString(),
      prevHash: last?.hash ?? canonicalHash({ deployment }),
      worldAddress: newAddress(),
      inputHash: canonicalHash({}),
      stateChanges: {},
      binding: null,
      ...parts,
    };
    const fact = { ...entry, hash: canonicalHash(entry as unknown as JsonObject) };
    entries.push(fact);
    return fact;
  }

  return {
    journals,
    hidden,
    /** What time it is for the runtime. */
    setClock: (clock: () => number) => {
      now = clock;
    },
    /** Deployments whose heads it does not tell. */
    untold,
    /** The events that deployments bind; undefined: it does not tell, and `never` not even that. */
    setBound: (events: typeof bound) => {
      bound = events;
    },
    /** Deployments that are what-if forks. */
    forks,
    /** Adds an entry without telling anyone. */
    append,
    createDeployment(): string {
      const deployment = newAddress();
      append(deployment, 'deployment_created', {});
      return deployment;
    },
    execute(
      deployment: string,
      { plan = null, status = 'succeeded', ...parts }: Execution = {},
    ): JournalFact {
      const names = {
        event: 'race',
        eventVersion: 1,
        trigger: 'admin' as const,
        versionHash: 'c'.repeat(64),
      };
      return append(deployment, 'execution', { ...names, status, binding: plan, ...parts });
    },
    /** A database that came back without the last entries, which no process remembers. */
    restoreTo(deployment: string, seq: number): void {
      journals.get(deployment)?.splice(seq);
    },
    /** A database that came back without the last entries. */
    loseAfter(deployment: string, seq: number): void {
      const entries = journals.get(deployment) ?? [];
      const lost = entries.at(-1);
      entries.splice(seq);
      append(deployment, 'tail_lost', { input: { seq: lost?.seq ?? 0, hash: lost?.hash ?? '' } });
    },
    /** Tells who listens where a journal ends. */
    tell: (deployment: string) =>
      bus.broadcast(journalHeads, { heads: [[deployment, journals.get(deployment)?.length ?? 0]] }),
    tellLifecycle: (deployment: string) => bus.broadcast(lifecycleChanged, { deployments: [deployment] }),
    publish: (entry: JournalFact) =>
      bus.publish(journalEntry, entry, { id: entry.id, orderingKey: entry.deployment }),
  };
}

const lossesOf = (entries: readonly JournalFact[]) =>
  entries.flatMap(({ seq, kind, executedAt: at }) =>
    kind === 'tail_lost' ? [{ seq, kind, events: [], cause: null, at }] : [],
  );

/** The root of the RFC 6962 tree over entries with these hashes. */
export function rootOf(hashes: readonly string[]): string {
  const node = (...parts: Uint8Array[]) => hash('sha256', Buffer.concat(parts), 'buffer');
  const over = (leaves: readonly Buffer[]): Buffer => {
    if (leaves.length === 1) return leaves[0] as Buffer;
    const left = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return node(Buffer.of(1), over(leaves.slice(0, left)), over(leaves.slice(left)));
  };
  return over(hashes.map((one) => node(Buffer.of(0), Buffer.from(one, 'hex')))).toString('hex');
}

export type FakeRuntime = Awaited<ReturnType<typeof startFakeRuntime>>;
