import { defineConfig } from 'vitest/config';
import { INCLUDED, LEFT_OUT } from './e2e/src/starting/of-one-shape.js';
import LongestFirst from './packages/testing/src/run/longest-first.js';

/** Workspace packages resolve to their TypeScript source, so tests never see a stale build. */
const conditions = ['@orrery/source', 'node'];
/**
 * Files of one worker share its modules: to import them anew for each file took a third of the run. Modules hold
 * no state that changes, so no file sees what another did; the order of files is nobody's promise.
 */
const isolate = false;
const project = (name: string, include: string[], extra: Record<string, unknown> = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // In which Vitest runs a project's `globalSetup`.
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    name,
    include,
    environment: 'node' as const,
    isolate,
    // What a test waits for may take long on a busy machine. Only a test that fails waits so long.
    setupFiles: ['packages/testing/src/run/patient-waits.ts'],
    expect: { poll: { timeout: 120_000 } },
    ...extra,
  },
});
const backed = {
  globalSetup: ['packages/testing/src/run/global-setup.ts'],
  // The longest take 6 s; a busy machine is twenty times slower, and a single wait may take two minutes.
  testTimeout: 300_000,
  hookTimeout: 240_000,
};

/**
 * Extended suites that kill processes and cut off servers, again and again, or bound processor time. What they meet, and how
 * long they take, depends on the machine: `npm run test:release` has them, a landing has not.
 */
const FAULTS = [
  'e2e/tests/{ai-kills,chaos,cluster,console/live,database-failover,database-outage,full-disk,move-kills,payment-kills,schedule-faults,sdk-restart,slow-clients}.ext.test.ts',
  'services/chain-pusher/tests/chaos.ext.test.ts',
  'services/runtime/tests/{payment-faults,execution-limits}.ext.test.ts',
  'packages/expressions/tests/work-limits.ext.test.ts',
];
/**
 * Extended suites that take minutes where two cores are slow, half of the time of all of them, and find what seldom breaks: a
 * landing leaves them to a release, too.
 */
const LONG = [
  'e2e/tests/{tamperings,world-model,docs-site,bad-start,console/robust,console/worlds}.ext.test.ts',
];
const patient = { ...backed, testTimeout: 700_000, hookTimeout: 240_000 };

/** `unit` is pure; `int` needs real servers; `e2e` needs a build; `extended` and `long` are what is too long for every day, and so is `timed`. */
export default defineConfig({
  test: {
    // Most suites wait for processes and servers: more workers than the two cores of a small machine.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './packages/testing/src/run/closing-line.ts'],
    projects: [
      // None waits for anything; the longest compute for a second, a busy machine is ten times slower.
      project('unit', ['{packages,services,apps}/*/src/**/*.test.ts'], { testTimeout: 60_000 }),
      project('int', ['{packages,services,apps}/*/tests/**/*.int.test.ts'], backed),
      // The long ones take 35 s; a busy machine is twenty times slower.
      project('e2e', INCLUDED, { ...patient, exclude: LEFT_OUT }),
      project(
        'extended',
        ['{packages,services,apps}/*/tests/**/*.ext.test.ts', 'e2e/tests/**/*.ext.test.ts'],
        { ...patient, exclude: [...FAULTS, ...LONG] },
      ),
      project('long', LONG, patient),
      project('faults', FAULTS, patient),
      // What it measures would measure its neighbours: run alone, by one worker.
      project(
        'timed',
        ['{packages,services,apps}/*/tests/**/*.timed.test.ts', 'e2e/tests/**/*.timed.test.ts'],
        { ...backed, isolate: true, testTimeout: 300_000 },
      ),
      // On request: `npm run test:rolling-restart`, `npm run test:patroni`, `npm run test:console-large`.
      project('fleet', ['e2e/tests/**/*.fleet.test.ts'], { ...backed, isolate: true, testTimeout: 300_000 }),
      // None waits for anything but programs; a busy machine is fifty times slower.
      project('boundaries', ['e2e/boundaries/**/*.test.ts'], { testTimeout: 300_000 }),
    ],
  },
});
