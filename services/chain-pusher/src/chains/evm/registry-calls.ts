import {
  type Address,
  decodeErrorResult,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  isHex,
  parseAbi,
  stringToHex,
} from 'viem';
import type { Batch, OutgoingPush } from '../../core/pushes/batch.js';

/** The registry contract (contracts/PushRegistry.sol). */
export const pushRegistryAbi = parseAbi([
  'constructor(address firstOwner)',
  'error DifferentDigest(address deployment, uint64 number, bytes32 recorded)',
  'error NoOwner()',
  'error NotOffered(address caller)',
  'error NotOwner(address caller)',
  'error NotPusher(address caller)',
  'error OutOfSequence(address deployment, uint64 expected, uint64 given)',
  'event OwnerChanged(address indexed owner)',
  'event OwnerOffered(address indexed owner, address indexed offeredTo)',
  'event Pushed(address indexed deployment, uint64 indexed number, bytes32 entryHash, bytes32 digest, bytes data)',
  'event PusherChanged(address indexed pusher, bool allowed)',
  'function acceptOwner()',
  'function digestOf(address deployment, uint64 number) view returns (bytes32)',
  'function isPusher(address pusher) view returns (bool)',
  'function lastNumber(address deployment) view returns (uint64)',
  'function offerOwner(address newOwner)',
  'function offeredTo() view returns (address)',
  'function owner() view returns (address)',
  'function push(address deployment, uint64 number, bytes32 entryHash, bytes32 digest, bytes data)',
  'function pushMany((address deployment, uint64 number, bytes32 entryHash, bytes32 digest, bytes data)[] pushes)',
  'function setPusher(address pusher, bool allowed)',
]);
const abi = pushRegistryAbi;

/** The call of the registry that records a batch: `push` for one, `pushMany` for several. */
export function callData({ deployment, pushes }: Batch): Hex {
  const [first, ...others] = pushes.map((push) => ({
    deployment: deployment as Address,
    ...argumentsOf(push),
  }));
  if (first === undefined) throw new RangeError('a batch holds one push at least');
  if (others.length > 0)
    return encodeFunctionData({ abi, functionName: 'pushMany', args: [[first, ...others]] });
  const { number, entryHash, digest, data } = first;
  return encodeFunctionData({
    abi,
    functionName: 'push',
    args: [first.deployment, number, entryHash, digest, data],
  });
}

const argumentsOf = ({ number, entryHash, digest, text }: OutgoingPush) => ({
  number: BigInt(number),
  entryHash: `0x${entryHash}` as const,
  digest: `0x${digest}` as const,
  data: text === null ? ('0x' as const) : stringToHex(text),
});

/**
 * An upper bound of the gas that a batch takes: what is in flight is not on the chain yet, so a node could not estimate
 * it. Calldata at the rate of EIP-7623, two new slots and a log for each push.
 */
export function gasBound(data: Hex, { pushes }: Batch): bigint {
  const bytes = (data.length - 2) / 2;
  return BigInt(21_000 + 60_000 * pushes.length + 60 * bytes);
}

export const lastNumberCall = (deployment: string): Hex =>
  encodeFunctionData({ abi, functionName: 'lastNumber', args: [deployment as Address] });

export const digestCall = (deployment: string, number: number): Hex =>
  encodeFunctionData({ abi, functionName: 'digestOf', args: [deployment as Address, BigInt(number)] });

export const isPusherCall = (account: string): Hex =>
  encodeFunctionData({ abi, functionName: 'isPusher', args: [account as Address] });

export const readNumber = (data: Hex): number =>
  Number(decodeFunctionResult({ abi, functionName: 'lastNumber', data }));
export const readDigest = (data: Hex): string =>
  decodeFunctionResult({ abi, functionName: 'digestOf', data }).slice(2);
export const readIsPusher = (data: Hex): boolean =>
  decodeFunctionResult({ abi, functionName: 'isPusher', data });

/** The registry's reason in words, from the data of a revert. */
export function revertReason(data: unknown): string | undefined {
  if (!isHex(data) || data === '0x') return undefined;
  try {
    const { errorName, args } = decodeErrorResult({ abi, data });
    return `${errorName}(${(args ?? []).join(', ')})`;
  } catch {
    return undefined;
  }
}
