import { defineContract } from '../rpc/rpc.js';
import { definitionRpcs } from './definitions.js';

/** Everything that the catalog answers. */
export const catalogContract = defineContract('catalog', { ...definitionRpcs });
