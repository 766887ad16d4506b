/** Counts the items of each partition that are on their way. */
export function createCensus() {
  const counts = new Map<number, number>();
  let waiting: { partitions: readonly number[]; resolve: () => void }[] = [];
  const isEmpty = (partitions: readonly number[]) => partitions.every((one) => !counts.get(one));
  return {
    enter: (partition: number): void => void counts.set(partition, (counts.get(partition) ?? 0) + 1),
    leave: (partition: number) => {
      counts.set(partition, (counts.get(partition) ?? 1) - 1);
      for (const { resolve } of waiting.filter(({ partitions }) => isEmpty(partitions))) resolve();
      waiting = waiting.filter(({ partitions }) => !isEmpty(partitions));
    },
    none: (partitions: readonly number[]) =>
      new Promise<void>((resolve) => {
        if (isEmpty(partitions)) resolve();
        else waiting.push({ partitions, resolve });
      }),
  };
}
