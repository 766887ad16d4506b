import type { Divergence, KeptDefinition, NotRerun } from '@orrery/contracts';
import type { CompiledDefinition, Needs } from '../../../core/deciding/execution.js';
import {
  agrees,
  compileKept,
  notRerunnable,
  type ReplayedSource,
  rerun,
} from '../../../core/deciding/rerun.js';
import { type CheckedChange, foldChange, type InstanceName } from '../../../core/entries/entry.js';
import { type BeaconChain, isSeedOfRound } from '../../../core/randomness/beacon.js';
import { isSeedOf, type RandomnessKeys } from '../../../core/randomness/seed.js';
import { createInstanceMemory, type InstanceMemory } from '../../state/instance-memory.js';
import { readRecent } from '../../state/read-recent.js';
import type { Db } from '../../tables/schema.js';
import { findDefinition } from '../definitions.js';
import { instancesThen } from '../lifetimes.js';
import { pastStates } from '../past-states.js';
import type { StoredEntry } from './fold-groups.js';
import { readSecrets } from './read-secrets.js';

export interface DecidedDeployment {
  readonly id: number;
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  /** Of a what-if fork: what its entries repeat. */
  readonly source?: ReplayedSource | undefined;
}

/** What became of the executions of a range. */
export interface DecisionCounts {
  rerun: number;
  notRerun: Partial<Record<NotRerun, number>>;
}

/** Milliseconds of work until others have their turn. */
const TURN_MS = 5;
/** States in memory at once; then they are forgotten and read again. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Instances of one schema that a search may go through, and one more. */
const MOST_OF_SCHEMA = 10_001;
const FOLDED_AT_ONCE = 50;

/**
 * Decides the executions of entries again, in order, on the instances as they were before each (docs/history.md
 * "Decisions"). Lifetimes have to be computed up to entry `until`, which is the last.
 */
export function createDecisionCheck(
  db: Db,
  deployment: DecidedDeployment,
  until: number,
  {
    keys,
    beacon,
  }: { readonly keys: RandomnessKeys; readonly beacon: () => Promise<BeaconChain | undefined> },
) {
  const counts: DecisionCounts = { rerun: 0, notRerun: {} };
  const definitions = new Map<string, Found>();
  let memory = createInstanceMemory();
  let nextId = 0;

  const definitionOf = async (hash: string): Promise<Found> => {
    const known = definitions.get(hash);
    if (known !== undefined) return known;
    const kept = await findDefinition(db, deployment.worldId, hash);
    const found = { kept, compiled: kept && compileKept(kept) };
    definitions.set(hash, found);
    return found;
  };
  let known: Awaited<ReturnType<typeof readSecrets>> | undefined;
  /** Whether the seed is none that the secret gives which the journal has committed to. */
  const drawsDiffer = async (entry: StoredEntry['entry']) => {
    if (entry.randomness?.source === 'drand') {
      const chain = await beacon();
      // Of another chain, or one that cannot be asked, nothing is known.
      return chain !== undefined && entry.randomness.chain === chain.hash && !isSeedOfRound(chain, entry);
    }
    if (entry.randomness?.source !== 'deployment') return false;
    known ??= await readSecrets(db, deployment, keys);
    return !isSeedOf(known, entry);
  };
  const idOf = () => ++nextId;
  const decide = async ({ entry }: StoredEntry, definition: CompiledDefinition) => {
    for (;;) {
      const decision = rerun(entry, definition, deployment, memory);
      if (decision.kind !== 'needs') return decision;
      // All instances of a schema are learnt in the order of their creation, so before any alone.
      if (decision.schemas.length > 0 || decision.searched !== undefined) memory = createInstanceMemory();
      await load(db, deployment.id, memory, decision, entry.seq - 1, idOf);
    }
  };
  const check = async (stored: StoredEntry): Promise<Divergence | undefined> => {
    const { entry } = stored;
    if (entry.kind !== 'execution') return undefined;
    if (await drawsDiffer(entry)) return { seq: entry.seq, what: 'draws_differ' };
    const { kept, compiled } = await definitionOf(entry.versionHash ?? '');
    const reason = notRerunnable(entry, kept);
    if (reason !== undefined || compiled === undefined) {
      const why = reason ?? 'no_definition';
      counts.notRerun[why] = (counts.notRerun[why] ?? 0) + 1;
      return undefined;
    }
    counts.rerun += 1;
    return agrees(entry, await decide(stored, compiled))
      ? undefined
      : { seq: entry.seq, what: 'decision_differs' };
  };
  const follow = ({ entry }: StoredEntry) => {
    memory.recent.add(entry);
    for (const change of entry.changes) {
      const before = memory.get(change.entitySchema, change.instanceId);
      // What is not in memory is read when it is needed, as it is then.
      if (before === undefined && change.op !== 'create') continue;
      const state = foldChange(before?.state ?? null, change);
      const id = change.op === 'create' ? idOf() : undefined;
      memory.apply({ ...change, state } as CheckedChange, new Date(0), id);
    }
    if (memory.bytes() > MOST_BYTES) memory = createInstanceMemory();
  };

  return {
    until,
    counts,
    /** The first of these entries, in order, whose execution decides otherwise. They fold. */
    check: async (entries: readonly StoredEntry[]): Promise<Divergence | undefined> => {
      let since = performance.now();
      for (const one of entries) {
        const divergence = await check(one);
        if (divergence !== undefined) return divergence;
        follow(one);
        if (performance.now() - since < TURN_MS) continue;
        await new Promise(setImmediate);
        since = performance.now();
      }
      return undefined;
    },
  };
}

/** A definition as it is kept and as it runs; both undefined: none is kept. */
interface Found {
  readonly kept: KeptDefinition | undefined;
  readonly compiled: CompiledDefinition | undefined;
}

/** Brings into memory what a decision needs, as it was after entry `seq`. */
async function load(
  db: Db,
  deploymentId: number,
  memory: InstanceMemory,
  { instances, schemas, searched = [], history }: Needs,
  seq: number,
  idOf: () => number,
): Promise<void> {
  if (history !== undefined) {
    memory.recent.start(seq);
    memory.recent.learn(history, seq, (await readRecent(db, deploymentId, history, seq)).entries);
  }
  for (const schema of new Set([...schemas, ...searched])) {
    const page = { page: 1, limit: MOST_OF_SCHEMA };
    const { names } = await instancesThen(db, deploymentId, seq, schema, page);
    const found = new Map<string, NonNullable<Loaded>>();
    for (let first = 0; first < names.length; first += FOLDED_AT_ONCE) {
      const part = await statesOf(db, deploymentId, names.slice(first, first + FOLDED_AT_ONCE), seq, idOf);
      for (const [{ instanceId }, instance] of part) if (instance !== null) found.set(instanceId, instance);
    }
    memory.learnAll(schema, found, MOST_OF_SCHEMA - 1);
  }
  for (let first = 0; first < instances.length; first += FOLDED_AT_ONCE) {
    const names = instances.slice(first, first + FOLDED_AT_ONCE);
    for (const [name, instance] of await statesOf(db, deploymentId, names, seq, idOf))
      memory.learn(name.entitySchema, name.instanceId, instance);
  }
}

type Loaded = Parameters<InstanceMemory['learn']>[2];

async function statesOf(
  db: Db,
  deploymentId: number,
  names: readonly InstanceName[],
  seq: number,
  idOf: () => number,
): Promise<[InstanceName, Loaded][]> {
  const states = await pastStates(db, deploymentId, names, seq);
  const at = new Date(0);
  return names.map((name, index) => {
    const past = states[index];
    const loaded = past && {
      state: past.state,
      revision: past.revision,
      id: idOf(),
      createdAt: at,
      updatedAt: at,
    };
    return [name, loaded ?? null];
  });
}
