import { canonicalHash } from '@orrery/contracts';
import { direct, PATH_EXAMPLES, wallet } from './examples.js';

const { address: deployment, historyId = '', instanceId = '', chain } = PATH_EXAMPLES;

/** A time of the morning on which all of it happened. */
export const at = (minuteAndSecond: string) => `2026-11-21T09:${minuteAndSecond}.000Z`;

export const times = { createdAt: at('30:00'), updatedAt: at('30:00') };

export const versionHash = canonicalHash(direct);

const input = { winner: instanceId };
const stateChanges = { [`horse:${instanceId}`]: { wins: 4 } };
/** The members that the hash of an entry covers. */
export const hashed = {
  v: 2,
  deployment: deployment ?? '',
  id: historyId,
  seq: 5,
  kind: 'execution',
  event: 'race-result',
  eventVersion: 1,
  versionHash,
  trigger: 'admin',
  caller: 'account:1',
  status: 'succeeded',
  input,
  changes: [{ entitySchema: 'horse', instanceId, op: 'update', set: { wins: 4 }, unset: [], revision: 2 }],
  result: input,
  error: null,
  llmHash: null,
  attestation: null,
  paymentKey: null,
  executedAt: at('31:00'),
  prevHash: canonicalHash({ seq: 4 }),
  decidedAt: at('31:00'),
  evaluator: 2,
};
export const entry = { ...hashed, hash: canonicalHash(hashed), stateChanges };
export const decided = {
  event: 'race-result',
  eventVersion: 1,
  stateChanges,
  result: input,
  attestation: null,
};
export const answer = {
  kind: 'committed',
  historyId,
  seq: entry.seq,
  ...decided,
  pushes: [{ chain, status: 'queued' }],
};

const transaction = `0x${'7e'.repeat(32)}`;
export const pushed = {
  chain,
  number: 1,
  status: 'confirmed',
  transaction,
  block: 34_210_771,
  explorerUrl: `https://sepolia.basescan.org/tx/${transaction}`,
  error: null,
};
export const digest = canonicalHash({ ...decided, v: 1, number: 1, historyId, entryHash: entry.hash });

export const asset = {
  decimals: 6,
  network: 'base-sepolia',
  asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
};
const payer = `0x${'3c'.repeat(20)}`;
export const payment = {
  paymentKey: `eip155:84532/${asset.asset}/${payer}/0x${'91'.repeat(32)}`,
  amount: '50000',
  ...asset,
  payTo: `0x${'2b'.repeat(20)}`,
  payer,
  status: 'settled',
  transaction: `0x${'8d'.repeat(32)}`,
  event: 'race-result',
  wallet,
  inputHash: canonicalHash(input),
  seq: 6,
  reason: null,
  createdAt: at('32:00'),
  updatedAt: at('32:02'),
};

export const shown = { ...entry, llm: null, payment: null, pushes: [pushed], durationMs: 1.4 };
