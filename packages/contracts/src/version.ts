/** The release, as `package.json` has it: of the HTTP contract too. */
export const VERSION = '0.1.0';
