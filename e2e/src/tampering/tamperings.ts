import { createHash, createHmac } from 'node:crypto';
import {
  canonicalHash,
  EVALUATOR,
  type HashedEntry,
  type HistoryEntry,
  type KeptDefinition,
} from '@orrery/contracts';
import { commitmentOf, hashOfDefinition, QUICKNET_HASH, seedOf } from '@orrery/deciding';
import type { Client } from 'pg';
import { rewriteChain } from './rewrite-chain.js';
import type { Story } from './tampered-world.js';

interface Tampered {
  readonly client: Client;
  readonly story: Story;
  /** As it was before. */
  readonly journal: readonly HistoryEntry[];
}

type Tampering = (tampered: Tampered) => Promise<unknown>;

/** Statements for one deployment, `$1`, each of which changes something. */
const sql =
  (...statements: readonly string[]): Tampering =>
  async ({ client, story }) => {
    for (const statement of statements) await change(client, statement, [story.id]);
  };

/** A tampering that changes no row would prove nothing. */
async function change(client: Client, statement: string, values: readonly unknown[]): Promise<void> {
  const { rowCount } = await client.query(statement, [...values]);
  if (rowCount === 0) throw new RangeError(`no row is changed by ${statement}`);
}

const journal = (set: string, where: string): string =>
  `update runtime.journal set ${set} where deployment_id = $1 and ${where}`;
const LAST = 'seq = (select max(seq) from runtime.journal where deployment_id = $1)';
const FIRST_WIN = `seq = (select min(seq) from runtime.journal where deployment_id = $1 and event = 'win')`;
const FAILED = `status = 'failed'`;
const removeLast = `delete from runtime.journal where deployment_id = $1 and ${LAST}`;
const headBack = `update runtime.journal_heads h set seq = j.seq, hash = j.hash,
    totals = jsonb_set(h.totals, '{entries}', to_jsonb(j.seq))
  from (select seq, hash from runtime.journal where deployment_id = $1 order by seq desc limit 1) j
  where h.deployment_id = $1`;
const instance = (set: string, id: string): string =>
  `update runtime.instances set ${set} where deployment_id = $1 and instance_id = '${id}'`;
const kept = (set: string, where: string): string =>
  `update runtime.kept_states set ${set} where deployment_id = $1 and ${where}`;
const wins = (n: number) => `state = jsonb_set(state, '{wins}', '${n}')`;
/** Exchanges columns of two entries in the middle. */
const swap = (columns: string): string =>
  `update runtime.journal a set (${columns}) = (select ${columns} from runtime.journal b
     where b.deployment_id = $1 and b.seq = case a.seq when 20 then 21 else 20 end)
   where a.deployment_id = $1 and a.seq in (20, 21)`;

/** What was tried on the first release, one change in PostgreSQL each. */
export const OF_ROWS: Readonly<Record<string, Tampering>> = {
  'changed input': sql(journal(`input = '{"horse": "COLD"}'`, FIRST_WIN)),
  'changed result': sql(journal(`result = '{"headline": "COLD wins", "count": 1}'`, FIRST_WIN)),
  'changed changes': sql(journal(`changes = jsonb_set(changes, '{0,set,wins}', '7')`, FIRST_WIN)),
  'changed error': sql(journal(`error = error || '{"detail": "other"}'`, FAILED)),
  'changed caller': sql(journal(`caller = 'account:999'`, FIRST_WIN)),
  'changed time by 1 ms': sql(journal(`executed_at = executed_at + interval '1 ms'`, FIRST_WIN)),
  'changed time by 1 µs': sql(
    journal(`executed_at = date_trunc('milliseconds', executed_at) + interval '1 us'`, FIRST_WIN),
  ),
  'failed turned succeeded': sql(journal(`status = 'succeeded', error = null`, FAILED)),
  'changed result in number spelling only': sql(
    journal(`result = '{"headline": "HOT wins", "count": 1.0}'`, FIRST_WIN),
  ),
  'removed last entry': sql(removeLast),
  'removed last entries, head set back': sql(...Array(12).fill(removeLast), headBack),
  'removed last entry, head set back, index row too': sql(
    `delete from runtime.instance_changes where deployment_id = $1 and ${LAST}`,
    removeLast,
    headBack,
  ),
  'removed middle entry': sql('delete from runtime.journal where deployment_id = $1 and seq = 20'),
  'removed middle, later ones renumbered': sql(
    'delete from runtime.journal where deployment_id = $1 and seq = 20',
    journal('seq = -seq', 'seq > 20'),
    journal('seq = -seq - 1', 'seq < 0'),
    headBack,
  ),
  'changed instance row': sql(instance(wins(7), 'HOT')),
  'changed instance row that no execution touched': sql(instance(`state = '{"odds": 0.9}'`, 'COLD')),
  'changed revision of an instance': sql(instance('revision = revision + 1', 'COLD')),
  'removed instance row': sql(
    `delete from runtime.instances where deployment_id = $1 and instance_id = 'COLD'`,
  ),
  'added instance row': sql(
    `insert into runtime.instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
     select (select max(id) + 1000000 from runtime.instances), deployment_id, entity_schema, 'NEW', state, 1, created_at, updated_at
     from runtime.instances where deployment_id = $1 and instance_id = 'COLD'`,
  ),
  'changed kept state': sql(kept(wins(7), `instance_id = 'HOT'`)),
  'removed kept state': sql(
    `delete from runtime.kept_states where deployment_id = $1 and instance_id = 'HOT'`,
  ),
  'swapped entries': sql(
    journal('seq = case seq when 20 then -21 else -20 end', 'seq in (20, 21)'),
    journal('seq = -seq', 'seq < 0'),
  ),
  'swapped contents (ids, hashes stay)': sql(
    journal(`input = '{"horse": "COLD"}'`, 'seq = 21'),
    swap('input, changes, result'),
  ),
  'changed head hash': sql(
    `update runtime.journal_heads set hash = repeat('f', 64) where deployment_id = $1`,
  ),
  'removed index row of HOT': sql(
    `delete from runtime.instance_changes where deployment_id = $1 and instance_id = 'HOT' and seq = 20`,
  ),
  'removed last index row of HOT': sql(
    `delete from runtime.instance_changes where deployment_id = $1 and instance_id = 'HOT' and ${LAST}`,
  ),
};

/** The same of a clone. */
export const OF_CLONES: Readonly<Record<string, Tampering>> = {
  'clone: changed kept state of an instance that changed': sql(
    kept(wins(7), `instance_id = 'HOT' and seq = 0`),
  ),
  'clone: changed kept state of an unchanged instance': sql(
    kept(`state = '{"odds": 0.9}'`, `instance_id = 'COLD' and seq = 0`),
  ),
  'clone: changed unchanged instance row': sql(instance(`state = '{"odds": 0.9}'`, 'COLD')),
  'clone: changed both, instance row and kept state': sql(
    instance(`state = '{"odds": 0.9}'`, 'COLD'),
    kept(`state = '{"odds": 0.9}'`, `instance_id = 'COLD' and seq = 0`),
  ),
  'clone: changed source.seq': sql(
    `update runtime.deployments set source = jsonb_set(source, '{seq}', '20') where id = $1`,
  ),
};

const byEvent = (event: string) => (entry: HistoryEntry) => entry.event === event;
/** The last execution of an event is rewritten, with all hashes after it. */
const rewritten =
  (event: string, change: (entry: HistoryEntry) => Partial<HistoryEntry>): Tampering =>
  ({ client, story, journal: before }) => {
    const last = before.findLast(byEvent(event));
    if (last === undefined) throw new RangeError(`nothing executed ${event}`);
    return rewriteChain(client, story.id, before, (entry) => (entry === last ? change(last) : undefined));
  };

/** Changes what is kept of the definition of an event, in the world of the deployment. */
const definition =
  (event: string, set: (kept: KeptDefinition) => KeptDefinition | undefined): Tampering =>
  async ({ client, story, journal: before }) => {
    const where = 'where hash = $1 and world_id = (select world_id from runtime.deployments where id = $2)';
    const which = [before.findLast(byEvent(event))?.versionHash, story.id];
    const { rows } = await client.query(`select definition from runtime.definitions ${where}`, which);
    const changed = set(rows[0].definition);
    if (changed === undefined) await change(client, `delete from runtime.definitions ${where}`, which);
    else
      await change(client, `update runtime.definitions set definition = $3 ${where}`, [
        ...which,
        JSON.stringify(changed),
      ]);
  };

const templated =
  (result: object) =>
  (kept: KeptDefinition): KeptDefinition => ({
    ...kept,
    mutationSettings: { mode: 'direct', template: { result } } as KeptDefinition['mutationSettings'],
  });

/** Tamperings with definitions, decisions and the revision of the rules, by who can compute every hash anew. */
export const OF_DECISIONS: Readonly<Record<string, Tampering>> = {
  'changed template of a kept definition': definition('clock', templated({ at: 'never' })),
  'removed definition': definition('clock', () => undefined),
  'changed schema in a kept definition': definition('win', (kept) => ({
    ...kept,
    schemas: { ...kept.schemas, horse: { ...kept.schemas['horse'], attributes: [] } as never },
  })),
  'changed guards of a kept definition': definition('win', (kept) => ({
    ...kept,
    guards: { create: false },
  })),
  'changed definition, named by its new hash': definition('clock', (kept) => {
    const other = templated({ at: 'never' })(kept);
    return { ...other, versionHash: hashOfDefinition(other) };
  }),
  'another result, all hashes new': rewritten('leaders', () => ({ result: { leaders: ['COLD'] } })),
  'another time of the decision, all hashes new': rewritten('clock', () => ({
    decidedAt: '2026-01-01T00:00:00.000Z',
  })),
  'another failure, all hashes new': rewritten('fails', ({ error }) => ({
    error: { ...error, code: 'invalid_state', detail: '' },
  })),
  'another timer, all hashes new': rewritten('later', ({ timers = [] }) => ({
    timers: timers.map((timer) => ({ ...timer, dueAt: '2036-01-01T00:00:00.000Z' })),
  })),
  'another revision of the rules, all hashes new': rewritten('leaders', () => ({
    evaluator: EVALUATOR + 1,
  })),
  'another definition named, all hashes new': ({ client, story, journal: before }) => {
    const other = before.findLast(byEvent('leaders'))?.versionHash ?? null;
    const last = before.findLast(byEvent('clock'))?.seq;
    return rewriteChain(client, story.id, before, ({ seq }) =>
      seq === last ? { versionHash: other } : undefined,
    );
  },
  'changes and instance rewritten alike, all hashes new': async (tampered) => {
    await rewritten('win', ({ changes }) => ({
      changes: changes.map((change) => ({ ...change, set: { wins: 500 } })),
    }))(tampered);
    await sql(instance(wins(500), 'HOT'))(tampered);
  },
  'an honest other history, all hashes new': async ({ client, story, journal: before }) => {
    const first = before.find(byEvent('win'))?.seq;
    await rewriteChain(client, story.id, before, ({ seq }) =>
      seq === first ? { caller: 'account:999' } : undefined,
    );
  },
  'changed answer of a model': sql(journal(`llm = jsonb_set(llm, '{response}', '"{}"')`, `event = 'judged'`)),
  'changed answer of a model, all hashes new': async (tampered) => {
    await sql(
      journal(
        `llm = jsonb_set(llm, '{response}', '"{\\"result\\": {\\"verdict\\": \\"other\\"}}"')`,
        `event = 'judged'`,
      ),
    )(tampered);
    await rewritten('judged', () => ({ llmHash: 'e'.repeat(64) }))(tampered);
  },
};

/** What somebody who tampers would like to have drawn from. */
const CHOSEN = createHash('sha256').update('chosen').digest();
const chosenSeed = CHOSEN.toString('hex');
/** What `random.int(1, 6)` draws first. */
const dieOf = (seed: string): number =>
  Number(
    createHmac('sha256', Buffer.from(seed, 'hex')).update(Buffer.alloc(8)).digest().readBigUInt64BE() % 6n,
  ) + 1;
const drawnFrom = (randomness: HistoryEntry['randomness']): Partial<HashedEntry> => ({
  randomness,
  result: { die: dieOf(randomness?.seed ?? '') },
});

/** Entries are changed wherever `change` answers something. */
const rewrittenAll =
  (change: (entry: HistoryEntry) => Partial<HashedEntry> | undefined): Tampering =>
  ({ client, story, journal: before }) =>
    rewriteChain(client, story.id, before, change);

/** All of it as if another secret had been committed to. */
function ofChosenSecret({ kind, input, randomness }: HistoryEntry): Partial<HashedEntry> | undefined {
  const commitment = commitmentOf(CHOSEN);
  if (kind === 'randomness_committed') return { input: { commitment } };
  if (kind === 'randomness_revealed') return { input: { secrets: [{ commitment, secret: chosenSeed }] } };
  if (randomness === undefined) return undefined;
  const seed = seedOf(CHOSEN, randomness.run ?? '', canonicalHash(input));
  return drawnFrom({ ...randomness, commitment, seed });
}

/** Tamperings with random numbers, by who can compute every hash anew. */
export const OF_DRAWS: Readonly<Record<string, Tampering>> = {
  'another number, all hashes new': rewritten('dice', ({ randomness }) => ({
    result: { die: (dieOf(randomness?.seed ?? '') % 6) + 1 },
  })),
  'another seed and its number, all hashes new': rewritten('dice', ({ randomness }) =>
    drawnFrom(randomness && { ...randomness, seed: chosenSeed }),
  ),
  'another run of a draw, all hashes new': rewritten('dice', ({ randomness }) => ({
    randomness: randomness && { ...randomness, run: '019a9c3e-5d00-7c3a-9b1e-2f4d6a8c0e12' },
  })),
  'another input of a draw, all hashes new': rewritten('dice', () => ({ input: { of: 'D' } })),
  'a commitment that is none, all hashes new': rewritten('dice', ({ randomness }) =>
    drawnFrom(randomness && { ...randomness, commitment: commitmentOf(CHOSEN), seed: chosenSeed }),
  ),
  'a draw said to be of a beacon, all hashes new': rewritten('dice', ({ randomness }) => {
    const beacon = { chain: QUICKNET_HASH, round: 20_000_000, signature: 'ab'.repeat(48) };
    return drawnFrom({ source: 'drand', run: randomness?.run ?? '', seed: chosenSeed, ...beacon });
  }),
  'a draw said to be replayed, all hashes new': rewritten('dice', () =>
    drawnFrom({ source: 'replayed', seed: chosenSeed }),
  ),
  'a draw that says nothing of its seed, all hashes new': rewritten('dice', () => ({
    randomness: undefined,
  })),
  'another secret told, all hashes new': rewrittenAll(({ kind, input }) => {
    if (kind !== 'randomness_revealed') return undefined;
    const { secrets } = input as { secrets: { commitment: string }[] };
    return { input: { secrets: secrets.map((one) => ({ ...one, secret: chosenSeed })) } };
  }),
  'another secret from its commitment on, all hashes new': rewrittenAll(ofChosenSecret),
};

const execution = (entry: HistoryEntry) => entry.kind === 'execution';
const forgetTree = sql(
  'delete from runtime.merkle_nodes where deployment_id = $1',
  'delete from runtime.merkle_heads where deployment_id = $1',
);
const otherCaller = rewrittenAll(({ seq, event }) =>
  seq < 20 && event === 'win' ? { caller: 'account:999' } : undefined,
);

/** Tamperings with the revision of the rules, and with what checkpoints are made of, in a journal that has a stored tree. */
export const OF_CHECKPOINTS: Readonly<Record<string, Tampering>> = {
  'another revision of the rules from the first on, all hashes new': rewrittenAll((entry) =>
    execution(entry) ? { evaluator: 1 } : undefined,
  ),
  'an entry of the first version, all hashes new': rewritten('leaders', () => ({
    v: 1,
    decidedAt: undefined,
    evaluator: undefined,
  })),
  'changed node of the tree': sql(
    `update runtime.merkle_nodes set node = decode(repeat('ab', 32), 'hex') where deployment_id = $1`,
  ),
  'removed nodes of the tree': sql('delete from runtime.merkle_nodes where deployment_id = $1'),
  'forgotten tree': forgetTree,
  'another history, all hashes new': otherCaller,
  'another history, all hashes and the tree new': async (tampered) => {
    await otherCaller(tampered);
    await forgetTree(tampered);
  },
  'another generation without a loss': sql(
    'update runtime.merkle_heads set generation = 2 where deployment_id = $1',
  ),
  'a loss of entries that was none, all hashes new': rewrittenAll(({ event }) =>
    event === 'clock'
      ? {
          ...{ kind: 'tail_lost', event: null, eventVersion: null, versionHash: null, trigger: null },
          ...{ status: null, result: null, input: { seq: 900, hash: 'f'.repeat(64) } },
        }
      : undefined,
  ),
};
