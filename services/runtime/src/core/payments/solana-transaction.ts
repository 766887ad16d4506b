import { hash } from 'node:crypto';
import { type JsonObject, ServiceError } from '@orrery/contracts';
import {
  type Address,
  type Blockhash,
  getAddressEncoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getTransactionDecoder,
} from '@solana/kit';
import type { OfferReader, Requirement } from './payment.js';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address;
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const TOKEN_PROGRAMS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

/** The number of the instruction in the token programs, and in the system program. */
const TRANSFER_CHECKED = 12;
const ADVANCE_NONCE = 4;
/** The most that a transaction of Solana has, in bytes, and its length in base64. */
const MAX_WIRE_BYTES = 1232;
const MAX_BASE64 = Math.ceil(MAX_WIRE_BYTES / 3) * 4;
/** How long a transaction can be used after it was signed, in milliseconds: 150 blocks, at least. */
const VALID_MS = 60_000;

/** A signed transaction that transfers a token, as far as it matters to its receiver. */
export interface TokenTransfer {
  /** SHA-256 of the message: it names the transaction, whoever signs it besides. */
  readonly messageHash: string;
  readonly feePayer: string;
  readonly blockhash: Blockhash;
  /** A transaction on a durable nonce never expires. */
  readonly isDurable: boolean;
  readonly transfers: readonly {
    readonly mint: string;
    readonly destination: string;
    readonly authority: string;
    readonly amount: bigint;
  }[];
}

/** @throws `invalid_payment` */
export function readTransaction(payload: JsonObject): TokenTransfer {
  const { transaction } = payload;
  if (typeof transaction !== 'string' || transaction.length > MAX_BASE64)
    throw new ServiceError(
      'invalid_payment',
      'The payment has no "transaction" in base64 of at most 1,232 bytes.',
    );
  try {
    return decode(transaction);
  } catch (error) {
    throw new ServiceError('invalid_payment', 'The transaction of the payment cannot be decoded.', {
      cause: error,
    });
  }
}

function decode(transaction: string): TokenTransfer {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const accounts: readonly string[] = message.staticAccounts;
  // What a lookup table would add is undefined here, and fits nothing.
  const accountAt = (index: number | undefined) => (index === undefined ? undefined : accounts[index]) ?? '';
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: accountAt(programAddressIndex),
    accounts: accountIndices.map(accountAt),
    data: data === undefined ? new Uint8Array() : Uint8Array.from(data),
  }));
  const [first] = instructions;
  return {
    messageHash: hash('sha256', Buffer.from(messageBytes), 'hex'),
    feePayer: accountAt(0),
    blockhash: message.lifetimeToken as Blockhash,
    isDurable: first?.program === SYSTEM_PROGRAM && first.data[0] === ADVANCE_NONCE,
    transfers: instructions
      .filter(({ program, data }) => TOKEN_PROGRAMS.includes(program) && data[0] === TRANSFER_CHECKED)
      .filter(({ data, accounts: named }) => data.length >= 10 && named.length >= 4)
      .map(({ accounts: [, mint = '', destination = '', authority = ''], data }) => ({
        mint,
        destination,
        authority,
        amount: new DataView(data.buffer, data.byteOffset).getBigUint64(1, true),
      })),
  };
}

/** Reads payments that are signed transactions with one transfer of the token to an account of the receiver. */
export const solanaReader: OfferReader = (payload, requirement, now) => {
  const transaction = readTransaction(payload);
  const mismatch = mismatchOf(transaction, requirement);
  if (mismatch !== undefined) return { mismatch };
  const [transfer] = transaction.transfers;
  return {
    key: `${requirement.caip2}/${transaction.messageHash}`,
    payer: transfer?.authority ?? '',
    payload: { transaction: String(payload['transaction']) },
    validUntil: now + VALID_MS,
  };
};

function mismatchOf(
  { transfers, feePayer, isDurable }: TokenTransfer,
  { asset, amount, extra, receivingAccounts = [] }: Requirement,
): string | undefined {
  const [transfer, second] = transfers;
  if (transfer === undefined || second !== undefined) return 'The payment is not one transfer of a token.';
  if (isDurable) return 'The transaction has a durable nonce: use a recent blockhash.';
  if (feePayer !== extra['feePayer']) return 'The transaction has another fee payer than the one required.';
  if (transfer.mint !== asset) return 'The payment is in an asset in which this execution cannot be paid.';
  if (!receivingAccounts.includes(transfer.destination)) return 'The payment is for another receiver.';
  if (transfer.amount !== BigInt(amount)) return `The payment is not of the amount required, ${amount}.`;
  return undefined;
}

/** The accounts in which an owner receives a token: one for each program that the token may belong to. */
export const receivingAccountsOf = (owner: string, mint: string): Promise<string[]> =>
  Promise.all(
    [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map(async (program) => {
      const encoder = getAddressEncoder();
      const seeds = [owner as Address, program, mint as Address].map((part) => encoder.encode(part));
      const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
      return account;
    }),
  );
