import { ServiceError, type SolanaPaymentFacts } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import type { PaymentAsset } from '../../core/payments/payment.js';

/** How long an answer of a node, or its silence, is told again, in milliseconds: a blockhash is good for a minute. */
const TOLD_MS = 1000;

interface Told {
  readonly facts: Promise<SolanaPaymentFacts>;
  /** By the monotonic clock; later than anything until the node has answered. */
  until: number;
}

/** Tells payers without a node of Solana what the operator's nodes say: they are asked once a second for each asset. */
export function createSolanaFacts(accepts: readonly PaymentAsset[], clock: Clock, logger: Logger) {
  const told = new Map<PaymentAsset, Told>();
  const ask = (asset: PaymentAsset): Told => {
    const asked: Told = {
      until: Number.POSITIVE_INFINITY,
      facts: factsFrom(asset).catch((error: unknown) => {
        logger.warn(
          { err: error, network: asset.network },
          'no node of Solana could be asked for a blockhash',
        );
        throw new ServiceError('unavailable', NOT_REACHED, { facts: { retryAfterSeconds: 5 }, cause: error });
      }),
    };
    const settled = () => {
      asked.until = clock.monotonic() + TOLD_MS;
    };
    asked.facts.then(settled, settled);
    told.set(asset, asked);
    return asked;
  };
  /** @throws `unknown_chain` where the operator has no such asset or no node for it, `unavailable` */
  return async (network: string, mint: string): Promise<SolanaPaymentFacts> => {
    const asset = accepts.find(
      (one) => one.family === 'solana' && one.caip2 === network && one.asset === mint,
    );
    if (asset === undefined) throw new ServiceError('unknown_chain', NOT_TAKEN);
    if (asset.rpcUrls.length === 0) throw new ServiceError('unknown_chain', NO_NODE);
    const known = told.get(asset);
    return (known !== undefined && clock.monotonic() < known.until ? known : ask(asset)).facts;
  };
}

const NOT_REACHED = 'No node of Solana answers: nothing was charged. Try again later.';
const NOT_TAKEN =
  'This service takes no payments in this asset on Solana. The `accepts` of the answer 402 name what it takes.';
const NO_NODE =
  'The operator has set no node of this network (`rpcUrls`): pay with a client that asks a node of its own.';

/** What is loaded for Solana is loaded with the first payer that asks. */
async function factsFrom({ caip2, asset, decimals, rpcUrls }: PaymentAsset): Promise<SolanaPaymentFacts> {
  const { openNodes } = await import('./solana-chain.js');
  const rpc = openNodes(rpcUrls);
  const [latest, mint] = await Promise.all([
    rpc.getLatestBlockhash({ commitment: 'confirmed' }).send(),
    rpc.getAccountInfo(asset as never, { encoding: 'base64' }).send(),
  ]);
  if (mint.value === null) throw new Error(`there is no token ${asset}`);
  const { blockhash, lastValidBlockHeight } = latest.value;
  return {
    ...{ network: caip2, asset, decimals, tokenProgram: mint.value.owner, blockhash },
    lastValidBlockHeight: Number(lastValidBlockHeight),
  };
}
