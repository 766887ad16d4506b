import type { Logger } from '@orrery/service-kit';
import { assetsOfOpenPayments } from '../../store/runs/payment-store.js';
import type { Db } from '../../store/tables/schema.js';
import type { Payments } from './payments.js';

export interface NamingDependencies {
  readonly db: Db;
  readonly payments: Pick<Payments, 'isConfigured'>;
  readonly logger: Logger;
}

/** Logs in which assets payments are open that the operator does not list any more: no chain is asked about them. */
export async function nameUnconfigured({ db, payments, logger }: NamingDependencies): Promise<void> {
  for (const { payments: open, ...asset } of await assetsOfOpenPayments(db))
    if (!payments.isConfigured(asset))
      logger.error(
        { ...asset, payments: open },
        'open payments cannot end, because their asset is not configured any more: list it in PAYMENTS_FILE until none of them is open',
      );
}
