import type { Logger } from '@orrery/service-kit';
import {
  type Address,
  BaseError,
  type Block,
  createPublicClient,
  fallback,
  type Hex,
  type HttpTransport,
  http,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from 'viem';
import { lastThatHolds } from '../../core/last-that-holds.js';
import { readAuthorization, type SignedAuthorization } from '../../core/payments/evm-authorization.js';
import type { Chain, Charge, ChargeSearch, Payment } from '../../core/payments/payment.js';
import { ForeignNode, type NetworkNodes, type NodeCheck, ofItsNetwork } from './node-check.js';
import { callNode } from './signals.js';

const TOKEN = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
const [, USED, CANCELLED] = TOKEN;

const RPC_TIMEOUT_MS = 4000;
/** Blocks that one search for an event covers; public nodes limit it. */
const BLOCKS_AT_ONCE = 1000n;
/** An authorization counts as expired this long after its end by the chain's clock, in seconds. */
const EXPIRY_MARGIN_S = 60n;
/** A search goes back this long before the settlement began, in seconds: clocks differ. */
const SEARCH_MARGIN_S = 300;
/** By then every node behind an address knows the blocks in which an authorization was valid, in seconds after its end. */
const ALL_KNOW_S = 600n;

/** @param timeout of a call to a node, in milliseconds */
export function createEvmChain(asset: NetworkNodes, logger: Logger, timeout = RPC_TIMEOUT_MS): Chain {
  const options = { timeout, retryCount: 0 };
  const nodes = asset.rpcUrls.map((url, index) => {
    const node = traced(url, http(url, options));
    const check = ofItsNetwork({ asset, index, logger }, () => networkOf(node));
    return checkedFirst(node, check);
  });
  const client = createPublicClient({ transport: fallback(nodes, { retryCount: 0 }) });
  return { look: (payment, search) => look(client, payment, search).catch(withoutAddress) };
}

/** By CAIP-2. */
const networkOf = async (node: HttpTransport): Promise<string> =>
  `eip155:${Number(await node({}).request({ method: 'eth_chainId' }))}`;

const checkedFirst =
  (node: HttpTransport, check: NodeCheck): HttpTransport =>
  (parameters) => {
    const made = node(parameters);
    const request: typeof made.request = async (call, options) => {
      await check();
      return made.request(call, options);
    };
    return { ...made, request };
  };

/** Leaves a span of each call in the trace of the execution. */
const traced =
  (url: string, transport: HttpTransport): HttpTransport =>
  (parameters) => {
    const made = transport(parameters);
    const request: typeof made.request = (call, options) =>
      callNode(url, call.method, () => made.request(call, options));
    return { ...made, request };
  };

/** Errors of viem quote the node's URL, which may hold a key, and the request: only what they say in short is kept. */
function withoutAddress(error: unknown): never {
  if (!(error instanceof BaseError)) throw error;
  throw error.walk((one) => one instanceof ForeignNode) ?? new Error(error.shortMessage);
}

async function look(client: PublicClient, payment: Payment, search: ChargeSearch): Promise<Charge> {
  const signed = readAuthorization(payment.payload);
  const failed: string[] = [];
  for (const transaction of search.named.filter(isHash)) {
    const outcome = await outcomeOf(client, payment, signed, transaction);
    if (outcome === 'paid') return { kind: 'charged', transaction };
    if (outcome === 'other') failed.push(transaction);
  }
  const { from, nonce, validBefore } = signed.authorization;
  // An authorization that is unused after its end cannot be used any more. The state is that of this very block: a node that
  // answers under the same address and lags behind would tell an earlier one.
  const latest = await client.getBlock({ blockTag: 'latest' });
  const isUsed = await client.readContract({
    address: tokenOf(payment),
    abi: TOKEN,
    functionName: 'authorizationState',
    args: [from as Address, nonce as Hex],
    blockNumber: latest.number,
  });
  if (isUsed) return chargeOfUsed(client, payment, signed, latest, search);
  return latest.timestamp > BigInt(validBefore) + EXPIRY_MARGIN_S
    ? { kind: 'void', reason: 'authorization_expired' }
    : { kind: 'open', failed };
}

const isHash = (text: string): text is Hex => /^0x[0-9a-f]{64}$/i.test(text);

/** In the case of letters that no check of their checksum refuses. */
const tokenOf = ({ requirement }: Payment) => requirement.asset.toLowerCase() as Address;

/**
 * What an authorization was used for: in the time since its settlement began, and while it was valid.
 * @throws when nodes behind one address do not know the same blocks yet
 */
async function chargeOfUsed(
  client: PublicClient,
  payment: Payment,
  signed: SignedAuthorization,
  latest: Block,
  search: ChargeSearch,
): Promise<Charge> {
  const end = BigInt(signed.authorization.validBefore) + EXPIRY_MARGIN_S;
  const isOver = latest.timestamp > end + ALL_KNOW_S;
  const toBlock = isOver ? await lastBlockUntil(client, end, search.signal) : (latest.number ?? 0n);
  const range = { ...search, toBlock };
  const use = await findEvent(client, payment, signed, USED, range);
  if (use !== undefined) {
    const { transactionHash: transaction, blockNumber } = use;
    const outcome = await outcomeOf(client, payment, signed, transaction);
    if (outcome === 'other') return { kind: 'void', reason: 'used_otherwise' };
    if (outcome === 'absent') throw new Error('the transaction of an authorization is not there yet');
    const { timestamp } = await client.getBlock({ blockNumber });
    return { kind: 'charged', transaction, at: Number(timestamp) * 1000 };
  }
  if ((await findEvent(client, payment, signed, CANCELLED, range)) !== undefined)
    return { kind: 'void', reason: 'authorization_cancelled' };
  if (!isOver) throw new Error('the use of an authorization is not found');
  return { kind: 'void', reason: 'used_earlier' };
}

async function lastBlockUntil(client: PublicClient, time: bigint, signal: AbortSignal): Promise<bigint> {
  const latest = await client.getBlockNumber({ cacheTime: 0 });
  const isUntil = async (block: number) => {
    signal.throwIfAborted();
    return (await client.getBlock({ blockNumber: BigInt(block) })).timestamp <= time;
  };
  return BigInt(await lastThatHolds(0, Number(latest), isUntil));
}

interface BlockRange extends Pick<ChargeSearch, 'since' | 'signal'> {
  readonly toBlock: bigint;
}

async function findEvent(
  client: PublicClient,
  payment: Payment,
  { authorization: { from, nonce } }: SignedAuthorization,
  event: typeof USED | typeof CANCELLED,
  { since, signal, toBlock: last }: BlockRange,
): Promise<{ readonly transactionHash: Hex; readonly blockNumber: bigint } | undefined> {
  const oldest = BigInt(Math.floor(since / 1000) - SEARCH_MARGIN_S);
  for (let toBlock = last; ; ) {
    signal.throwIfAborted();
    const fromBlock = toBlock >= BLOCKS_AT_ONCE ? toBlock - BLOCKS_AT_ONCE + 1n : 0n;
    const [found] = await client.getLogs({
      address: tokenOf(payment),
      event,
      args: { authorizer: from as Address, nonce: nonce as Hex },
      fromBlock,
      toBlock,
    });
    if (found !== undefined) return found;
    if (fromBlock === 0n) return undefined;
    const { timestamp } = await client.getBlock({ blockNumber: fromBlock });
    if (timestamp < oldest) return undefined;
    toBlock = fromBlock - 1n;
  }
}

/**
 * Whether a transaction used the authorization to pay the receiver. A payer may sign another transfer with the same nonce,
 * and a transaction may hold several: the token emits the transfer right after the use of its authorization (EIP-3009).
 */
async function outcomeOf(
  client: PublicClient,
  { requirement: { asset, payTo, amount } }: Payment,
  { authorization: { from, nonce } }: SignedAuthorization,
  hash: Hex,
): Promise<'paid' | 'other' | 'absent'> {
  const receipt = await client.getTransactionReceipt({ hash }).catch((error: Error) => {
    if (error.name === 'TransactionReceiptNotFoundError') return undefined;
    throw error;
  });
  if (receipt === undefined) return 'absent';
  if (receipt.status !== 'success') return 'other';
  const logs = parseEventLogs({
    abi: TOKEN,
    logs: receipt.logs.filter(({ address }) => isSame(address, asset)),
  });
  const use = logs.findIndex(
    ({ eventName, args }) =>
      eventName === 'AuthorizationUsed' && isSame(args.authorizer, from) && isSame(args.nonce, nonce),
  );
  const next = use < 0 ? undefined : logs[use + 1];
  const isPaid =
    next?.eventName === 'Transfer' &&
    isSame(next.args.from, from) &&
    isSame(next.args.to, payTo) &&
    next.args.value === BigInt(amount);
  return isPaid ? 'paid' : 'other';
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
