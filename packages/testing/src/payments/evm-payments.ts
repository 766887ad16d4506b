import { readFileSync } from 'node:fs';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import {
  type Address,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  parseAbi,
  parseGwei,
  publicActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { ANVIL_KEYS, startAnvil } from '../servers/anvil.js';
import { type FacilitatorServer, startFacilitator } from './facilitator-server.js';

/** The code of `token/TestToken.sol`, as it stands on a chain; `token/compile.mjs` makes the file. */
const { deployedBytecode } = JSON.parse(
  readFileSync(new URL('../../token/TestToken.json', import.meta.url), 'utf8'),
) as { readonly deployedBytecode: Hex };
/** The address of USDC on Base Sepolia. */
const TOKEN: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
]);

export interface EvmPayments extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly token: Address;
  readonly facilitator: FacilitatorServer;
  readonly chain: PublicClient;
  /** Gives an account units of the token. */
  fund(owner: Address, units: bigint): Promise<void>;
  balanceOf(owner: Address): Promise<bigint>;
  /** How often an authorization was used; a chain allows it once. */
  usesOf(authorizer: Address, nonce: Hex): Promise<number>;
  /** Moves the clock of the chain on, and makes a block. */
  advance(seconds: number): Promise<void>;
  /** Spends all that an account has, so that a payment of it cannot be settled. */
  empty(key: Hex): Promise<void>;
  /** Does the same in the very block of the facilitator's next transaction, before that: it is sent and fails. */
  emptyFirst(key: Hex): void;
}

/**
 * A chain like Base Sepolia with a token at the address of its USDC, and the x402 library's facilitator for it: real
 * payments without the internet.
 */
export async function startEvmPayments(): Promise<EvmPayments> {
  const anvil = await startAnvil({ chainId: baseSepolia.id });
  // What a busy machine answers late would be asked again, and done twice.
  const transport = http(anvil.url, { timeout: 120_000 });
  const chain = createTestClient({ chain: baseSepolia, mode: 'anvil', transport }).extend(publicActions);
  const wallet = (key: Hex) =>
    createWalletClient({ chain: baseSepolia, transport, account: privateKeyToAccount(key) }).extend(
      publicActions,
    );
  await chain.setCode({ address: TOKEN, bytecode: deployedBytecode });
  const [payingFees, minting] = [wallet(ANVIL_KEYS[0]), wallet(ANVIL_KEYS[1])];
  const facilitator = new x402Facilitator();
  let emptiedFirst: Hex | undefined;
  const writeContract = async (call: Parameters<typeof payingFees.writeContract>[0]) => {
    const key = emptiedFirst;
    emptiedFirst = undefined;
    if (key === undefined) return payingFees.writeContract(call);
    await chain.setAutomine(false);
    const hash = await payingFees.writeContract(call);
    // It pays more, so it comes first; an estimate of its gas would see the payment before it.
    const first = { maxPriorityFeePerGas: parseGwei('50'), maxFeePerGas: parseGwei('200'), gas: 100_000n };
    await spendAll(key, first);
    await chain.mine({ blocks: 1 });
    await chain.setAutomine(true);
    return hash;
  };
  const { address } = payingFees.account;
  const signer = toFacilitatorEvmSigner({ ...payingFees, address, writeContract } as never);
  registerExactEvmScheme(facilitator, { signer, networks: `eip155:${baseSepolia.id}` });
  const server = await startFacilitator(facilitator);
  const call = { address: TOKEN, abi: ABI } as const;
  const done = async (hash: Hex) => {
    await chain.waitForTransactionReceipt({ hash });
  };
  const spendAll = async (key: Hex, fees = {}) => {
    const { account, ...spending } = wallet(key);
    await chain.setBalance({ address: account.address, value: 10n ** 18n });
    const units = await chain.readContract({ ...call, functionName: 'balanceOf', args: [account.address] });
    const args = ['0x000000000000000000000000000000000000dEaD', units] as const;
    return spending.writeContract({ ...call, account, functionName: 'transfer', args, ...fees });
  };
  return {
    rpcUrl: anvil.url,
    token: TOKEN,
    facilitator: server,
    chain: chain as unknown as PublicClient,
    fund: async (owner, units) =>
      done(await minting.writeContract({ ...call, functionName: 'mint', args: [owner, units] })),
    balanceOf: (owner) => chain.readContract({ ...call, functionName: 'balanceOf', args: [owner] }),
    usesOf: async (authorizer, nonce) => {
      const range = { fromBlock: 0n, toBlock: 'latest' } as const;
      const event = ABI[4];
      return (await chain.getLogs({ address: TOKEN, event, args: { authorizer, nonce }, ...range })).length;
    },
    advance: async (seconds) => {
      await chain.increaseTime({ seconds });
      await chain.mine({ blocks: 1 });
    },
    empty: async (key) => done(await spendAll(key)),
    emptyFirst: (key) => {
      emptiedFirst = key;
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await anvil.stop();
    },
  };
}
