import { ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, withinTime } from '@orrery/service-kit';
import type { Address, EIP1193RequestFn, Hex, Transport } from 'viem';
import type { NodeUrls } from '../core/signatures/node-list.js';

export interface ContractSignature {
  readonly address: Address;
  readonly chainId: number;
  readonly message: string;
  readonly signature: Hex;
}

/** Whether the contract account at the address takes the signature, by its chain's node. @throws `unavailable`, `overloaded` */
export type AskChain = (signed: ContractSignature, signal: AbortSignal) => Promise<boolean>;

/** How long one question may take, in milliseconds, and how long it waits for one node. */
const QUESTION_MS = 8000;
const NODE_MS = 4000;
/** Questions under way at once in a process: more are refused, so strangers never load a node further. */
const AT_ONCE = 16;
/** The gas that a question may use: strangers choose the code that it runs. */
const MOST_GAS = 10_000_000n;

/**
 * Asks the operator's nodes. Nothing of a request gets into an address that is connected to, and a contract cannot send us
 * anywhere (CCIP read is off).
 */
export function createAskChain(
  nodes: NodeUrls,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AskChain {
  const opened = new Map<number, Promise<Transport>>();
  const nodeOf = (chainId: number): Promise<Transport> => {
    const known = opened.get(chainId);
    if (known !== undefined) return known;
    const opening = openNode(chainId, nodes[chainId] ?? []);
    opened.set(chainId, opening);
    // What cannot be opened now may be later.
    opening.catch(() => opened.delete(chainId));
    return opening;
  };
  let underWay = 0;
  return async (signed, signal) => {
    if (underWay >= AT_ONCE)
      throw new ServiceError('overloaded', 'Too many signatures of contract accounts are being verified.', {
        facts: { retryAfterSeconds: 1 },
      });
    underWay += 1;
    try {
      const ask = async () => askNode(await nodeOf(signed.chainId), signed);
      return await withinTime(clock, QUESTION_MS, signal, ask);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn(
        { err: withoutAddress(error), chain: signed.chainId },
        'the node of a chain gives no answer',
      );
      throw new ServiceError(
        'unavailable',
        `The node of the chain eip155:${signed.chainId} gives no answer.`,
        {
          facts: { retryAfterSeconds: 5 },
          cause: error,
        },
      );
    } finally {
      underWay -= 1;
    }
  };
}

/** @throws where the nodes do not answer, or are of another chain than the operator says */
async function openNode(chainId: number, urls: readonly string[]): Promise<Transport> {
  const { fallback, http } = await import('viem');
  const options = { timeout: NODE_MS, retryCount: 0, fetchOptions: { redirect: 'error' as const } };
  const transport = fallback(
    urls.map((url) => http(url, options)),
    { retryCount: 0 },
  );
  const answered = await transport({}).request({ method: 'eth_chainId' });
  if (Number(answered) !== chainId) throw new Error(`the node is of the chain ${Number(answered)}`);
  return transport;
}

async function askNode(node: Transport, { chainId: _, ...signed }: ContractSignature): Promise<boolean> {
  const { createPublicClient, custom } = await import('viem');
  const { request } = node({});
  let failure: unknown;
  const bounded: EIP1193RequestFn = async (call) => {
    try {
      return await request(boundedCall(call as RpcCall) as never);
    } catch (error) {
      if (!isOfExecution(error)) failure = error;
      throw error;
    }
  };
  const client = createPublicClient({
    transport: custom({ request: bounded }, { retryCount: 0 }),
    ccipRead: false,
  });
  const { message, ...rest } = signed;
  const isValid = await client.verifyMessage({ ...rest, message });
  // viem takes any failure of the call for a signature that is not valid.
  if (!isValid && failure !== undefined) throw failure;
  return isValid;
}

interface RpcCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

function boundedCall({ method, params = [] }: RpcCall): RpcCall {
  const [transaction, ...rest] = params;
  if (method !== 'eth_call') return { method, params };
  return { method, params: [{ ...(transaction as object), gas: `0x${MOST_GAS.toString(16)}` }, ...rest] };
}

/** Whether the code that was called failed, and not the node. */
function isOfExecution(error: unknown): boolean {
  const { code, details = '' } = error as { code?: unknown; details?: string };
  return code === 3 || (typeof code === 'number' && /revert|gas|opcode|stack|jump|EVM error/i.test(details));
}

/** Errors of viem quote the node's address, which may hold a key. */
const withoutAddress = (error: unknown): Error =>
  new Error((error as { shortMessage?: string }).shortMessage ?? (error as Error).message);
