import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  publicActions,
  serializeErc6492Signature,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ANVIL_KEYS } from '../servers/anvil.js';

/** The code of `token/TestAccounts.sol`; `token/compile.mjs` makes the file. */
const code = JSON.parse(readFileSync(new URL('../../token/TestAccounts.json', import.meta.url), 'utf8')) as {
  readonly factory: Hex;
  readonly hostile: Hex;
};
const FACTORY = parseAbi([
  'function create(address owner, bytes32 salt) returns (address)',
  'function addressOf(address owner, bytes32 salt) view returns (address)',
]);

/** A contract account with the key that owns it. */
export interface ContractAccount {
  readonly address: Address;
  /** Signs a text by EIP-191; while the account is not deployed, the signature says how it would be (EIP-6492). */
  sign(message: string): Promise<Hex>;
  deploy(): Promise<void>;
}

export interface ContractAccounts {
  /** An account that is not deployed yet. */
  create(ownerKey: Hex): Promise<ContractAccount>;
  /** A deployed account that sends who asks it to a URL (EIP-3668), or uses up all gas. */
  hostile(url: string): Promise<Address>;
}

/** Contract accounts on a chain of anvil. */
export async function startContractAccounts(rpcUrl: string): Promise<ContractAccounts> {
  const account = privateKeyToAccount(ANVIL_KEYS[2]);
  const client = createTestClient({ account, mode: 'anvil', transport: http(rpcUrl, { timeout: 120_000 }) })
    .extend(publicActions)
    .extend(walletActions);
  const send = async (call: { data: Hex; to?: Address }): Promise<Address> => {
    const hash = await client.sendTransaction({ ...call, chain: null });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash });
    return contractAddress ?? '0x';
  };
  const factory = await send({ data: code.factory });
  return {
    create: async (ownerKey) => {
      const owner = privateKeyToAccount(ownerKey);
      const args = [owner.address, `0x${randomBytes(32).toString('hex')}`] as const;
      const data = encodeFunctionData({ abi: FACTORY, functionName: 'create', args });
      const abi = { address: factory, abi: FACTORY } as const;
      const address = await client.readContract({ ...abi, functionName: 'addressOf', args });
      let isDeployed = false;
      return {
        address,
        sign: async (message) => {
          const signature = await owner.signMessage({ message });
          return isDeployed ? signature : serializeErc6492Signature({ address: factory, data, signature });
        },
        deploy: async () => {
          await send({ to: factory, data });
          isDeployed = true;
        },
      };
    },
    hostile: (url) =>
      send({
        data: encodeDeployData({
          abi: parseAbi(['constructor(string url)']),
          bytecode: code.hostile,
          args: [url],
        }),
      }),
  };
}
