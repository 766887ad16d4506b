import { evmAccountOf, fieldProblem, refusedHttp, ServiceError } from '@orrery/contracts';
import { readBase58 } from '../core/signatures/encodings.js';
import { hasHighS, KEY_SIGNATURE_BYTES, signerOf } from '../core/signatures/evm-signature.js';
import type { NodeUrls } from '../core/signatures/node-list.js';
import { isSignatureOf } from '../core/signatures/verify-signature.js';
import type { AskChain } from './chain-nodes.js';

/** A text that a wallet says it has signed: the wallet in its stored form, all within the contract's bounds. */
export interface SignedMessage {
  readonly wallet: string;
  readonly message: string;
  /** Base58 of 64 bytes, or `0x` and hex digits. */
  readonly signature: string;
}

export interface WalletVerifier {
  /**
   * Whose signature it is, in the stored form: a key that was named with a chain is the key without it.
   * @param beforeAsking counts the caller before the node of a chain is asked; it throws where that is too often
   * @throws `validation_failed` for what is no wallet and no signature of it, `unknown_chain`, `invalid_signature`,
   * `unavailable` and `overloaded` where the chain's node cannot be asked
   */
  verify(signed: SignedMessage, signal: AbortSignal, beforeAsking?: () => Promise<void>): Promise<string>;
}

export const createWalletVerifier = (nodes: NodeUrls, askChain: AskChain): WalletVerifier => ({
  verify: async (signed, signal, beforeAsking) => {
    const { wallet, message, signature } = signed;
    const account = evmAccountOf(wallet);
    if (account === undefined) return verifyEd25519(signed);
    const { address, chainId } = account;
    const bytes = hexBytes(signature);
    if (chainId === undefined && bytes.length !== KEY_SIGNATURE_BYTES) throw malformed('signature', OF_A_KEY);
    if (hasHighS(bytes)) throw new ServiceError('invalid_signature', HIGH_S);
    // The key of an address speaks for it on every chain, and nobody has to be asked.
    if (signerOf(message, bytes) === address.toLowerCase()) return address;
    if (chainId === undefined) throw new ServiceError('invalid_signature', NOT_OF_KEY);
    if (nodes[chainId] === undefined) throw unknownChain(chainId, nodes);
    await beforeAsking?.();
    const asked = { address, chainId, message, signature: signature as `0x${string}` };
    if (!(await askChain(asked, signal))) throw new ServiceError('invalid_signature', NOT_OF_CONTRACT);
    return wallet;
  },
});

const OF_A_KEY =
  'The signature of a key has 65 bytes, as "0x" and 130 hex digits. A contract account is named with its chain: eip155:<chain id>:0x….';
const HIGH_S = 'The signature has an s in the upper half of the group order: send the other one, n − s.';
const NOT_OF_KEY = 'The signature is not that of this address over the message by EIP-191 (personal_sign).';
const NOT_OF_CONTRACT =
  'The signature is not that of the key of this address, and the account on the chain does not take it (EIP-1271, EIP-6492).';

async function verifyEd25519({ wallet, message, signature }: SignedMessage): Promise<string> {
  const key = base58Bytes('wallet', wallet, 32);
  const bytes = base58Bytes('signature', signature, 64);
  if (await isSignatureOf(key, Buffer.from(message, 'utf8'), bytes)) return wallet;
  throw new ServiceError(
    'invalid_signature',
    'The signature is not the ed25519 signature of this wallet over the UTF-8 bytes of the message.',
  );
}

function base58Bytes(member: string, text: string, size: number): Uint8Array {
  const bytes = readBase58(text, size);
  if (bytes !== undefined) return bytes;
  throw malformed(member, `Base58 of ${size} bytes is required.`);
}

function hexBytes(signature: string): Uint8Array {
  if (signature.startsWith('0x')) return Buffer.from(signature.slice(2), 'hex');
  throw malformed('signature', 'The signature of an account on EVM chains is "0x" and hex digits.');
}

const malformed = (member: string, message: string): ServiceError =>
  refusedHttp([fieldProblem(`/body/${member}`, 'invalid', message)]);

function unknownChain(chainId: number, nodes: NodeUrls): ServiceError {
  const known = Object.keys(nodes).map((id) => `eip155:${id}`);
  const which = known.length === 0 ? 'none' : `only those on ${known.join(', ')}`;
  return new ServiceError(
    'unknown_chain',
    `This service can ask no node of eip155:${chainId} whether a contract account has signed: it takes ${which}.`,
  );
}
