import type { Logger } from '@orrery/service-kit';
import type { PaymentAsset } from '../../core/payments/payment.js';

/** A network of payments and its nodes. */
export type NetworkNodes = Pick<PaymentAsset, 'network' | 'caip2' | 'rpcUrls'>;

/** Resolves where a node is of the network that it is listed for. @throws ForeignNode, or what asking it has thrown */
export type NodeCheck = () => Promise<void>;

/** A node of another network than the one it is listed for. Its address may hold a key, so its place in the list names it. */
export class ForeignNode extends Error {
  override readonly name = 'ForeignNode';
}

interface CheckedNode {
  readonly asset: NetworkNodes;
  /** In `rpcUrls`. */
  readonly index: number;
  readonly logger: Logger;
}

/**
 * A node of another network finds no payment of ours, and would call each of them not charged: none is asked before it has
 * said of which network it is. One that is of another is asked for that again, since it may be replaced behind its address.
 * @param ask resolves with the network of the node by CAIP-2
 */
export function ofItsNetwork(
  { asset: { network, caip2 }, index, logger }: CheckedNode,
  ask: () => Promise<string>,
): NodeCheck {
  let told: string | undefined;
  const check = async () => {
    const found = await ask();
    if (found === caip2) return;
    const error = new ForeignNode(
      `rpcUrls[${index}] of ${network} in PAYMENTS_FILE is a node of ${found}: give one of ${caip2}`,
    );
    if (told !== found) logger.error({ err: error }, 'a node is not asked about payments');
    told = found;
    throw error;
  };
  let checked: Promise<void> | undefined;
  return () => {
    checked ??= check().catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    return checked;
  };
}
