import type { Divergence } from '@orrery/contracts';
import {
  type CheckedChange,
  createJudge,
  type Decision,
  type Exchange,
  foldChange,
  type InstanceName,
  isTooLargeToSearch,
  MAX_SEARCHED_BYTES,
  type Needs,
  type ReplayedSource,
  type Verdict,
} from '@orrery/deciding';
import { createInstanceMemory, type InstanceMemory, roughSize } from '../../state/instance-memory.js';
import { readRecent } from '../../state/read-recent.js';
import type { Db } from '../../tables/schema.js';
import { findDefinition } from '../definitions.js';
import { instancesThen } from '../lifetimes.js';
import { pastStates } from '../past-states.js';
import type { StoredEntry } from './fold-groups.js';
import { createSeedCheck, type SeedKnowledge } from './verify-seeds.js';

/** What the entries of a what-if fork repeat. */
export interface DecidedSource extends ReplayedSource {
  /** Its journal is in this database. */
  readonly isHere: boolean;
}

export interface DecidedDeployment {
  readonly id: number;
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  /** Of a clone, which may be a what-if fork. */
  readonly source?: DecidedSource | undefined;
  /** Who may read definitions: the owner, and everyone where they are public. */
  readonly isOwner: boolean;
  readonly isCodePublic: boolean;
}

/** Milliseconds of work until others have their turn. */
const TURN_MS = 5;
/** States in memory at once; then they are forgotten and read again. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Instances of one schema that a search may go through, and one more. */
const MOST_OF_SCHEMA = 10_001;
const FOLDED_AT_ONCE = 50;
/** A decision needs what it reads, then what it remembers, then what it changes: far fewer rounds than this. */
const MOST_ROUNDS = 50;

/**
 * Decides the executions of entries again, in order, on the instances as they were before each (docs/history.md
 * "Decisions"). Lifetimes have to be computed up to entry `until`, which is the last.
 */
export function createDecisionCheck(
  db: Db,
  deployment: DecidedDeployment,
  until: number,
  known: SeedKnowledge,
  signal: AbortSignal,
) {
  const seeds = createSeedCheck(db, deployment, known);
  const mayRead = deployment.isOwner || deployment.isCodePublic;
  let memory = createInstanceMemory();
  let nextId = 0;

  const idOf = () => ++nextId;
  /** Brings into memory what a decision needs, until it is one. */
  const decided = async <T extends Decision | undefined>(seq: number, decide: () => T): Promise<T> => {
    /** Schemas of which this decision has needed all instances: what is forgotten for one of them is loaded with it. */
    const whole = new Set<string>();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      signal.throwIfAborted();
      const decision = decide();
      if (decision?.kind !== 'needs') {
        if (decision && 'error' in decision && isTooLargeToSearch(decision.error))
          memory = createInstanceMemory();
        return decision;
      }
      const needs: Needs = decision;
      for (const schema of [...needs.schemas, ...(needs.searched ?? [])]) whole.add(schema);
      // All instances of a schema are learnt in the order of their creation, so before any alone.
      const isWhole = needs.schemas.length > 0 || needs.searched !== undefined;
      if (isWhole) memory = createInstanceMemory();
      const wanted = isWhole ? { ...needs, schemas: [...whole] } : needs;
      await load(db, deployment.id, memory, wanted, seq - 1, idOf);
    }
    throw new Error(`entry ${seq} still needs what was brought into memory ${MOST_ROUNDS} times`);
  };
  const { counts, judge } = createJudge({
    ...deployment,
    definitionOf: async (hash) => (mayRead ? findDefinition(db, deployment.worldId, hash) : undefined),
    exchangeOf: ({ seq }) => findExchange(db, deployment.id, seq),
    decideOn: ({ seq }, decide) => decided(seq, () => decide(memory)),
    remembersSource: deployment.source?.isHere !== false,
  });
  const check = async ({ entry }: StoredEntry): Promise<Verdict> => {
    if (entry.kind !== 'execution') return undefined;
    if (entry.randomness !== undefined) counts.seeds = seeds.counts;
    return (await seeds.differs(entry)) ? 'draws_differ' : judge(entry);
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
        const what = await check(one);
        if (what !== undefined) return { seq: one.entry.seq, what };
        follow(one);
        if (performance.now() - since < TURN_MS) continue;
        await new Promise(setImmediate);
        since = performance.now();
      }
      return undefined;
    },
  };
}

/** What a model was asked and answered for an entry, with its texts. */
async function findExchange(db: Db, deploymentId: number, seq: number): Promise<Exchange | undefined> {
  const row = await db
    .selectFrom('journal')
    .select('llm')
    .where('deployment_id', '=', deploymentId)
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row?.llm ?? undefined;
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
    let bytes = 0;
    for (let first = 0; first < names.length && bytes <= MAX_SEARCHED_BYTES; first += FOLDED_AT_ONCE) {
      const part = await statesOf(db, deploymentId, names.slice(first, first + FOLDED_AT_ONCE), seq, idOf);
      for (const [{ instanceId }, instance] of part) {
        if (instance === null) continue;
        found.set(instanceId, instance);
        bytes += roughSize(instance.state);
      }
    }
    memory.learnAll(schema, found, MOST_OF_SCHEMA - 1, Math.max(0, bytes - MAX_SEARCHED_BYTES));
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
