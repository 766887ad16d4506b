/** Attempts at once, of receivers that answer soon, and of those that fail or take long. */
export interface RoomSizes {
  readonly quick: number;
  readonly slow: number;
}

/** A place for one attempt after the other. */
export interface Place {
  /** Goes over to the slow ones, unless those are full. */
  becomeSlow(): void;
  isSlow(): boolean;
  leave(): void;
}

/**
 * Places for attempts. One that takes long gives its place among the quick ones back while it goes on, so that receivers
 * which hang take places from their like alone.
 */
export function createRooms(sizes: RoomSizes) {
  const taken = { quick: 0, slow: 0 };
  return {
    free: (room: keyof RoomSizes) => sizes[room] - taken[room],
    enter: (first: keyof RoomSizes): Place => {
      let room: keyof RoomSizes | undefined = first;
      taken[first] += 1;
      return {
        becomeSlow: () => {
          if (room !== 'quick' || taken.slow >= sizes.slow) return;
          taken.quick -= 1;
          taken.slow += 1;
          room = 'slow';
        },
        isSlow: () => room === 'slow',
        leave: () => {
          if (room !== undefined) taken[room] -= 1;
          room = undefined;
        },
      };
    },
  };
}
