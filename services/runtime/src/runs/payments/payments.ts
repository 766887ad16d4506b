import { type OfferedPayment, ServiceError } from '@orrery/contracts';
import { type Clock, createSemaphore, type Logger } from '@orrery/service-kit';
import { evmReader } from '../../core/payments/evm-authorization.js';
import type {
  Chain,
  Charge,
  ChargeSearch,
  Facilitator,
  Payment,
  PaymentAsset,
  PaymentFamily,
  Requirement,
  Resource,
} from '../../core/payments/payment.js';
import { type ReadOffer, readOffer } from '../../core/payments/read-offer.js';
import { type Price, requirementOf } from '../../core/payments/requirements.js';
import { FacilitatorError } from './facilitator-requests.js';
import { createHttpFacilitator } from './http-facilitator.js';
import { payerOf } from './payer.js';
import type { PaymentConfig } from './payment-config.js';
import { resolvePayment, type Settlement, type SettleOptions, settlePayment } from './settle-payment.js';
import { createSolanaFacts } from './solana-facts.js';
import { SolanaTerms } from './solana-terms.js';

/** Who verifies and settles, and who is asked for the outcome. */
export interface PaymentParties {
  readonly facilitator: Facilitator;
  chainOf(requirement: AssetName): Promise<Chain>;
}

type AssetName = Pick<PaymentAsset, 'network' | 'asset'>;

/** Unclear payments whose chains are asked at once: others wait for nothing but their own end. */
const RESOLVED_AT_ONCE = 20;

export type Payments = ReturnType<typeof createPayments>;
type Unbounded = Omit<SettleOptions, 'until'>;

/** Payments as the executions see them. */
export function createPayments({
  config,
  parties: { facilitator, chainOf: chainFor },
  clock,
  logger,
}: {
  readonly config: PaymentConfig;
  readonly parties: PaymentParties;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const chainOf = ({ requirement }: Payment) => chainFor(requirement);
  const settling = { facilitator, chainOf, clock, logger };
  const assetsFor = (payTo: string): readonly PaymentAsset[] => {
    const family = familyOf(payTo);
    const assets = config.accepts.filter((asset) => asset.family === family);
    if (assets.length > 0) return assets;
    throw new ServiceError(
      'pay_to_address_missing',
      'This service takes no payments on the chain of the payToAddress: set one of another chain.',
    );
  };
  const solana = new SolanaTerms(facilitator, clock);
  const readerOf = ({ family }: Requirement) => (family === 'solana' ? solana.reader : evmReader);
  /** Installations that share a receiver cannot tell whose payments arrive there. */
  const warnOf =
    ({ key, requirement: { payTo } }: Payment) =>
    (settlement: Settlement): Settlement => {
      if (settlement.kind === 'elsewhere')
        logger.warn(
          { payment: key, payTo, transaction: settlement.transaction },
          'a payment was charged by a transaction that is not ours: if another installation has the same payToAddress, give each its own',
        );
      return settlement;
    };
  const resolving = createSemaphore(RESOLVED_AT_ONCE);
  return {
    whyUnpayable: (payTo: string) => whyUnpayable(payTo, config),
    isConfigured: (name: AssetName): boolean => findAsset(config.accepts, name) !== undefined,
    /**
     * What may be paid for one execution, one requirement for each asset of the receiver's family. 'prepare': `prepare`
     * has not been called for this receiver, or too long ago.
     * @throws `pay_to_address_missing` where no asset fits the receiver
     */
    requirements: (price: Price): readonly Requirement[] | 'prepare' => {
      const found = assetsFor(price.payTo).map((asset) =>
        asset.family === 'solana'
          ? solana.requirement(asset, price)
          : requirementOf(asset, price, { name: asset.name, version: asset.version }),
      );
      const known = found.filter((requirement) => requirement !== undefined);
      return known.length === found.length ? known : 'prepare';
    },
    /** Fetches what requirements for this receiver need. @throws `unavailable` */
    prepare: async (payTo: string): Promise<void> => {
      if (familyOf(payTo) === 'evm') return;
      try {
        await Promise.all(assetsFor(payTo).map((asset) => solana.prepare(asset, payTo)));
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        logger.warn({ err: error }, 'the facilitator could not be asked who pays the fees');
        throw unavailable(error);
      }
    },
    /** Reads an offered payment against requirements. @throws `invalid_payment` */
    read: (offered: OfferedPayment, requirements: readonly Requirement[], resource: Resource): ReadOffer =>
      readOffer(offered, requirements, resource, { now: clock.now(), readerOf }),
    /** Undefined where the facilitator finds the payment good, else its reason. @throws `unavailable` */
    verify: oneAtATime(async (payment) => {
      try {
        return await facilitator.verify(payment);
      } catch (error) {
        logger.warn({ err: error }, 'the facilitator could not be asked to verify a payment');
        throw unavailable(error);
      }
    }),
    payerOf,
    solanaFacts: createSolanaFacts(config.accepts, clock, logger),
    /** Takes as long as a settlement may take. */
    settle: (payment: Payment, options: Unbounded): Promise<Settlement> => {
      const until = clock.monotonic() + config.settleMs;
      return settlePayment(settling, payment, { until, ...options }).then(warnOf(payment));
    },
    /** Finds out the outcome of a payment whose settlement is unclear; a bounded number at once. */
    resolve: (payment: Payment, options: Unbounded): Promise<Settlement> =>
      resolving.run(options.signal, () => resolvePayment(settling, payment, options).then(warnOf(payment))),
    /** @throws when the chain cannot be asked, or the signal's reason */
    look: async (payment: Payment, search: ChargeSearch): Promise<Charge> =>
      (await chainOf(payment)).look(payment, search),
  };
}

type Verify = Facilitator['verify'];

/** Copies of a payment that arrive during its verification share the result. */
function oneAtATime(verify: Verify): Verify {
  const underWay = new Map<string, ReturnType<Verify>>();
  return (payment) => {
    const { x402Version, requirement, payload } = payment;
    const name = JSON.stringify([x402Version, requirement, payload]);
    const known = underWay.get(name);
    if (known !== undefined) return known;
    const verified = verify(payment).finally(() => underWay.delete(name));
    underWay.set(name, verified);
    return verified;
  };
}

function unavailable(cause: unknown): ServiceError {
  const status = cause instanceof FacilitatorError ? cause.status : undefined;
  const what =
    status === undefined
      ? 'The payment facilitator cannot be reached.'
      : status === 200
        ? 'The payment facilitator gave an answer that cannot be read.'
        : `The payment facilitator answered with an error (HTTP ${status}).`;
  const message = `${what} Nothing was charged: repeat the request later.`;
  return new ServiceError('unavailable', message, { facts: { retryAfterSeconds: 5 }, cause });
}

const familyOf = (payTo: string): PaymentFamily => (payTo.startsWith('0x') ? 'evm' : 'solana');

const CHAINS: Readonly<Record<PaymentFamily, string>> = { evm: 'EVM chains', solana: 'Solana' };

/**
 * Why no wallet can pay this receiver, as the end of a sentence: the operator takes no payments on its chains. Undefined
 * where wallets can.
 */
function whyUnpayable(payTo: string, { accepts }: PaymentConfig): string | undefined {
  const taken = new Set(accepts.map(({ family }) => family));
  const own = familyOf(payTo);
  if (taken.has(own)) return undefined;
  const others = [...taken].map((family) => CHAINS[family]).join(' or ');
  return (
    `this service takes no payments on ${CHAINS[own]}, where the deployment's payToAddress is: ` +
    `no wallet can execute it until the deployment has one on ${others}`
  );
}

/** The asset of a payment, which may outlive the configuration that it was made under. EVM addresses have letters of any case. */
const findAsset = (
  accepts: readonly PaymentAsset[],
  { network, asset }: AssetName,
): PaymentAsset | undefined =>
  accepts.find(
    (one) =>
      one.network === network &&
      (one.family === 'evm' ? one.asset.toLowerCase() === asset.toLowerCase() : one.asset === asset),
  );

/** The facilitator and the chains of a configuration. What talks to them is loaded with the first payment. */
export function networkParties(config: PaymentConfig, clock: Clock, logger: Logger): PaymentParties {
  const chains = new Map<string, Promise<Chain>>();
  return {
    facilitator: createHttpFacilitator(config.facilitatorUrl, logger),
    chainOf: (requirement) => {
      const found = findAsset(config.accepts, requirement);
      if (found === undefined) return Promise.reject(new Error(notConfigured(requirement)));
      // Assets of one network may have nodes of their own, or none.
      const nodes = [found.network, ...found.rpcUrls].join(' ');
      const chain = chains.get(nodes) ?? openChain(found, clock, logger);
      chains.set(nodes, chain);
      return chain;
    },
  };
}

const notConfigured = ({ network, asset }: AssetName): string =>
  `payments in ${asset} on ${network} are not configured any more: list the asset in PAYMENTS_FILE until none of them is open`;

async function openChain(asset: PaymentAsset, clock: Clock, logger: Logger): Promise<Chain> {
  if (asset.rpcUrls.length === 0) return unseenChain(clock);
  if (asset.family === 'solana') {
    const { createSolanaChain } = await import('./solana-chain.js');
    return createSolanaChain(asset, logger);
  }
  const { createEvmChain } = await import('./evm-chain.js');
  return createEvmChain(asset, logger);
}

/** How long after the end of a payment it counts as not charged where no node tells, in milliseconds. */
const UNSEEN_MS = 60_000;

/** A chain for which the operator has no node: the facilitator's word counts. */
const unseenChain = (clock: Clock): Chain => ({
  look: async ({ validUntil }) =>
    clock.now() > validUntil + UNSEEN_MS ? { kind: 'void', reason: 'not_seen' } : { kind: 'unseen' },
});
