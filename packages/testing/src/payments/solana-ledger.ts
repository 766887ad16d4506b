import {
  type Address,
  getAddressEncoder,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
/** By this much the chain's clock is ahead once payments have expired, in milliseconds: they are offered for a minute. */
const AHEAD_MS = 180_000;

/** A transaction that was executed, whether it failed or not. */
export interface Executed {
  readonly signature: string;
  readonly wire: string;
  readonly accounts: readonly string[];
  readonly slot: number;
  readonly blockTime: number;
  readonly error: string | null;
}

/** Solana's virtual machine with its real token program and one token, and what was executed on it. */
export interface SolanaLedger {
  readonly mint: Address;
  readonly executed: readonly Executed[];
  /** Gives an owner units of the token, in the account that belongs to both. */
  fund(owner: Address, units: bigint): Promise<void>;
  payFees(owner: Address): void;
  balanceOf(owner: Address): Promise<bigint>;
  latestBlockhash(): string;
  /** @param commitment of the block that is asked: a finalized one does not know blockhashes of the last seconds */
  isBlockhashValid(blockhash: string, commitment: string): boolean;
  /** No transaction that was signed before can be executed any more, and by the chain's clock its end is long past. */
  expire(): void;
  accountOf(address: string): { data: string; owner: string; lamports: number } | undefined;
  simulate(wire: string): void;
  execute(wire: string): string;
}

/** @param mint where the token stands, as on another network */
export function createSolanaLedger(mint: Address): SolanaLedger {
  const svm = new LiteSVM();
  const executed: Executed[] = [];
  let aheadMs = 0;
  const seconds = () => Math.floor((Date.now() + aheadMs) / 1000);
  const put = (address: Address, data: Uint8Array) => {
    const lamports = svm.minimumBalanceForRentExemption(BigInt(data.length));
    const account = { address, data, executable: false, lamports, programAddress: TOKEN_PROGRAM };
    svm.setAccount({ ...account, space: BigInt(data.length) } as never);
  };
  const read = (address: string) => {
    const account = svm.getAccount(address as never);
    return account.exists ? account : undefined;
  };
  const setClock = () => {
    const clock = svm.getClock();
    clock.unixTimestamp = BigInt(seconds());
    svm.setClock(clock);
  };
  put(mint, mintData());
  const unitsIn = (account: Address): bigint => {
    const data = read(account)?.data;
    return data === undefined ? 0n : new DataView(Uint8Array.from(data).buffer).getBigUint64(64, true);
  };
  return {
    mint,
    executed,
    fund: async (owner, units) => {
      const account = await tokenAccountOf(owner, mint);
      put(account, accountData(mint, owner, unitsIn(account) + units));
    },
    payFees: (owner) => {
      svm.airdrop(owner as never, 10_000_000_000n as never);
    },
    balanceOf: async (owner) => unitsIn(await tokenAccountOf(owner, mint)),
    latestBlockhash: () => svm.latestBlockhash(),
    isBlockhashValid: (blockhash, commitment) =>
      commitment !== 'finalized' && svm.latestBlockhash() === blockhash,
    expire: () => {
      svm.expireBlockhash();
      aheadMs = AHEAD_MS;
    },
    accountOf: (address) => {
      if (address === CLOCK) setClock();
      const account = read(address);
      if (account === undefined) return undefined;
      const data = getBase64Decoder().decode(Uint8Array.from(account.data));
      return { data, owner: account.programAddress, lamports: Number(account.lamports) };
    },
    simulate: (wire) => {
      const outcome = svm.simulateTransaction(decode(wire) as never);
      if (outcome instanceof FailedTransactionMetadata)
        throw new Error(`simulation failed: ${outcome.err()}`);
    },
    execute: (wire) => {
      const transaction = decode(wire);
      const signature = getSignatureFromTransaction(transaction as never);
      if (executed.some((one) => one.signature === signature)) throw new Error('already processed');
      const outcome = svm.sendTransaction(transaction as never);
      const error = outcome instanceof FailedTransactionMetadata ? String(outcome.err()) : null;
      const { staticAccounts } = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
      const blockTime = seconds();
      executed.unshift({
        signature,
        wire,
        accounts: staticAccounts,
        slot: executed.length + 1,
        blockTime,
        error,
      });
      if (error !== null) throw new Error(error);
      return signature;
    },
  };
}

const decode = (wire: string): Transaction => getTransactionDecoder().decode(getBase64Encoder().encode(wire));

export async function tokenAccountOf(owner: Address, mint: Address): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, mint].map((part) => getAddressEncoder().encode(part));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return account;
}

/** A mint of the token program: no authorities, six decimals. */
function mintData(): Uint8Array {
  const data = new Uint8Array(MINT_BYTES);
  new DataView(data.buffer).setBigUint64(36, 10n ** 15n, true);
  data.set([6, 1], 44);
  return data;
}

/** An account of the token program, initialized. */
function accountData(mint: Address, owner: Address, units: bigint): Uint8Array {
  const data = new Uint8Array(ACCOUNT_BYTES);
  data.set(getAddressEncoder().encode(mint), 0);
  data.set(getAddressEncoder().encode(owner), 32);
  new DataView(data.buffer).setBigUint64(64, units, true);
  data[108] = 1;
  return data;
}
