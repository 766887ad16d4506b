import { createMeter } from '@orrery/service-kit';
import type { Homes } from './homes.js';

type Known = Pick<Homes, 'id' | 'all' | 'nameOf' | 'partitionsOf' | 'isServed'>;

/** What metrics tell of the databases in which partitions live. `owned` is what was last read of this process's own one. */
export function createHomeSignals(homes: Known) {
  let owned: ReadonlySet<number> | undefined;
  const meter = createMeter('runtime');
  const home = meter.createObservableGauge('orrery_runtime_home', {
    description: 'The database of this process, by its name in the directory',
  });
  const withoutOwner = meter.createObservableGauge('orrery_runtime_partitions_without_owner', {
    description: 'Partitions of a database that no process owns, as far as this process knows',
  });
  const tellHome = (result: { observe(value: number, labels: { home: string }): void }) =>
    result.observe(1, { home: homes.nameOf(homes.id) });
  const tellWithoutOwner: typeof tellHome = (result) => {
    for (const id of homes.all()) {
      const count = id === homes.id ? countHere(homes, owned) : countElsewhere(homes, id);
      if (count !== undefined) result.observe(count, { home: homes.nameOf(id) });
    }
  };
  home.addCallback(tellHome);
  withoutOwner.addCallback(tellWithoutOwner);
  return {
    /** The partitions that some process owns now, among those of this process's database. */
    onBalance: (now: ReadonlySet<number>): void => {
      owned = now;
    },
    stop: (): void => {
      home.removeCallback(tellHome);
      withoutOwner.removeCallback(tellWithoutOwner);
    },
  };
}

const countHere = ({ id, partitionsOf }: Known, owned: ReadonlySet<number> | undefined): number | undefined =>
  owned && partitionsOf(id).filter((partition) => !owned.has(partition)).length;

/** Who owns them is seen there; from here, whether any process of that database lives. */
const countElsewhere = ({ isServed, partitionsOf }: Known, id: string): number =>
  isServed(id) ? 0 : partitionsOf(id).length;
