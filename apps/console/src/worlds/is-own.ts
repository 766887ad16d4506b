import type { World } from '../api/records.js';

/** Only the owner is shown the prompt seed, if only as null. */
export const isOwn = ({ promptSeed }: World): boolean => promptSeed !== undefined;
