import type { SolanaChainConfig } from '@orrery/contracts';
import type {
  ChainCheck,
  ChainPort,
  ChainView,
  Delays,
  Inclusion,
  SendOutcome,
} from '../../core/chains/chain-port.js';
import { ServersAway } from '../../core/chains/chain-port.js';
import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';
import { countFrom, createRpc, RpcFailure } from '../rpc/json-rpc.js';
import { memoOf } from './memo.js';
import { createMemoIndex, type MentionedIn } from './memo-index.js';
import { type Lifetime, memoSignedBy, signerOf, signMemo } from './solana-transaction.js';

/** A transaction is never replaced: its bytes are sent again until its blockhash is too old. */
const DELAYS: Delays = { resendMs: 4000, replaceMs: Number.POSITIVE_INFINITY, retryMs: 1000 };
/** Lamports of one signature, for the check of the balance. */
const FEE = 5000;
/** Compute units that a memo of the largest size may take, for its simulation. */
const MOST_UNITS = 400_000;
const LAMPORTS = 1e9;
/** Signatures that servers take in one question. */
const STATUSES = 256;

interface Status {
  readonly slot: number;
  readonly err: unknown;
  readonly confirmationStatus: 'processed' | 'confirmed' | 'finalized' | null;
}

/** A Solana chain: each batch is one memo (docs/on-chain.md). */
export async function createSolanaChain(
  config: SolanaChainConfig,
  signerKey: string,
  delays: Delays = DELAYS,
): Promise<ChainPort> {
  const signer = await signerOf(signerKey);
  const rpc = createRpc(config.rpcUrls);
  const { program } = config;

  const ask = async <T>(signal: AbortSignal, method: string, ...params: unknown[]): Promise<T> => {
    const [answer] = await rpc([{ method, params }], signal);
    if (answer instanceof RpcFailure) throw answer;
    return answer as T;
  };
  const memos = createMemoIndex({
    list: (range, signal) => {
      const options = { ...range, limit: 1000, commitment: 'confirmed' };
      return ask<MentionedIn[]>(signal, 'getSignaturesForAddress', signer.address, options);
    },
    signedMemos: async (signatures, signal) => {
      const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
      const calls = signatures.map((id) => ({ method: 'getTransaction', params: [id, options] }));
      const answers = await rpc(calls, signal);
      return Promise.all(answers.map((answer, at) => memoIn(answer, signatures[at] ?? '')));
    },
  });

  const memoIn = async (answer: unknown, signature: string): Promise<string | undefined> => {
    if (answer instanceof RpcFailure) throw answer;
    if (answer === null) throw new Error('an RPC server does not give a transaction that it told of');
    const { meta, transaction } = answer as {
      meta: { err: unknown } | null;
      transaction: readonly [string, string];
    };
    if (meta === null || meta.err !== null) return undefined;
    return memoSignedBy(signer, { program, signature, wire: transaction[0] });
  };

  async function check(signal: AbortSignal): Promise<ChainCheck> {
    const genesis = await ask<string>(signal, 'getGenesisHash');
    const { value } = await ask<{ value: number }>(signal, 'getBalance', signer.address);
    const balance = Number(value);
    const found = (reason: string | null): ChainCheck => ({ reason, balance: balance / LAMPORTS });
    const id = `solana:${genesis.slice(0, 32)}`;
    if (id !== config.caip2) return found(`the RPC server is of the chain ${id}`);
    const encoding = { encoding: 'base64' };
    const { value: memo } = await ask<{ value: { executable: boolean } | null }>(
      signal,
      'getAccountInfo',
      program,
      encoding,
    );
    if (memo?.executable !== true) return found(`there is no memo program at ${program}`);
    return found(balance < FEE ? `the balance of ${signer.address} is too low` : null);
  }

  async function view(signal: AbortSignal): Promise<ChainView> {
    // Final: what is not found below this height is in no fork either.
    const height = countFrom(await ask(signal, 'getBlockHeight', { commitment: 'finalized' }));
    const { context, value } = await ask<{ context: { slot: number }; value: Lifetime }>(
      signal,
      'getLatestBlockhash',
      { commitment: 'confirmed' },
    );
    const terms = {
      height: String(height),
      slot: String(countFrom(context.slot)),
      blockhash: value.blockhash,
      lastValid: String(countFrom(value.lastValidBlockHeight)),
    };
    return { nonce: null, isTooExpensive: false, terms };
  }

  const simulated = async (memo: string, lifetime: Lifetime, signal: AbortSignal) => {
    const { raw } = await signMemo(signer, { program, memo, units: MOST_UNITS }, lifetime);
    const options = { encoding: 'base64', commitment: 'confirmed' };
    type Simulated = { value: { err: unknown; unitsConsumed?: number } };
    return (await ask<Simulated>(signal, 'simulateTransaction', raw, options)).value;
  };

  const statusesOf = async (ids: readonly string[], seen: ChainView, signal: AbortSignal) => {
    const options = { searchTransactionHistory: true };
    type Statuses = { context: { slot: number }; value: (Status | null)[] };
    const { context, value } = await ask<Statuses>(signal, 'getSignatureStatuses', ids, options);
    // A server that is behind may not know of them yet.
    if (countFrom(context.slot) < Number(seen.terms['slot']))
      throw new ServersAway('an RPC server lags behind');
    return value.flatMap((status, at) => (status === null ? [] : [inclusionOf(ids[at] ?? '', status)]));
  };

  return {
    signer: signer.address,
    delays,
    takesRepetitions: false,
    check,
    view,
    countOf: async () => null,
    recorded: async (deployment, after, signal) =>
      withoutRepetitions(await memos.of(deployment, after, signal)).slice(0, 500),
    lastNumber: async (deployment, signal) =>
      (await memos.of(deployment, 0, signal)).reduce((last, { to }) => Math.max(last, to), 0),
    sign: async (batch, { view: seen, replaced, gasFactor }, signal) => {
      // Both could be included.
      if (replaced.length > 0) return null;
      const memo = memoOf(batch);
      const lifetime = lifetimeOf(seen);
      const { unitsConsumed = MOST_UNITS } = await simulated(memo, lifetime, signal);
      const units = Math.min(MOST_UNITS, Math.ceil(unitsConsumed * 1.2 * gasFactor) + 1000);
      const { raw, signature } = await signMemo(signer, { program, memo, units }, lifetime);
      return { id: signature, raw, terms: { lastValid: String(lifetime.lastValidBlockHeight) } };
    },
    simulate: async (batch, signal) => {
      const { err } = await simulated(memoOf(batch), lifetimeOf(await view(signal)), signal);
      return err === null ? null : JSON.stringify(err);
    },
    send: async ({ raw }, signal) => {
      const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
      const [answer] = await rpc([{ method: 'sendTransaction', params: [raw, options] }], signal);
      return answer instanceof RpcFailure ? outcomeOf(answer) : { kind: 'sent' };
    },
    find: async (transactions, seen, signal) => {
      const ids = transactions.map(({ id }) => id);
      const found: Inclusion[] = [];
      for (let from = 0; from < ids.length; from += STATUSES)
        found.push(...(await statusesOf(ids.slice(from, from + STATUSES), seen, signal)));
      return found;
    },
    isOver: ({ terms }, _nonce, seen) => Number(seen.terms['height']) > Number(terms['lastValid']),
  };
}

/** Those that bring a number further than all before them. */
function withoutRepetitions(recorded: readonly RecordedPushes[]): RecordedPushes[] {
  let last = 0;
  return recorded.filter(({ to }) => {
    const isNew = to > last;
    last = Math.max(last, to);
    return isNew;
  });
}

const lifetimeOf = ({ terms }: ChainView): Lifetime => ({
  blockhash: terms['blockhash'] ?? '',
  lastValidBlockHeight: Number(terms['lastValid']),
});

function inclusionOf(id: string, { slot, err, confirmationStatus }: Status): Inclusion {
  const depths = { processed: 'included', confirmed: 'confirmed', finalized: 'final' } as const;
  return {
    id,
    block: countFrom(slot),
    blockId: String(slot),
    failure: err === null ? null : JSON.stringify(err),
    depth: depths[confirmationStatus ?? 'processed'],
  };
}

/** What servers say about a transaction that they do not take. */
function outcomeOf(answer: RpcFailure): SendOutcome {
  if (/already (been )?processed/i.test(answer.message)) return { kind: 'sent' };
  // It may be included already, so it is only over once its blockhash is.
  if (/blockhash not found|block ?height exceeded/i.test(answer.message)) return { kind: 'spent' };
  if (/insufficient|no record of a prior credit/i.test(answer.message)) return { kind: 'unaffordable' };
  if (/too large|sanitize|deserialize|signature verification/i.test(answer.message))
    return { kind: 'refused', reason: answer.message };
  return { kind: 'unclear', reason: answer.message };
}
