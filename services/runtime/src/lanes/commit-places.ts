/** The places for commits in flight. */
export interface CommitPlaces {
  readonly taken: number;
  readonly isFull: boolean;
  take(): void;
  giveBack(): void;
  /**
   * Resolves at once while there is a place, else when the next commit ends. What is asked only for the sake of a commit
   * need not be asked more often than commits can begin.
   */
  roomAhead(): Promise<void> | undefined;
}

export function createCommitPlaces(count: number): CommitPlaces {
  let taken = 0;
  let waiting: (() => void)[] = [];
  return {
    get taken() {
      return taken;
    },
    get isFull() {
      return taken >= count;
    },
    take: () => {
      taken += 1;
    },
    giveBack: () => {
      taken -= 1;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    roomAhead: () => (taken < count ? undefined : new Promise((resolve) => waiting.push(resolve))),
  };
}
