import { referenceRpcs } from '../catalog/definitions.js';
import { defineContract } from '../rpc/rpc.js';

/** Everything that the runtime answers. */
export const runtimeContract = defineContract('runtime', { ...referenceRpcs });
