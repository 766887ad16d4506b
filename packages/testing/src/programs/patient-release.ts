/**
 * For `Resources` and `holding` in tests: how long each thing that a test started may take to end. A service ends within
 * 2 s; a busy machine is twenty times slower.
 */
export const PATIENT = { releaseTimeoutMs: 60_000 } as const;
