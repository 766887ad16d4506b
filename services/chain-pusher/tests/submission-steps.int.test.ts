import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import type { ChainPort, SendOutcome, SigningTerms } from '../src/core/chains/chain-port.js';
import type { Submission } from '../src/core/submissions/submission.js';
import { chainSignals } from '../src/sending/signals.js';
import { SubmissionSteps } from '../src/sending/submission-steps.js';
import { type ChainLease, holdLease } from '../src/store/chains/chain-lease.js';
import { submissionsUnderWay } from '../src/store/submissions/submission-store.js';
import { ownDatabase } from './own-database.js';
import { deadChain } from './running-pusher.js';

const { signal } = new AbortController();
const view = { nonce: 1, isTooExpensive: false, terms: {} };
const chain = 'local';
const deployment = `0x${'5a'.repeat(20)}`;

/** A chain that notes on which terms it signs, and answers what is sent as it is told. */
function chainDouble(answer: SendOutcome) {
  const signed: SigningTerms[] = [];
  const port = {
    signer: 'own',
    delays: { resendMs: 1, replaceMs: 1, retryMs: 0 },
    takesRepetitions: true,
    simulate: async () => null,
    sign: async (_batch: unknown, terms: SigningTerms) => {
      signed.push(terms);
      return { id: `t${signed.length}`, raw: '0x', terms: {} };
    },
    send: async () => answer,
  } as unknown as ChainPort;
  return { port, signed };
}

/** A lane with one push and an open submission of it, after this many failures. */
async function prepare(answer: SendOutcome, { failures = 0, signer = 'own', isNews = false } = {}) {
  const db = await ownDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const lane = { deployment, chain };
  await db
    .insertInto('lanes')
    .values({ ...lane, last_number: 1, sent_number: 1, failures })
    .execute();
  const { id } = await db
    .insertInto('attempts')
    .values({ ...lane, signer, nonce: 1, from_number: 1, to_number: 1 })
    .returning('id')
    .executeTakeFirstOrThrow();
  const push = { ...lane, number: 1, seq: 1, history_id: crypto.randomUUID(), attempt_id: id, error: null };
  await db
    .insertInto('pushes')
    .values({ ...push, entry_hash: 'e', digest: 'd', content: '{}', truncated: false })
    .execute();
  const lease = (await holdLease(db, chain, 'me', 60_000)) as ChainLease;
  const { port, signed } = chainDouble(answer);
  const doubts: string[] = [];
  const steps = new SubmissionSteps(
    {
      ...{ db, chain: deadChain.chain, port, owner: 'me', leaseTtlMs: 1000, consumer: 'c', logger },
      ...{ skipLost: async () => undefined, onChanged: () => undefined },
      ...{ clock: systemClock, signals: chainSignals() },
    },
    {
      isUsable: true,
      noteUnaffordable: async () => void doubts.push('chain'),
      noteTaken: () => isNews,
    },
    { compareAgain: (lost) => doubts.push(lost) },
  );
  const underWay = async (): Promise<Submission | undefined> =>
    (await submissionsUnderWay(db, chain, { limit: 10, watched: 0 }))[0];
  const stored = await underWay();
  if (stored === undefined) throw new Error('there is no submission');
  const sign = async () => (await steps.sign({ lease, signal }, stored, view)) as Submission;
  const error = async () => (await db.selectFrom('pushes').select('error').executeTakeFirstOrThrow()).error;
  return { db, steps, lease, sign, signed, doubts, underWay, error };
}

it('a push that failed is signed with more gas each time, up to five times as much', async () => {
  const factors: (number | undefined)[] = [];
  for (const failures of [0, 1, 2, 9]) {
    const { sign, signed } = await prepare({ kind: 'sent' }, { failures });
    await sign();
    factors.push(signed[0]?.gasFactor);
  }
  expect(factors).toEqual([1, 2, 3, 5]);
});

it('what the signer cannot pay for stays open, and the whole chain is checked again', async () => {
  const { steps, lease, sign, doubts, underWay, error } = await prepare({ kind: 'unaffordable' });
  await steps.send({ lease, signal }, await sign());
  expect(doubts).toEqual(['chain']);
  expect(await error()).toMatchObject({ code: 'chain_unavailable' });
  expect((await underWay())?.transactions[0]?.sentAgoMs).toEqual(expect.any(Number));
});

it.each<[SendOutcome, boolean]>([
  [{ kind: 'sent' }, true],
  [{ kind: 'underpriced' }, true],
  [{ kind: 'unaffordable' }, false],
  [{ kind: 'untaken', reason: 'no' }, false],
])('the fee of what is answered with %o is weighed: %s', async (answer, isWeighed) => {
  const { steps, lease, sign, underWay } = await prepare(answer);
  await steps.send({ lease, signal }, await sign());
  const weighed = (await underWay())?.transactions[0]?.weighedAgoMs;
  expect(typeof weighed === 'number').toBe(isWeighed);
});

it('what is taken after the signer could not pay for it has no problem any more', async () => {
  const { db, steps, lease, sign, error } = await prepare({ kind: 'sent' }, { isNews: true });
  const signed = await sign();
  await db
    .updateTable('pushes')
    .set({ error: { code: 'chain_unavailable', detail: 'no' } })
    .execute();
  await steps.send({ lease, signal }, signed);
  expect(await error()).toBeNull();
});

it.each<SendOutcome>([{ kind: 'unaffordable' }, { kind: 'underpriced' }, { kind: 'unclear', reason: 'no' }])(
  'what an earlier signer left and the chain does not take any more is over: %o',
  async (answer) => {
    const { steps, lease, sign, doubts, underWay } = await prepare(answer, { signer: 'earlier' });
    await steps.send({ lease, signal }, await sign());
    expect(doubts).toEqual([deployment]);
    expect(await underWay()).toBeUndefined();
  },
);
