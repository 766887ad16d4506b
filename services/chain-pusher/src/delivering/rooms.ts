/** A number for attempts at once to receivers that answer soon, and one for those that fail or take long. */
export interface RoomSizes {
  readonly quick: number;
  readonly slow: number;
}

type RoomName = keyof RoomSizes;

/** The account whose webhook it is; null where it is not known. */
export type Account = number | null;

/** A place for one attempt after the other. */
export interface Place {
  /** Goes over to the slow ones, unless these, or the account's share of them, are full. */
  becomeSlow(): void;
  isSlow(): boolean;
  leave(): void;
}

/** What may be claimed for a room: so many, and none of the accounts that have their share. */
export interface Claimable {
  readonly most: number;
  readonly crowded: readonly Account[];
}

/**
 * Places for attempts. One that takes long gives its place among the quick ones back while it goes on, so that receivers
 * which hang take places from their like alone. An account has at most its share of each kind, so that its receivers, however
 * many of them hang, leave places to others.
 */
export function createRooms(sizes: RoomSizes, shares: RoomSizes) {
  const taken = { quick: new Map<Account, number>(), slow: new Map<Account, number>() };
  const add = (room: RoomName, account: Account, by: 1 | -1) => {
    const count = (taken[room].get(account) ?? 0) + by;
    if (count > 0) taken[room].set(account, count);
    else taken[room].delete(account);
  };
  const free = (room: RoomName): number =>
    sizes[room] - [...taken[room].values()].reduce((sum, count) => sum + count, 0);
  const hasRoom = (room: RoomName, account: Account) =>
    free(room) > 0 && (taken[room].get(account) ?? 0) < shares[room];
  return {
    /** However many of these one account turns out to have, it gets no more than its share. */
    claimable: (room: RoomName): Claimable => {
      const counts = [...taken[room]];
      const crowded = counts.flatMap(([account, count]) => (count >= shares[room] ? [account] : []));
      const others = counts.flatMap(([, count]) => (count >= shares[room] ? [] : count));
      return { most: Math.min(free(room), shares[room] - Math.max(0, ...others)), crowded };
    },
    enter: (first: RoomName, account: Account): Place => {
      let room: RoomName | undefined = first;
      add(first, account, 1);
      return {
        becomeSlow: () => {
          if (room !== 'quick' || !hasRoom('slow', account)) return;
          add('quick', account, -1);
          add('slow', account, 1);
          room = 'slow';
        },
        isSlow: () => room === 'slow',
        leave: () => {
          if (room !== undefined) add(room, account, -1);
          room = undefined;
        },
      };
    },
  };
}
