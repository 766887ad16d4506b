import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createMeter } from './instruments.js';

const NANOSECONDS = 1e9;

/** Gauges of the process itself: how late its event loop runs, and what memory it holds. */
export function startProcessSignals(): Disposable {
  const meter = createMeter('process');
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  meter
    .createObservableGauge('orrery_event_loop_delay_p99', {
      unit: 's',
      description: 'since the last reading',
    })
    .addCallback((result) => {
      result.observe(delay.percentile(99) / NANOSECONDS);
      delay.reset();
    });
  meter
    .createObservableGauge('orrery_resident_memory', { unit: 'By' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  return { [Symbol.dispose]: () => void delay.disable() };
}
