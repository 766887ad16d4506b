import {
  createMeter,
  createTracer,
  forTraces,
  isTraced,
  type Meter,
  type ObservableGauge,
} from '@orrery/service-kit';
import type { ChainCheck } from '../core/chains/chain-port.js';
import type { Backlog } from '../store/lanes/lane-store.js';

/** What the chain-pusher measures, per chain. */
export type ChainSignals = ReturnType<typeof chainSignals>;

export function chainSignals() {
  const meter = createMeter('chain-pusher');
  const gauge = (name: string, description: string) =>
    meter.createGauge(`orrery_chain_${name}`, { description });
  const count = (name: string, description: string) =>
    meter.createCounter(`orrery_chain_${name}`, { description });
  const waiting = gauge('backlog', 'Pushes that wait');
  const age = gauge('oldest_seconds', 'Age of the oldest push that waits');
  const stopped = gauge('stopped_lanes', 'Lanes that a failed push or a chain that is ahead has stopped');
  const sent = count('transactions', 'Transactions sent, by what the node said');
  const included = count('pushes', 'Pushes that reached a depth of the chain');
  const reorganized = count('reorganizations', 'Attempts whose block the chain took back');
  const capped = count('fee_capped', 'Times that the highest allowed fee was too low');
  const tracer = isTraced() ? createTracer('chain-pusher') : undefined;
  return {
    /** Does work for the traces that `load` gives; where no SDK would collect spans, nothing is loaded. */
    traced: async <T>(
      name: string,
      load: () => Promise<readonly string[]>,
      work: () => Promise<T>,
    ): Promise<T> => (tracer === undefined ? work() : forTraces(tracer, name, await load(), {}, work)),
    ...foundSignals(meter),
    sent: (chain: string, outcome: string) => sent.add(1, { chain, outcome }),
    included: (chain: string, depth: string, pushes: number) => included.add(pushes, { chain, depth }),
    reorganized: (chain: string) => reorganized.add(1, { chain }),
    /** Nothing was sent, or replaced, since it would cost more than the operator allows. */
    feeCapped: (chain: string) => capped.add(1, { chain }),
    backlog: (chain: string, found: Backlog) => {
      waiting.record(found.pushes, { chain });
      age.record(found.seconds, { chain });
      stopped.record(found.stopped, { chain });
    },
  };
}

/** What a process has found a chain to be; undefined unless it sends to it. */
type FoundOf = () => ChainCheck | undefined;

/** Gauges of the chains that this process sends to. Of others it tells nothing: what it found once would hide what is. */
function foundSignals(meter: Meter) {
  const chains = new Map<string, FoundOf>();
  const gauge = (name: string, description: string, read: (found: ChainCheck) => number | null) => {
    const created = meter.createObservableGauge(`orrery_chain_${name}`, { description });
    const tell: Parameters<ObservableGauge['addCallback']>[0] = (result) => {
      for (const [chain, foundOf] of chains) {
        const found = foundOf();
        const value = found && read(found);
        if (typeof value === 'number') result.observe(value, { chain });
      }
    };
    created.addCallback(tell);
    return () => created.removeCallback(tell);
  };
  const ends = [
    gauge('available', '1 while pushes can be sent to the chain, else 0', (found) =>
      Number(found.reason === null),
    ),
    gauge('balance', "Balance of the signer's account, in the chain's own unit", (found) => found.balance),
  ];
  return {
    watch: (chain: string, foundOf: FoundOf) => void chains.set(chain, foundOf),
    stop: () => {
      for (const end of ends) end();
    },
  };
}
