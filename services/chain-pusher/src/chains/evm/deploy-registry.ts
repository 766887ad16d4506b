import type { EvmChainConfig } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { type Address, encodeDeployData, type Hex, isAddress, zeroAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { JsonRpc } from '../rpc/json-rpc.js';
import { bidFor } from './fees.js';
import { pushRegistryBytecode } from './registry-bytecode.js';
import { pushRegistryAbi } from './registry-calls.js';

const PAUSE_MS = 200;
const INCLUSION_TIMEOUT_MS = 180_000;
const GAS = 2_500_000n;

export interface DeployOptions {
  /** Who names the pushers; the chain's signer unless given, whose key a server holds. */
  readonly owner?: string | undefined;
}

/**
 * Deploys the registry contract with the chain's signer, who may push, and resolves with its address. The signer must not
 * send anything else meanwhile. @throws Error when the owner is no address, before anything is asked; when the chain refuses
 * the contract, or does not include it in time
 */
export async function deployRegistry(
  config: EvmChainConfig,
  signerKey: string,
  clock: Clock,
  signal: AbortSignal,
  options: DeployOptions = {},
): Promise<string> {
  const account = privateKeyToAccount(signerKey as Hex);
  const owner = addressOf(options.owner ?? account.address);
  const rpc = new JsonRpc(config.rpcUrls);
  const ask = <T>(method: string, ...params: unknown[]) => rpc.ask<T>(signal, method, ...params);
  const chainId = Number(await ask<Hex>('eth_chainId'));
  if (`eip155:${chainId}` !== config.caip2) {
    throw new Error(`The RPC server is of the chain eip155:${chainId}, not of ${config.caip2}.`);
  }
  const block = await ask<{ baseFeePerGas?: Hex }>('eth_getBlockByNumber', 'latest', false);
  const terms = {
    baseFee: String(BigInt(block.baseFeePerGas ?? 0)),
    tip: String(BigInt(await ask<Hex>('eth_maxPriorityFeePerGas'))),
  };
  const bid = bidFor(terms, undefined, BigInt(Math.round(config.maxFeeGwei * 1e9)));
  if (bid === undefined) throw new Error('The chain asks a higher fee than maxFeeGwei allows.');
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: Number(await ask<Hex>('eth_getTransactionCount', account.address, 'pending')),
    data: encodeDeployData({ abi: pushRegistryAbi, bytecode: pushRegistryBytecode, args: [owner] }),
    gas: GAS,
    maxFeePerGas: bid.maxFee,
    maxPriorityFeePerGas: bid.tip,
  });
  const id = await ask<Hex>('eth_sendRawTransaction', raw);
  for (
    const until = clock.monotonic() + INCLUSION_TIMEOUT_MS;
    clock.monotonic() < until;
    await clock.sleep(PAUSE_MS, signal)
  ) {
    const receipt = await ask<{ status: Hex; contractAddress: string } | null>(
      'eth_getTransactionReceipt',
      id,
    );
    if (receipt?.status === '0x1') return receipt.contractAddress;
    if (receipt !== null) throw new Error(`The chain refused the contract, in the transaction ${id}.`);
  }
  throw new Error(`The chain has not included the transaction ${id} yet. Look it up before you try again.`);
}

/** In mixed case its checksum has to be right (EIP-55). */
function addressOf(owner: string): Address {
  if (!isAddress(owner) || owner === zeroAddress)
    throw new Error(
      'The owner has to be an address: 0x and 40 hex digits, with its checksum if in mixed case.',
    );
  return owner;
}
