import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { z } from 'zod';

const EVM = /^0x[0-9a-fA-F]{40}$/;
const BASE_58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Where payments go: an EVM address, or a base58 public key of 32 bytes (Solana). Kept as it was sent. */
export const walletAddress = z
  .string()
  .refine(
    (text) => isEvmAddress(text) || isBase58Key(text),
    'A wallet address is required: "0x" and 40 hexadecimal digits (with a valid EIP-55 checksum if letters of both ' +
      'cases occur), or the base58 text of 32 bytes.',
  )
  .meta({
    minLength: 32,
    maxLength: 44,
    description:
      'An EVM address (`0x` and 40 hex digits, with a valid EIP-55 checksum if letters of both cases occur) or the base58 ' +
      'text of a public key of 32 bytes.',
  });

/** `0x` and 40 hexadecimal digits, with a valid EIP-55 checksum if letters of both cases occur. */
export function isEvmAddress(text: string): boolean {
  if (!EVM.test(text)) return false;
  const digits = text.slice(2);
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isOneCase || text === checksumAddress(text);
}

/** An EVM address in the spelling of EIP-55: a letter is a capital where the hash's digit in its position is 8 or more. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const spelled = digits.replace(/[a-f]/g, (letter, at: number) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? letter.toUpperCase() : letter,
  );
  return `0x${spelled}`;
}

const isBase58Key = (text: string): boolean => BASE_58.test(text) && bs58.decodeUnsafe(text)?.length === 32;
