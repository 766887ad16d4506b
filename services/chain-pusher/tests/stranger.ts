import type { SolanaNode } from '@orrery/testing/servers';
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';

const SYSTEM = address('11111111111111111111111111111111');
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** The system program's instruction `Transfer`. */
const TRANSFER = 2;

async function ask<T>({ url }: SolanaNode, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify([{ jsonrpc: '2.0', id: 0, method, params }]);
  const [reply] = (await (await fetch(url, { method: 'POST', body })).json()) as { result: T }[];
  return (reply as { result: T }).result;
}

/** Sends a lamport to an account, with memos, from a key that nobody knows. Resolves with the transaction's id. */
export async function sendFromStranger(node: SolanaNode, to: string, ...memos: string[]): Promise<string> {
  const stranger = await generateKeyPairSigner();
  node.fund(stranger.address);
  const { value } = await ask<{ value: { blockhash: Blockhash; lastValidBlockHeight: number } }>(
    node,
    'getLatestBlockhash',
  );
  const lifetime = {
    blockhash: value.blockhash,
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
  };
  const instructions = [transferOf(stranger.address, to as Address), ...memos.map(memoOf)];
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(stranger, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
    (one) => appendTransactionMessageInstructions(instructions, one),
  );
  const signed = await signTransactionMessageWithSigners(message);
  await ask(node, 'sendTransaction', getBase64EncodedWireTransaction(signed), { encoding: 'base64' });
  return getSignatureFromTransaction(signed);
}

function transferOf(from: Address, to: Address) {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, TRANSFER, true);
  view.setBigUint64(4, 1n, true);
  const accounts = [
    { address: from, role: AccountRole.WRITABLE_SIGNER },
    { address: to, role: AccountRole.WRITABLE },
  ];
  return { programAddress: SYSTEM, accounts, data };
}

const memoOf = (memo: string) => ({
  programAddress: MEMO,
  accounts: [],
  data: new TextEncoder().encode(memo),
});
