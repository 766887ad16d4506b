import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase58Decoder,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  verifySignature,
} from '@solana/kit';

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111');
/** The instruction `SetComputeUnitLimit`. */
const SET_LIMIT = 2;

export interface Lifetime {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** A signer from a keypair of 64 bytes, as base58 or as a JSON array. */
export function signerOf(key: string): Promise<KeyPairSigner> {
  const bytes = key.startsWith('[') ? (JSON.parse(key) as number[]) : getBase58Encoder().encode(key);
  return createKeyPairSignerFromBytes(Uint8Array.from(bytes));
}

/** A signed transaction with one memo, as base64, and its signature. */
export async function signMemo(
  signer: KeyPairSigner,
  { program, memo, units }: { program: string; memo: string; units: number },
  { blockhash, lastValidBlockHeight }: Lifetime,
): Promise<{ raw: string; signature: string }> {
  const lifetime = {
    blockhash: blockhash as Blockhash,
    lastValidBlockHeight: BigInt(lastValidBlockHeight),
  };
  const instructions = [limitOf(units), memoBy(signer.address, program, memo)];
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(signer, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
    (one) => appendTransactionMessageInstructions(instructions, one),
  );
  const signed = await signTransactionMessageWithSigners(message);
  return { raw: getBase64EncodedWireTransaction(signed), signature: getSignatureFromTransaction(signed) };
}

function limitOf(units: number): Instruction {
  const data = new Uint8Array(5);
  data[0] = SET_LIMIT;
  new DataView(data.buffer).setUint32(1, units, true);
  return { programAddress: COMPUTE_BUDGET, data };
}

/** The memo program checks that the accounts that it is given have signed. */
const memoBy = (signer: Address, program: string, memo: string): Instruction => ({
  programAddress: address(program),
  accounts: [{ address: signer, role: AccountRole.READONLY_SIGNER }],
  data: new TextEncoder().encode(memo),
});

/** Characters of the largest transaction as base64. */
const MAX_WIRE = 1644;

/**
 * The memo of a transaction that the signer signed and pays, under this id; undefined for any other. The signature is
 * checked here: a server may be wrong about who signed.
 */
export async function memoSignedBy(
  signer: KeyPairSigner,
  { program, signature, wire }: { program: string; signature: string; wire: string },
): Promise<string | undefined> {
  if (wire.length > MAX_WIRE) return undefined;
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
    const { staticAccounts, instructions } = getCompiledTransactionMessageDecoder().decode(
      messageBytes,
    ) as unknown as CompiledMessage;
    const signed = signatures[signer.address];
    if (staticAccounts[0] !== signer.address || !signed || getBase58Decoder().decode(signed) !== signature)
      return undefined;
    if (!(await verifySignature(signer.keyPair.publicKey, signed, messageBytes))) return undefined;
    const data = instructions.find((one) => staticAccounts[one.programAddressIndex] === program)?.data;
    return data && new TextDecoder().decode(data);
  } catch {
    return undefined;
  }
}

/** The parts of a message, of any version, that are read here. */
interface CompiledMessage {
  readonly staticAccounts: readonly string[];
  readonly instructions: readonly { readonly programAddressIndex: number; readonly data?: Uint8Array }[];
}
