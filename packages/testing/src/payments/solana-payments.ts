import {
  type Address,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type KeyPairSigner,
  partiallySignTransaction,
} from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import { serveJsonRpc } from '../servers/json-rpc.js';
import { type FacilitatorServer, startFacilitator } from './facilitator-server.js';
import { createSolanaLedger, type SolanaLedger } from './solana-ledger.js';

/** The address of USDC on Solana's devnet, and its first block, which names the network by CAIP-2. */
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const NETWORK = `solana:${GENESIS.slice(0, 32)}` as const;

/** JSON-RPC's code for what is not served. */
const NO_METHOD = -32_601;

export interface SolanaPayments extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly ledger: SolanaLedger;
  readonly facilitator: FacilitatorServer;
  /** Requests to the ledger's node; awaited before they are answered. */
  beforeAnswering: (method: string) => Promise<void>;
}

/** Solana's virtual machine behind the part of its JSON-RPC that payments use, and the x402 library's facilitator for it. */
export async function startSolanaPayments(): Promise<SolanaPayments> {
  const ledger = createSolanaLedger(MINT);
  const feePayer = await generateKeyPairSigner();
  ledger.payFees(feePayer.address);
  const facilitator = new x402Facilitator();
  registerExactSvmScheme(facilitator, { signer: signerOf(ledger, feePayer) as never, networks: NETWORK });
  const server = await startFacilitator(facilitator);
  const payments: SolanaPayments = {
    rpcUrl: '',
    ledger,
    facilitator: server,
    beforeAnswering: async () => undefined,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rpc[Symbol.asyncDispose]();
    },
  };
  const rpc = await serveJsonRpc(async (method: string, params: Params) => {
    await payments.beforeAnswering(method);
    return answerOf(ledger, method, params);
  }, NO_METHOD);
  return Object.assign(payments, { rpcUrl: rpc.url });
}

function signerOf(ledger: SolanaLedger, feePayer: KeyPairSigner) {
  const signTransaction = async (wire: string) => {
    const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
    return getBase64EncodedWireTransaction(await partiallySignTransaction([feePayer.keyPair], transaction));
  };
  return {
    getAddresses: () => [feePayer.address],
    signTransaction,
    // The machine takes only what is signed by all.
    simulateTransaction: async (wire: string) => ledger.simulate(await signTransaction(wire)),
    sendTransaction: async (wire: string) => ledger.execute(wire),
    confirmTransaction: async () => undefined,
  };
}

type Params = readonly [
  string,
  { readonly limit?: number; readonly before?: string; readonly commitment?: string }?,
];

function answerOf(ledger: SolanaLedger, method: string, [first, options = {}]: Params): unknown {
  const context = { slot: ledger.executed.length + 1 };
  switch (method) {
    case 'getGenesisHash':
      return GENESIS;
    case 'getLatestBlockhash':
      return { context, value: { blockhash: ledger.latestBlockhash(), lastValidBlockHeight: 150 } };
    case 'isBlockhashValid':
      return { context, value: ledger.isBlockhashValid(first, options.commitment ?? 'finalized') };
    case 'getAccountInfo': {
      const account = ledger.accountOf(first);
      if (account === undefined) return { context, value: null };
      const { data, ...rest } = account;
      return {
        context,
        value: { ...rest, data: [data, 'base64'], executable: false, rentEpoch: 0, space: 0 },
      };
    }
    case 'getSignaturesForAddress': {
      const all = ledger.executed.filter(({ accounts }) => accounts.includes(first));
      const from =
        options.before === undefined ? 0 : all.findIndex((one) => one.signature === options.before) + 1;
      return all.slice(from, from + (options.limit ?? 1000)).map(({ signature, slot, blockTime, error }) => ({
        signature,
        slot,
        blockTime,
        err: error === null ? null : { InstructionError: [0, 'Custom'] },
        memo: null,
        confirmationStatus: 'finalized',
      }));
    }
    case 'getTransaction': {
      const found = ledger.executed.find(({ signature }) => signature === first);
      if (found === undefined) return null;
      const { slot, blockTime, wire, error } = found;
      const err = error === null ? null : { InstructionError: [0, 'Custom'] };
      return { slot, blockTime, transaction: [wire, 'base64'], version: 0, meta: { err, fee: 5000 } };
    }
    default:
      throw new Error(`the ledger has no ${method}`);
  }
}
