import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** Slots after which a block is confirmed, and final. */
const CONFIRMED = 1;
const FINAL = 3;
/** Slots for which a blockhash can be used; on Solana 150. */
const LIFETIME = 40;

interface Executed {
  readonly signature: string;
  readonly slot: number;
  readonly memo: string;
}

export interface SolanaNode extends AsyncDisposable {
  readonly url: string;
  /** As in a CAIP-2 id. */
  readonly caip2: string;
  /** The memos on the chain, oldest first. */
  memos(): string[];
  fund(address: string): void;
  /** Lets the chain forget its latest blocks, as a fork that is not chosen. Final ones stay. */
  fork(): void;
}

type Params = readonly [
  unknown,
  { readonly until?: string; readonly before?: string; readonly commitment?: string }?,
];

const GENESIS = 'TestTestTestTestTestTestTestTest1111111111111';

/** Solana's virtual machine (LiteSVM) behind the part of its RPC that memos need; a slot takes `slotMs`. */
export async function startSolanaNode({ slotMs = 25 } = {}): Promise<SolanaNode> {
  // Without a memory of its own, so that what a fork took away can be executed again.
  const svm = new LiteSVM().withTransactionHistory(0n);
  let slot = FINAL;
  let executed: Executed[] = [];
  let expiresAt = slot + LIFETIME;
  const hashes = new Map<string, number>([[svm.latestBlockhash(), expiresAt]]);

  const ticking = setInterval(() => {
    slot += 1;
    if (slot < expiresAt - LIFETIME / 2) return;
    svm.expireBlockhash();
    expiresAt = slot + LIFETIME;
    hashes.set(svm.latestBlockhash(), expiresAt);
  }, slotMs);
  ticking.unref();

  const decode = (wire: string) => getTransactionDecoder().decode(getBase64Encoder().encode(wire));
  const statusOf = (signature: unknown) => {
    const found = executed.find((one) => one.signature === signature);
    if (found === undefined) return null;
    const age = slot - found.slot;
    const confirmationStatus = age >= FINAL ? 'finalized' : age >= CONFIRMED ? 'confirmed' : 'processed';
    return { slot: found.slot, err: null, confirmations: null, confirmationStatus };
  };
  const execute = (wire: string): string => {
    const transaction = decode(wire);
    const signature = getSignatureFromTransaction(transaction as never);
    if (executed.some((one) => one.signature === signature)) throw new Error('Transaction already processed');
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const { lifetimeToken: blockhash } = message as { lifetimeToken: string };
    if ((hashes.get(blockhash) ?? 0) < slot) throw new Error('Blockhash not found');
    // LiteSVM itself takes the latest blockhash alone; those before it are checked above.
    const outcome = svm.withBlockhashCheck(false).sendTransaction(transaction as never);
    if (outcome instanceof FailedTransactionMetadata) throw new Error(String(outcome.err()));
    const texts = message.instructions.map(({ data }) => Buffer.from(data ?? []).toString());
    executed.push({ signature, slot, memo: texts.at(-1) ?? '' });
    return signature;
  };
  const answers: Record<string, (...params: Params) => unknown> = {
    getGenesisHash: () => GENESIS,
    getBalance: (address) => ({ value: Number(svm.getBalance(address as never) ?? 0n) }),
    getAccountInfo: (address) => ({ value: address === MEMO ? { executable: true } : null }),
    getBlockHeight: () => slot - FINAL,
    getLatestBlockhash: () => ({
      context: { slot },
      value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: expiresAt },
    }),
    simulateTransaction: (wire) => {
      const outcome = svm.withBlockhashCheck(false).simulateTransaction(decode(String(wire)) as never);
      if (outcome instanceof FailedTransactionMetadata) return { value: { err: String(outcome.err()) } };
      return { value: { err: null, unitsConsumed: Number(outcome.meta().computeUnitsConsumed()) } };
    },
    sendTransaction: (wire) => execute(String(wire)),
    getSignatureStatuses: (signatures) => ({
      context: { slot },
      value: (signatures as string[]).map(statusOf),
    }),
    getSignaturesForAddress: (_address, { until, before } = {}) => {
      const all = executed.filter((one) => slot - one.slot >= CONFIRMED).toReversed();
      const from = before === undefined ? 0 : all.findIndex(({ signature }) => signature === before) + 1;
      const to = until === undefined ? -1 : all.findIndex(({ signature }) => signature === until);
      return all.slice(from, to === -1 ? undefined : to).map(({ signature, memo }) => ({
        signature,
        err: null,
        memo: `[${Buffer.byteLength(memo)}] ${memo}`,
      }));
    },
  };
  const answerOne = ({ id, method, params }: { id: number; method: string; params: Params }) => {
    try {
      const answer = answers[method];
      if (answer === undefined) throw new Error(`Method not found: ${method}`);
      return { jsonrpc: '2.0', id, result: answer(...params) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: -32002, message: (error as Error).message } };
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const calls = JSON.parse(Buffer.concat(chunks).toString()) as never[];
      response.setHeader('content-type', 'application/json').end(JSON.stringify(calls.map(answerOne)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caip2: `solana:${GENESIS.slice(0, 32)}`,
    memos: () => executed.map(({ memo }) => memo),
    fund: (address) => void svm.airdrop(address as never, 1_000_000_000_000n as never),
    fork: () => {
      executed = executed.filter((one) => slot - one.slot >= FINAL);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(ticking);
      server.closeAllConnections();
      server.close();
    },
  };
}
