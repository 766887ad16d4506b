import { limitRpcs } from '../limits/limits.js';
import { defineContract } from '../rpc/rpc.js';
import { accountRpcs, accountStateRpcs } from './accounts.js';
import { keyRpcs } from './keys.js';
import { signInRpcs } from './sign-in.js';

/**
 * Operations that the gateway answers by itself. They never travel over the bus: some answers hold a token, and no
 * secret is ever a bus message.
 */
export const identityContract = defineContract('gateway', {
  ...accountRpcs,
  ...keyRpcs,
  ...signInRpcs,
  ...limitRpcs,
});

/** What the gateway answers to the other services. */
export const accountContract = defineContract('gateway', { ...accountStateRpcs });
