import { z } from 'zod';
import { checksumAddress, isEvmAddress } from '../records/wallet-address.js';

const BASE_58 = '[1-9A-HJ-NP-Za-km-z]';
const ACCOUNT = /^(?:eip155:([1-9]\d{0,14}):)?(0x[0-9a-fA-F]{40})$/;

/** An account of EVM chains. Without a chain it is a key; with one it may be a contract there. */
export interface EvmAccount {
  /** In the spelling of EIP-55. */
  readonly address: `0x${string}`;
  readonly chainId: number | undefined;
}

/** Undefined for a wallet of another kind. */
export function evmAccountOf(wallet: string): EvmAccount | undefined {
  const [, chain, address] = ACCOUNT.exec(wallet) ?? [];
  if (address === undefined) return undefined;
  return {
    address: checksumAddress(address) as `0x${string}`,
    chainId: chain === undefined ? undefined : Number(chain),
  };
}

/** A wallet as it is stored and shown: base58 as it is, addresses of EVM chains in the spelling of EIP-55. */
export function storedWallet(wallet: string): string {
  const account = evmAccountOf(wallet);
  if (account === undefined) return wallet;
  const { address, chainId } = account;
  return chainId === undefined ? address : `eip155:${chainId}:${address}`;
}

/**
 * What a wallet's messages are counted by: the 20 bytes of an EVM account, whatever its chain and its case of letters, so that
 * no other spelling of a wallet executes a message again.
 */
export const replayNameOf = (wallet: string): string => evmAccountOf(wallet)?.address.toLowerCase() ?? wallet;

/** A wallet that signs, in its stored form; whether it has signed is checked with the signature. */
export const walletAddress = z
  .string()
  .max(64)
  .regex(
    new RegExp(`^(?:${BASE_58}{32,44}|(?:eip155:[1-9]\\d{0,14}:)?0x[0-9a-fA-F]{40})$`),
    'A wallet is required: a base58 public key, "0x" and 40 hex digits, or those after "eip155:<chain id>:".',
  )
  .refine((text) => {
    const [, , address] = ACCOUNT.exec(text) ?? [];
    return address === undefined || isEvmAddress(address);
  }, 'The address has letters of both cases and a wrong EIP-55 checksum.')
  .overwrite(storedWallet)
  .meta({
    id: 'Wallet',
    description:
      'A wallet: base58 of the 32 bytes of an ed25519 public key; `0x` and 40 hex digits, the address of a key on EVM ' +
      'chains; or `eip155:<chain id>:0x…`, an account on that chain, which may be a contract. Letters of both cases need a ' +
      'valid EIP-55 checksum.',
  });

/** The most characters of a signature of an account on EVM chains; contracts have longer ones than keys. */
const MOST_SIGNATURE = 8192;

export const walletSignature = z
  .string()
  .max(MOST_SIGNATURE)
  .regex(
    new RegExp(`^(?:${BASE_58}{64,88}|0x(?:[0-9a-fA-F]{2})+)$`),
    'A signature is required: base58 of 64 bytes, or "0x" and hex digits.',
  )
  .meta({
    id: 'WalletSignature',
    description:
      'Base58 of the 64 bytes of an ed25519 signature; of accounts on EVM chains `0x` and hex digits: 65 bytes by EIP-191 ' +
      '(`personal_sign`) of a key, or what a contract takes by EIP-1271 or EIP-6492. At most 8,192 characters.',
  });
