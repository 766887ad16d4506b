import type { EvmChainConfig } from '@orrery/contracts';
import { type Hex, keccak256, numberToHex, padHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
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
import { countFrom, createRpc, type RpcCall, RpcFailure } from '../rpc/json-rpc.js';
import { bidFor } from './fees.js';
import {
  callData,
  digestCall,
  gasBound,
  isPusherCall,
  lastNumberCall,
  readDigest,
  readIsPusher,
  readNumber,
  revertReason,
} from './registry-calls.js';

/** Without a `finalized` block a chain is taken to be final at this depth. */
const FINAL_DEPTH = 64;
const DELAYS: Delays = { resendMs: 10_000, replaceMs: 30_000, retryMs: 1000 };
/** Gas of one push, for the check of the balance. */
const ONE_PUSH = 100_000n;
/** keccak256 of the signature of `Pushed`. */
const PUSHED = keccak256(new TextEncoder().encode('Pushed(address,uint64,bytes32,bytes32,bytes)'));

interface Receipt {
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly status: Hex;
  readonly gasUsed: Hex;
}

interface Log {
  readonly address: string;
  readonly transactionHash: string;
  readonly removed?: boolean;
}

const call = (method: string, ...params: unknown[]): RpcCall => ({ method, params });

/** An EVM chain and its registry contract (contracts/PushRegistry.sol). */
export function createEvmChain(
  config: EvmChainConfig,
  signerKey: string,
  delays: Delays = DELAYS,
): ChainPort {
  const account = privateKeyToAccount(signerKey as Hex);
  const signer = account.address.toLowerCase();
  const chainId = Number(config.caip2.slice('eip155:'.length));
  const rpc = createRpc(config.rpcUrls);
  const cap = BigInt(Math.round(config.maxFeeGwei * 1e9));
  const { contract } = config;

  const toRegistry = (data: Hex): RpcCall => call('eth_call', { from: signer, to: contract, data }, 'latest');
  const read = async (calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> => {
    const answers = await rpc(calls, signal);
    const failed = answers.find((answer) => answer instanceof RpcFailure);
    if (failed !== undefined) throw failed;
    return answers;
  };
  const readOne = async (one: RpcCall, signal: AbortSignal) => (await read([one], signal))[0];

  async function check(signal: AbortSignal): Promise<ChainCheck> {
    const [id, balance, price, code] = await read(
      [
        call('eth_chainId'),
        call('eth_getBalance', signer, 'latest'),
        call('eth_gasPrice'),
        contract === undefined ? call('eth_chainId') : call('eth_getCode', contract, 'latest'),
      ],
      signal,
    );
    const held = BigInt(balance as Hex);
    const found = (reason: string | null): ChainCheck => ({ reason, balance: Number(held) / 1e18 });
    if (Number(id) !== chainId) return found(`the RPC server is of the chain eip155:${Number(id)}`);
    if (contract === undefined) return found('no registry contract is configured');
    if (code === '0x') return found(`there is no contract at ${contract}`);
    const [allowed] = await rpc([toRegistry(isPusherCall(signer))], signal);
    if (allowed instanceof RpcFailure || allowed === '0x')
      return found(`there is no registry at ${contract}`);
    if (!readIsPusher(allowed as Hex)) return found(`the registry does not let ${signer} push`);
    if (held < ONE_PUSH * BigInt(price as Hex)) return found(`the balance of ${signer} is too low`);
    return found(null);
  }

  async function view(signal: AbortSignal): Promise<ChainView> {
    const [nonce, latest, final, tip] = await rpc(
      [
        call('eth_getTransactionCount', signer, 'latest'),
        call('eth_getBlockByNumber', 'latest', false),
        call('eth_getBlockByNumber', 'finalized', false),
        call('eth_maxPriorityFeePerGas'),
      ],
      signal,
    );
    for (const answer of [nonce, latest]) if (answer instanceof RpcFailure) throw answer;
    const block = latest as { number: Hex; baseFeePerGas?: Hex };
    const head = countFrom(block.number);
    const hasFinal = !(final instanceof RpcFailure) && final !== null;
    const baseFee = BigInt(block.baseFeePerGas ?? '0x0');
    return {
      nonce: countFrom(nonce),
      isTooExpensive: baseFee > cap,
      terms: {
        head: String(head),
        final: String(hasFinal ? countFrom((final as { number: Hex }).number) : head - FINAL_DEPTH),
        baseFee: String(baseFee),
        tip: String(tip instanceof RpcFailure ? 1_000_000n : BigInt(tip as Hex)),
      },
    };
  }

  /** The transaction of each `Pushed` log, by number; null where the server refuses the search. */
  const transactionsOf = async (deployment: string, numbers: readonly number[], signal: AbortSignal) => {
    const topic = (value: Hex) => padHex(value, { size: 32 });
    const logs = await rpc(
      numbers.map((number) =>
        call('eth_getLogs', {
          address: contract,
          fromBlock: '0x0',
          toBlock: 'latest',
          topics: [PUSHED, topic(deployment as Hex), topic(numberToHex(number))],
        }),
      ),
      signal,
    );
    return logs.map((found) =>
      found instanceof RpcFailure
        ? null
        : ((found as Log[]).find(isOfRegistry)?.transactionHash.toLowerCase() ?? null),
    );
  };

  /** A server may tell of logs that nobody asked for, and of those of blocks that the chain took back. */
  const isOfRegistry = ({ address, removed, transactionHash }: Log): boolean =>
    address.toLowerCase() === contract?.toLowerCase() &&
    removed !== true &&
    /^0x[\da-f]{64}$/i.test(transactionHash);

  async function recorded(
    deployment: string,
    after: number,
    signal: AbortSignal,
  ): Promise<readonly RecordedPushes[]> {
    const last = await lastNumber(deployment, signal);
    const numbers = Array.from(
      { length: Math.max(0, Math.min(500, last - after)) },
      (_, at) => after + 1 + at,
    );
    const digests = await read(
      numbers.map((number) => toRegistry(digestCall(deployment, number))),
      signal,
    );
    const transactions = await transactionsOf(deployment, numbers, signal);
    return numbers.map((number, at) => ({
      from: number,
      to: number,
      digest: readDigest(digests[at] as Hex),
      transaction: transactions[at] ?? null,
    }));
  }

  const lastNumber = async (deployment: string, signal: AbortSignal) =>
    countFrom(readNumber((await readOne(toRegistry(lastNumberCall(deployment)), signal)) as Hex));

  const depthOf = (block: number, { terms }: ChainView): Inclusion['depth'] => {
    if (block <= Number(terms['final'])) return 'final';
    return Number(terms['head']) - block + 1 >= config.confirmations ? 'confirmed' : 'included';
  };

  return {
    signer,
    delays,
    takesRepetitions: true,
    check,
    view,
    countOf: async (other, signal) =>
      countFrom(await readOne(call('eth_getTransactionCount', other, 'latest'), signal)),
    recorded,
    lastNumber,
    sign: async (batch, { nonce, view: seen, replaced, gasFactor }) => {
      if (nonce === null) throw new TypeError('an EVM transaction needs a nonce');
      const bid = bidFor(seen.terms, replaced.at(-1)?.terms, cap);
      if (bid === undefined) return null;
      const isEmpty = batch.pushes.length === 0;
      const data = isEmpty ? '0x' : callData(batch);
      const gas = isEmpty ? ONE_PUSH : BigInt(Math.ceil(Number(gasBound(data, batch)) * gasFactor));
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to: isEmpty ? account.address : (contract as Hex),
        data,
        gas,
        maxFeePerGas: bid.maxFee,
        maxPriorityFeePerGas: bid.tip,
      });
      const terms = { maxFee: String(bid.maxFee), tip: String(bid.tip), gas: String(gas) };
      return { id: keccak256(raw), raw, terms };
    },
    simulate: async (batch, signal) => {
      const [answer] = await rpc([toRegistry(callData(batch))], signal);
      return answer instanceof RpcFailure ? (revertReason(answer.data) ?? answer.message) : null;
    },
    send: async ({ raw }, signal) => {
      const [answer] = await rpc([call('eth_sendRawTransaction', raw)], signal);
      return answer instanceof RpcFailure ? outcomeOf(answer) : { kind: 'sent' };
    },
    find: async (transactions, seen, signal) => {
      const receipts = await read(
        transactions.map(({ id }) => call('eth_getTransactionReceipt', id)),
        signal,
      );
      return (receipts as (Receipt | null)[]).flatMap((receipt) => {
        if (receipt === null) return [];
        const block = countFrom(receipt.blockNumber);
        const failure = receipt.status === '0x1' ? null : 'the registry reverted the transaction';
        return [
          {
            id: receipt.transactionHash,
            block,
            blockId: receipt.blockHash,
            failure,
            depth: depthOf(block, seen),
          },
        ];
      });
    },
    isOver: (_transaction, nonce, seen) => nonce !== null && seen.nonce !== null && seen.nonce > nonce,
  };
}

/** What nodes say about a transaction that they do not take; the words of geth, and those of others for the same. */
const ANSWERS: readonly (readonly [RegExp, SendOutcome['kind']])[] = [
  [/already known|already imported|known transaction|alreadyknown/i, 'sent'],
  [/nonce too low|nonce is too low|old nonce|already been used/i, 'spent'],
  [/underpriced|fee too low|less than block base fee|below base fee|fee cap.*base fee/i, 'underpriced'],
  [/insufficient funds|insufficient balance/i, 'unaffordable'],
  [/gas limit|intrinsic gas|oversized|too large|invalid (sender|signature|transaction)|rlp/i, 'refused'],
];

/** What nodes say that take no transaction at present, whichever it is. */
const BUSY = /pool.*(full|limit)|too many|limit exceeded|timed? ?out|busy|unavailable|syncing/i;

/** @throws ServersAway where the node takes nothing at present */
function outcomeOf({ message }: RpcFailure): SendOutcome {
  const [, kind = 'unclear'] = ANSWERS.find(([words]) => words.test(message)) ?? [];
  if (kind === 'unclear' && BUSY.test(message))
    throw new ServersAway('the RPC server takes no transactions at present');
  return kind === 'refused' || kind === 'unclear' ? { kind, reason: message } : { kind };
}
