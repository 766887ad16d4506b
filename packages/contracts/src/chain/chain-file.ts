import { z } from 'zod';
import { httpAddress, ordinal } from '../records/fields.js';
import { OF_ACCOUNT, operationsAt } from '../rpc/operation.js';

/** Names that the operators of all installations use for the same networks; none is there unless it is configured. */
export const WELL_KNOWN_CHAINS: readonly string[] = [
  'solana-mainnet',
  'solana-devnet',
  'near-mainnet',
  'near-testnet',
  'base-mainnet',
  'base-sepolia',
];

/** Solana's memo program, version 2. */
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const chainName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'A chain name has lower-case letters, digits and hyphens, 64 at most.');
const base58Key = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'A base58 public key is required.');

const common = {
  name: chainName,
  rpcUrls: z.array(httpAddress).min(1).max(8),
  signerKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'The name of an environment variable is required.'),
  confirmations: z.int().min(1).max(1000).default(1),
  explorerUrl: httpAddress.optional(),
};

const evmChain = z.strictObject({
  ...common,
  family: z.literal('evm'),
  caip2: z.string().regex(/^eip155:[1-9]\d{0,15}$/, 'The CAIP-2 id of an EVM chain, such as "eip155:84532".'),
  contract: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'The address of a registry contract is required.')
    .optional(),
  maxFeeGwei: z.number().positive().max(1_000_000).default(100),
});
export type EvmChainConfig = z.output<typeof evmChain>;

const solanaChain = z.strictObject({
  ...common,
  family: z.literal('solana'),
  caip2: z
    .string()
    .regex(
      /^solana:[1-9A-HJ-NP-Za-km-z]{32}$/,
      'The CAIP-2 id of a Solana chain: 32 characters of its genesis.',
    ),
  program: base58Key.default(MEMO_PROGRAM),
});
export type SolanaChainConfig = z.output<typeof solanaChain>;

const noRepetition = <T>(items: readonly T[], of: (item: T) => string): boolean =>
  new Set(items.map(of)).size === items.length;

/** The contents of `CHAINS_FILE` (docs/on-chain.md): the chains that bindings may name. */
export const chainFile = z
  .array(z.discriminatedUnion('family', [evmChain, solanaChain]))
  .max(64)
  .refine((chains) => noRepetition(chains, ({ name }) => name), 'Each chain needs a name of its own.')
  .refine(
    (chains) => noRepetition(chains, ({ caip2, signerKeyEnv }) => `${caip2} ${signerKeyEnv}`),
    'Two entries for one chain need signers of their own: a signer has one sequence of nonces.',
  );
export type ChainFile = z.input<typeof chainFile>;
export type ChainConfig = z.output<typeof chainFile>[number];

export const chainFamily = z
  .enum(['evm', 'solana'])
  .meta({ id: 'ChainFamily', description: 'The kind of a chain: an EVM chain or Solana.' });
export type ChainFamily = z.infer<typeof chainFamily>;

/** Bytes of a push's content as canonical JSON; a larger one goes as its digest alone. */
export const CONTENT_BYTES: Readonly<Record<ChainFamily, number>> = { evm: 8192, solana: 566 };

export const chainRecord = z
  .strictObject({
    name: z.string().describe('What bindings name it by, in `targetChains`.'),
    caip2: z.string().describe('Its CAIP-2 id, such as `eip155:84532`.'),
    family: chainFamily.describe('What kind of chain it is.'),
    status: z.enum(['available', 'unavailable']).describe('`unavailable`: pushes to it wait.'),
    limits: z
      .strictObject({
        contentBytes: ordinal.describe(
          'Bytes of the content of a push as canonical JSON; a larger one is pushed as its digest alone.',
        ),
        pushesPerTransaction: ordinal.describe('Pushes that one transaction carries at most.'),
      })
      .describe('What fits on the chain.'),
  })
  .meta({ id: 'Chain', description: 'A chain that executions can be pushed to.' });
export type ChainRecord = z.infer<typeof chainRecord>;

export const chainRpcs = {
  'chains.list': operationsAt('/api/chains', 'Chains', { access: OF_ACCOUNT }).list(
    '',
    'List the chains that bindings may name',
    { item: chainRecord },
  ),
};
