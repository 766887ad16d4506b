import { openChainPusherDatabase } from '@orrery/chain-pusher/operator';
import { transaction } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { onTestFinished } from 'vitest';
import type { ChainPort } from '../src/core/chains/chain-port.js';
import type { Batch } from '../src/core/pushes/batch.js';
import { startSending } from '../src/sending/start-sending.js';
import { type AdoptOutcome, adoptLane, requestAdoption } from '../src/store/lanes/adopt-lane.js';
import type { Db } from '../src/store/tables/schema.js';
import { deadChain } from './running-pusher.js';

const chain = deadChain.chain.name;

/** The tables of a chain-pusher, and senders to a chain that is a double. `lines`: what they log. */
export async function prepareSending() {
  const { url: databaseUrl } = await createTestDatabase();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const { db, close } = await openChainPusherDatabase({ databaseUrl, logger, maxConnections: 10 });
  onTestFinished(() => close());
  const start = async (port: ChainPort, { owner = 'me', leaseTtlMs = 10_000, clock = systemClock } = {}) => {
    const sending = await startSending({
      ...{ db, chains: [deadChain], portOf: async () => port, owner, leaseTtlMs, pollMs: 20 },
      ...{ consumer: 'c', skipLost: async () => undefined, onChanged: () => undefined },
      ...{ clock, logger },
    });
    onTestFinished(() => sending.stop());
  };
  return { databaseUrl, db, lines, lane: laneIn(db), start };
}

/** Makes a lane with this many pushes, of which none has been sent. */
const laneIn =
  (db: Db) =>
  async (deployment: string, last: number, content = '{}'): Promise<string> => {
    await db.insertInto('lanes').values({ deployment, chain, last_number: last }).execute();
    for (let number = 1; number <= last; number += 1) {
      const push = { deployment, chain, number, seq: number, history_id: crypto.randomUUID() };
      const rest = { entry_hash: 'e', digest: String(number), content, truncated: false, error: null };
      await db
        .insertInto('pushes')
        .values({ ...push, ...rest })
        .execute();
    }
    return deployment;
  };

/** Asks for an adoption and does its first parts, all of them unless a number is given. Resolves with what the last one says. */
export async function adoptParts(
  db: Db,
  deployment: string,
  chainLast: number,
  parts = 1000,
): Promise<AdoptOutcome> {
  await requestAdoption(db, deployment, chain);
  return moreParts(db, deployment, chainLast, parts);
}

/** Goes on with an adoption, as another process would. */
export async function moreParts(
  db: Db,
  deployment: string,
  chainLast: number,
  parts = 1000,
): Promise<AdoptOutcome> {
  let outcome: AdoptOutcome = 'more';
  const options = { consumer: 'c', chainLast };
  for (let part = 0; part < parts && outcome === 'more'; part += 1)
    outcome = await transaction(db, (trx) => adoptLane(trx, { deployment, chain }, options));
  return outcome;
}

/** A chain that includes at once what is sent. Each call takes `callMs` milliseconds. */
export function chainDouble({ callMs = 0, ...more }: Partial<ChainPort> & { callMs?: number } = {}) {
  const pushed: Batch[] = [];
  const signed = new Map<string, Batch>();
  const included: string[] = [];
  const after = async <T>(signal: AbortSignal, answer: () => T): Promise<T> => {
    await systemClock.sleep(callMs, signal);
    return answer();
  };
  const port: ChainPort = {
    signer: 'own',
    delays: { resendMs: 1000, replaceMs: 10_000, retryMs: 20 },
    takesRepetitions: true,
    check: (signal) => after(signal, () => ({ reason: null, balance: 1 })),
    view: (signal) => after(signal, () => ({ nonce: included.length, isTooExpensive: false, terms: {} })),
    countOf: (_signer, signal) => after(signal, () => null),
    recorded: (_deployment, _after, signal) => after(signal, () => []),
    lastNumber: (_deployment, signal) => after(signal, () => 0),
    simulate: (_batch, signal) => after(signal, () => null),
    sign: (batch, _terms, signal) =>
      after(signal, () => {
        const id = `t${signed.size}`;
        signed.set(id, batch);
        return { id, raw: '0x', terms: {} };
      }),
    send: ({ id }, signal) =>
      after(signal, () => {
        const batch = signed.get(id);
        if (batch !== undefined) pushed.push(batch);
        included.push(id);
        return { kind: 'sent' as const };
      }),
    find: (transactions, _view, signal) =>
      after(signal, () =>
        transactions.flatMap(({ id }) => {
          const block = included.indexOf(id);
          return block < 0 ? [] : [{ id, block, blockId: id, failure: null, depth: 'confirmed' as const }];
        }),
      ),
    isOver: () => false,
    ...more,
  };
  return { port, pushed };
}
