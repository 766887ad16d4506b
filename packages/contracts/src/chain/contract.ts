import { defineContract } from '../rpc/rpc.js';
import { chainRpcs } from './chains.js';
import { pushRpcs } from './pushes.js';

/** Everything that the chain-pusher answers. */
export const chainContract = defineContract('chain-pusher', { ...chainRpcs, ...pushRpcs });
