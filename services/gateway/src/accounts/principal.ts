import type { Scope } from '@orrery/contracts';

/** Who a verified token is. */
export interface Principal {
  readonly accountId: number;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}
