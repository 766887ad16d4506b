/** When keys were used last, collected in memory and written now and then: a request never waits for it. */
export interface LastUses {
  note(keyId: string, at: number): void;
  /** Writes what has come since the last time; what could not be written is kept. */
  flush(): Promise<void>;
}

/** Beyond this many keys between two writes, new ones are not noted. */
const MAX_NOTED = 100_000;

export function createLastUses(record: (uses: ReadonlyMap<string, number>) => Promise<void>): LastUses {
  let noted = new Map<string, number>();
  const note = (keyId: string, at: number) => {
    if (noted.size < MAX_NOTED || noted.has(keyId)) noted.set(keyId, at);
  };
  return {
    note,
    flush: async () => {
      if (noted.size === 0) return;
      const batch = noted;
      noted = new Map();
      await record(batch).catch((error: unknown) => {
        for (const [keyId, at] of batch) if (!noted.has(keyId)) note(keyId, at);
        throw error;
      });
    },
  };
}
